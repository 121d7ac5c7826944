# SPDX-License-Identifier: Apache-2.0
"""Changes single fields of a store and makes all checksums above them right again, so that a bad store has exactly the
defect that it is named for. It parses nothing but the places of fields, and shares no code with reader or writer."""

import hashlib
import os
import struct

import xxhash

KIB64 = 1 << 16


def h64(data):
    return xxhash.xxh3_64_intdigest(bytes(data))


def h128(data):
    return xxhash.xxh3_128_intdigest(bytes(data)).to_bytes(16, "little")


def sha256(data):
    return hashlib.sha256(bytes(data)).digest()


def sum1(data):
    return struct.pack("<Q", h64(data))


# By version: header bytes, bytes of the header's own hash, where the root checksums begin, the sum of CHECKSUMS, bytes
# of its items, of an entry, of an item of BLOCKS.
LAYOUTS = {
    1: (8192, 16, 4096, sum1, 8, 96, 16),
    2: (65_536, 32, 1024, sha256, 32, 128, 48),
}

HEADER = {
    "magic": (0, "8s"),
    "version": (8, "I"),
    "header bytes": (12, "I"),
    "file bytes": (16, "Q"),
    "generation": (24, "Q"),
    "entry count": (32, "Q"),
    "shard count": (40, "I"),
    "block bytes": (44, "I"),
    "section count": (48, "I"),
    "reserved": (52, "I"),
    "file count": (56, "Q"),
    "directory count": (64, "Q"),
    "symlink count": (72, "Q"),
    "image count": (80, "Q"),
    "tree bytes": (88, "Q"),
    "record bytes": (96, "Q"),
    "reserved 104": (104, "24s"),
}
SECTION = {
    "id": (0, "I"),
    "version": (4, "H"),
    "flags": (6, "H"),
    "offset": (8, "Q"),
    "bytes": (16, "Q"),
    "item bytes": (24, "I"),
    "reserved": (28, "I"),
}
ENTRY = {
    "name offset": (0, "Q"),
    "name bytes": (8, "H"),
    "reserved": (10, "H"),
    "mode": (12, "I"),
    "seconds": (16, "q"),
    "nanoseconds": (24, "I"),
    "shard": (28, "I"),
    "size": (32, "Q"),
    "offset": (40, "Q"),
    "hash": (48, "16s"),
    "parent": (64, "Q"),
    "first block": (72, "Q"),
    "width": (80, "I"),
    "height": (84, "I"),
    "exif bytes": (88, "I"),
    "image kind": (92, "B"),
    "channels": (93, "B"),
    "orientation": (94, "B"),
    "bit depth": (95, "B"),
    "digest": (96, "32s"),  # of version 2
}
SHARD = {
    "kind": (0, "H"),
    "locator kind": (2, "H"),
    "locator bytes": (4, "I"),
    "locator offset": (8, "Q"),
    "file bytes": (16, "Q"),
    "seconds": (24, "q"),
    "nanoseconds": (32, "I"),
    "reserved": (36, "I"),
    "generation": (40, "Q"),
    "reserved 48": (48, "16s"),
}
SHARD_HEADER = {
    "magic": (0, "8s"),
    "version": (8, "I"),
    "number": (12, "I"),
    "generation": (16, "Q"),
    "base generation": (24, "Q"),
    "reserved": (32, "24s"),
    "checksum": (56, "Q"),
}
TRAILER = {
    "magic": (0, "8s"),
    "version": (8, "I"),
    "number": (12, "I"),
    "generation": (16, "Q"),
    "catalogue offset": (24, "Q"),
    "catalogue bytes": (32, "Q"),
    "item count": (40, "Q"),
    "catalogue checksum": (48, "Q"),
    "checksum": (56, "Q"),
}
FRAME = {
    "magic": (0, "4s"),
    "payload bytes": (4, "I"),
    "item count": (8, "I"),
    "reserved": (12, "I"),
    "checksum": (16, "Q"),
}
ITEM = {
    "item bytes": (0, "I"),
    "path bytes": (4, "I"),
    "target bytes": (8, "I"),
    "block count": (12, "I"),
    "mode": (16, "I"),
    "nanoseconds": (20, "I"),
    "size": (32, "Q"),
    "shard": (40, "I"),
    "reserved": (44, "I"),
    "offset": (48, "Q"),
    "hash": (56, "16s"),
    "image kind": (84, "B"),
    "digest": (88, "32s"),  # of version 2
}


