# SPDX-License-Identifier: Apache-2.0
"""Other bytes with the XXH3-128 of given ones.

XXH3 adds up eight numbers of 64 bits over 16 stripes of a block of 1,024 bytes. With w = word ^ secret, a word adds itself to its neighbour's
number, and the product of the halves of w to its own. A word whose w has a lower half of 0 adds no product and can be any multiple of 2^32
beside a constant; one whose w has an upper half of 0, any number below 2^32. Two stripes of such words give each of the eight numbers any
value: 128 bytes of a block are enough to continue one text as if it were another."""

import ctypes
import struct

import xxhash

BLOCK = 1024
STRIPE = 64
LANES = 8
MASK = 2**64 - 1
PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
START = (PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4], PRIME32[0])


def default_secret():
    """192 bytes: those that seed 0 changes nothing of."""
    secret = ctypes.create_string_buffer(192)
    generate = ctypes.CDLL("libxxhash.so.0").XXH3_generateSecret_fromSeed
    generate.argtypes = (ctypes.c_void_p, ctypes.c_uint64)
    generate.restype = None
    generate(secret, 0)
    return secret.raw


SECRET = default_secret()


def words(data, offset):
    return struct.unpack_from(f"<{LANES}Q", data, offset)


def add_stripe(sums, data, offset, stripe):
    for lane, (word, key) in enumerate(zip(words(data, offset), words(SECRET, 8 * stripe), strict=True)):
        mixed = word ^ key
        sums[lane ^ 1] = (sums[lane ^ 1] + word) & MASK
        sums[lane] = (sums[lane] + (mixed & 0xFFFFFFFF) * (mixed >> 32)) & MASK


def scramble(sums):
    for lane, key in enumerate(words(SECRET, len(SECRET) - STRIPE)):
        sums[lane] = ((sums[lane] ^ (sums[lane] >> 47)) ^ key) * PRIME32[0] & MASK


def sums_before(data, block, stripe):
    """The eight numbers before a stripe of a block."""
    sums = list(START)
    stripes = BLOCK // STRIPE
    for at in range(block * stripes + stripe):
        add_stripe(sums, data, at * STRIPE, at % stripes)
        if at % stripes == stripes - 1:
            scramble(sums)
    return sums


def forge(honest, other):
    """`other` with 128 of its bytes changed so that it has the hash of `honest`. REQUIRES: both have the same number of bytes; behind the
    bytes that matter, each has two blocks and more of bytes that do not."""
    assert len(honest) == len(other) and len(honest) > 4 * BLOCK
    block = (len(honest) - 1) // BLOCK - 1  # the last whole one; what comes after it is the same
    end = (block + 1) * BLOCK
    assert honest[end:] == other[end:]
    stripes = BLOCK // STRIPE
    wanted = sums_before(honest, block, stripes - 1)
    add_stripe(wanted, honest, end - STRIPE, stripes - 1)
    found = sums_before(other, block, stripes - 2)
    keys = (words(SECRET, 8 * (stripes - 2)), words(SECRET, 8 * (stripes - 1)))
    new = ([], [])
    for lane in range(LANES):
        missing = (wanted[lane ^ 1] - found[lane ^ 1]) & MASK
        first_low = keys[0][lane] & 0xFFFFFFFF
        second_high = keys[1][lane] >> 32 << 32
        second_low = (missing - first_low) & 0xFFFFFFFF
        first_high = (missing - first_low - second_low - second_high) & MASK
        new[0].append(first_high | first_low)
        new[1].append(second_high | second_low)
    forged = other[:end - 2 * STRIPE] + struct.pack("<16Q", *new[0], *new[1]) + other[end:]
    assert xxhash.xxh3_128_digest(forged) == xxhash.xxh3_128_digest(honest) and forged != honest
    return forged
