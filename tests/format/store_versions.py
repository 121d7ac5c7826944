# SPDX-License-Identifier: Apache-2.0
"""How the versions of the format lay out what each has in a way of its own, for make_store.py."""

import hashlib
import struct

import xxhash
from store_content import File

MIB = 1 << 20


def h64(data):
    return xxhash.xxh3_64_intdigest(data)


def h128(data):
    value = xxhash.xxh3_128_intdigest(data)
    return struct.pack("<QQ", value & (2**64 - 1), value >> 64)


def sha256(data):
    return hashlib.sha256(data).digest()


def in_blocks(data):
    return [data[i : i + MIB] for i in range(0, len(data), MIB)] if len(data) > MIB else []


def digest(data):
    blocks = in_blocks(data)
    return sha256(b"AUGURREC" + b"".join(map(sha256, blocks))) if blocks else sha256(data)


class Version1:
    """How version 1 lays out what the versions have in different ways."""

    number = 1
    header_bytes, roots_at, root_bytes = 8192, 4096, 4080
    entry_bytes, block_bytes, sum_bytes = 96, 16, 8

    @staticmethod
    def sum(data):
        return struct.pack("<Q", h64(data))

    @staticmethod
    def header_hash(data):
        return h128(data)

    @staticmethod
    def index_id(header):
        return xxhash.xxh3_128_hexdigest(header)

    @staticmethod
    def block(data):
        return h128(data)

    @staticmethod
    def digest(node):
        return b""


class Version2:
    number = 2
    header_bytes, roots_at, root_bytes = 65_536, 1024, 64_480
    entry_bytes, block_bytes, sum_bytes = 128, 48, 32
    sum = staticmethod(sha256)
    header_hash = staticmethod(sha256)

    @staticmethod
    def index_id(header):
        return header[-32:].hex()

    @staticmethod
    def block(data):
        return h128(data) + sha256(data)

    @staticmethod
    def digest(node):
        return digest(node.data) if isinstance(node, File) else bytes(32)


VERSIONS = {1: Version1, 2: Version2}
