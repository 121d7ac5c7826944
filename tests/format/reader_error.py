# SPDX-License-Identifier: Apache-2.0
"""How the second reader refuses, and the hashes of the format."""

import hashlib
import os

import xxhash


class StoreError(Exception):
    """A store that must be refused. `defect` is a short name of the broken rule; the text names the file first."""

    def __init__(self, defect, text, error=0):
        super().__init__(text)
        self.defect = defect
        self.error = error  # the errno behind it, or 0


def refuse_if(condition, defect, text):
    if condition:
        raise StoreError(defect, text)


def xxh3_64(data):
    return xxhash.xxh3_64_intdigest(data)


def xxh3_128(data):
    """The 16 bytes as the store has them: the low 64 bits, then the high 64 bits, each little-endian."""
    return xxhash.xxh3_128_intdigest(data).to_bytes(16, "little")


def sha256(data):
    return hashlib.sha256(data).digest()


def record_digest(data, block_bytes):
    """The digest of a record: of its bytes, or of the digests of its blocks when it has more than one."""
    if len(data) <= block_bytes:
        return sha256(data)
    blocks = (sha256(data[i : i + block_bytes]) for i in range(0, len(data), block_bytes))
    return sha256(b"AUGURREC" + b"".join(blocks))


HASH_OF_NOTHING = xxh3_128(b"")
DIGEST_OF_NOTHING = sha256(b"")
NO_DIGEST = bytes(32)


def show(raw):
    """A name for an error text or a listing; any bytes."""
    return os.fsdecode(raw).encode("unicode_escape", "surrogateescape").decode("ascii", "backslashreplace")