class Record:
    """One structure at `at` in `data`: fields by their name in FORMAT.md."""

    def __init__(self, data, at, fields):
        self._data, self._at, self._fields = data, at, fields

    def __getitem__(self, name):
        offset, kind = self._fields[name]
        return struct.unpack_from("<" + kind, self._data, self._at + offset)[0]

    def __setitem__(self, name, value):
        offset, kind = self._fields[name]
        struct.pack_into("<" + kind, self._data, self._at + offset, value)

    def flip(self, offset):
        """Flips a bit of the byte at `offset` from the start of the structure."""
        self._data[self._at + offset] ^= 1


class Index:
    """The newest index of a store and its manifest. `save` seals what is not named in `unsealed`."""

    def __init__(self, store):
        self.store = store
        with open(os.path.join(store, "manifest"), "rb") as file:
            self.lines = file.read().decode().splitlines()[:-1]  # without the checksum
        self.name = self.value("index")
        with open(os.path.join(store, self.name), "rb") as file:
            self.data = bytearray(file.read())
        self.version = Record(self.data, 0, HEADER)["version"]
        header_bytes, hash_bytes, self.roots_at, self.sum, self.sum_bytes, self.entry_bytes, self.block_bytes = LAYOUTS[
            self.version
        ]
        self.header_end = header_bytes
        self.hash_at = header_bytes - hash_bytes
        roots = {"first root": (self.roots_at, "Q"), "last root": (self.hash_at - self.sum_bytes, "Q")}
        self.header = Record(self.data, 0, HEADER | roots)
        self.checksums_at = self.section(5)["offset"]
        self.entries_at = self.section(1)["offset"]
        self.shards_at = self.section(3)["offset"]
        self.generation = self.header["generation"]
        self.unsealed = set()  # of "blocks", "roots", "header", "index-id", "index-bytes", "manifest"

    # --- places

    def value(self, key):
        return next(line.split(" ", 1)[1] for line in self.lines if line.startswith(key + " "))

    def set_line(self, key, line):
        """Replaces the line of `key`; None removes it."""
        at = next(i for i, text in enumerate(self.lines) if text.startswith(key + " "))
        self.lines[at : at + 1] = [] if line is None else [line]

    def section(self, id_):
        for i in range(16):
            record = Record(self.data, 128 + 32 * i, SECTION)
            if record["id"] == id_:
                return record
        raise KeyError(id_)

    def section_item(self, i):
        return Record(self.data, 128 + 32 * i, SECTION)

    def number(self, path):
        """The entry number of `path`."""
        number = 0
        for part in path.split(b"/") if path else ():
            directory = self.entry_number(number)
            children = range(directory["offset"], directory["offset"] + directory["size"])
            number = next(n for n in children if self.name_of(n) == part)
        return number

    def name_of(self, number):
        entry = self.entry_number(number)
        at = self.section(2)["offset"] + entry["name offset"]
        return bytes(self.data[at : at + entry["name bytes"]])

    def entry_number(self, number):
        return Record(self.data, self.entries_at + self.entry_bytes * number, ENTRY)

    def entry(self, path):
        return self.entry_number(self.number(path))

    def shard(self, number):
        return Record(self.data, self.shards_at + 64 * number, SHARD)

    # --- larger changes

    def append_names(self, text):
        """Adds bytes to NAMES, which moves to new blocks at the end of the body; returns their offset in NAMES."""
        names = self.section(2)
        old = self.data[names["offset"] : names["offset"] + names["bytes"]]
        new = old + text
        blocks = -(-len(new) // KIB64)
        at = self.checksums_at
        self.data[at:] = new + bytes(blocks * KIB64 - len(new)) + self.data[at:] + bytes(self.sum_bytes * blocks)
        names["offset"], names["bytes"] = at, len(new)
        self.checksums_at = at + blocks * KIB64
        self.section(5)["offset"] = self.checksums_at
        self.section(5)["bytes"] = len(self.data) - self.checksums_at
        self.header["file bytes"] = len(self.data)
        return len(old)

    # --- saving

    def id_of(self, data):
        """The index-id of an index of this version with these bytes."""
        if self.version == 1:
            return xxhash.xxh3_128_hexdigest(bytes(data[: self.header_end]))
        return sha256(data[: self.hash_at]).hex()

    def seal(self):
        if "blocks" not in self.unsealed:
            blocks = range(KIB64, self.checksums_at, KIB64)
            for i, start in enumerate(blocks):
                if self.sum_bytes * (i + 1) <= len(self.data) - self.checksums_at:
                    at = self.checksums_at + self.sum_bytes * i
                    self.data[at : at + self.sum_bytes] = self.sum(self.data[start : start + KIB64])
        if "roots" not in self.unsealed:
            sums = self.data[self.checksums_at :]
            for i, start in enumerate(range(0, len(sums), KIB64)):
                at = self.roots_at + self.sum_bytes * i
                self.data[at : at + self.sum_bytes] = self.sum(sums[start : start + KIB64])

    def save(self):
        if "body" not in self.unsealed:
            self.seal()
        if "header" not in self.unsealed:
            hashed = self.data[: self.hash_at]
            self.data[self.hash_at : self.header_end] = h128(hashed) if self.version == 1 else sha256(hashed)
        keys = {line.split(" ")[0] for line in self.lines}
        if "index-id" not in self.unsealed and "index-id" in keys:
            self.set_line("index-id", "index-id " + self.id_of(self.data))
        if "index-bytes" not in self.unsealed and "index-bytes" in keys:
            self.set_line("index-bytes", f"index-bytes {len(self.data)}")
        with open(os.path.join(self.store, self.name), "wb") as file:
            file.write(self.data)
        if "manifest" not in self.unsealed:
            self.save_manifest("".join(line + "\n" for line in self.lines).encode())

    def save_manifest(self, body, tail=b""):
        with open(os.path.join(self.store, "manifest"), "wb") as file:
            file.write(body + f"checksum {h64(body):016x}\n".encode() + tail)


class OwnShard:
    """A complete own shard file. `save` seals what is not named in `unsealed`; the index is not told of a new size."""

    def __init__(self, store, name):
        self.path = os.path.join(store, name)
        with open(self.path, "rb") as file:
            self.data = bytearray(file.read())
        self.header = Record(self.data, 0, SHARD_HEADER)
        self.item_head = 88 if self.header["version"] == 1 else 120  # bytes of an item before its path
        self.trailer = Record(self.data, len(self.data) - 64, TRAILER)
        self.catalogue_at = self.trailer["catalogue offset"]
        self.catalogue_end = len(self.data) - 64
        self.first_frame = Record(self.data, self.catalogue_at, FRAME)
        self.first_item = Record(self.data, self.catalogue_at + 24, ITEM)
        self.unsealed = set()  # of "header", "frame", "catalogue", "trailer"

    def item(self, path):
        """The catalogue item of `path`, which must be in the first frame."""
        at = self.catalogue_at + 24
        while at < self.catalogue_at + 24 + self.first_frame["payload bytes"]:
            item = Record(self.data, at, ITEM)
            start = at + self.item_head
            if self.data[start : start + item["path bytes"]] == path:
                return item
            at += item["item bytes"]
        raise KeyError(path)

    def save(self):
        if "frame" not in self.unsealed:
            start = self.catalogue_at + 24
            self.first_frame["checksum"] = h64(self.data[start : start + self.first_frame["payload bytes"]])
        if "catalogue" not in self.unsealed:
            self.trailer["catalogue checksum"] = h64(self.data[self.catalogue_at : self.catalogue_end])
        if "trailer" not in self.unsealed:
            self.trailer["checksum"] = h64(self.data[-64:-8])
        if "header" not in self.unsealed:
            self.header["checksum"] = h64(self.data[:56])
        with open(self.path, "wb") as file:
            file.write(self.data)
