# SPDX-License-Identifier: Apache-2.0
"""The second reader of the AugurFS store: written from src/store/FORMAT.md alone, to prove that the text suffices.

It favours plainness over speed and refuses whatever the page says a reader must refuse, with a StoreError that names
the file and the defect. Not for mounting, and not for more than one thread.

    python tests/format/reader.py check STORE        every byte and every rule; exit status 1 when refused
    python tests/format/reader.py ls STORE           one line for each entry, in path order
    python tests/format/reader.py cat STORE PATH     the bytes of one file
"""

import dataclasses
import errno
import os
import re
import stat
import sys

from reader_catalogue import parse_shard_header, pread_all, read_catalogue
from reader_entry import NO_IMAGE, OWN
from reader_error import StoreError, record_digest, refuse_if, sha256, show, xxh3_128
from reader_header import BLOCK_BYTES
from reader_manifest import read_manifest
from reader_store import Store

__all__ = ["NO_IMAGE", "Report", "Rebuilt", "Store", "StoreError", "full_check", "rebuild"]


@dataclasses.dataclass
class Report:
    entries: int
    files: int
    records: int
    record_bytes: int
    catalogue_items: int
    warnings: list


def same_blocks(one, other):
    """Whether two lists of items of BLOCKS are alike in what both have: an item of version 1 has no SHA-256."""
    return len(one) == len(other) and all(a.startswith(b) or b.startswith(a) for a, b in zip(one, other))


def check_catalogue(store, number, records):
    """Checks the catalogue of shard `number`, when it is an own one, against `records` of the index: its entries by
    (shard, offset, size). Returns how many items it has."""
    shard = store.shard(number)
    if shard.kind != OWN:
        return 0
    catalogue = read_catalogue(shard.fd, shard.name, shard.header)
    for (where, offset, size), entries in records.items():
        refuse_if(
            where == number and offset + size > catalogue.offset,
            "record_in_catalogue",
            f"{shard.name}: record of entry {entries[0].number} does not end before the catalogue",
        )
    named = set()
    for item in catalogue.items:
        if item.size == 0:
            continue
        where = f"{shard.name}: catalogue item {show(item.path)!r}"
        refuse_if(
            item.shard >= store.header.shard_count, "item_shard", f"{where}: shard {item.shard} is not in the table"
        )
        there = store.shard(item.shard)
        refuse_if(
            item.offset < there.first_byte or item.offset + item.size > there.bytes,
            "item_range",
            f"{where}: offset {item.offset} and size {item.size} leave {there.name}",
        )
        refuse_if(
            item.shard == number and item.offset + item.size > catalogue.offset,
            "record_in_catalogue",
            f"{where}: its record does not end before the catalogue",
        )
        record = (item.shard, item.offset, item.size)
        named.add(record)
        for entry in records.get(record, ()):
            refuse_if(
                entry.hash != item.hash
                or (entry.digest and item.digest and entry.digest != item.digest)
                or not same_blocks(store.blocks(entry), item.blocks),
                "item_hash",
                f"{where}: another hash than entry {entry.number} of the index",
            )
    for record, entries in records.items():
        refuse_if(
            record[0] == number and record not in named,
            "record_not_in_catalogue",
            f"{shard.name}: record of entry {entries[0].number} is not in the catalogue",
        )
    return len(catalogue.items)


def check_base(name, header, bases):
    """`bases` has the base generation of each generation that was met; refuses another in the same generation."""
    base = bases.setdefault(header.generation, header.base_generation)
    refuse_if(
        base != header.base_generation,
        "shard_base_differs",
        f"{name}: base generation {header.base_generation}: another shard of the same generation says {base}",
    )


def check_record(store, entry):
    """Both hashes of the whole record and of each of its blocks."""
    where = f"{store.shard(entry.shard).name}: record of entry {entry.number}"
    data = store.read(entry)
    refuse_if(xxh3_128(data) != entry.hash, "record_hash", f"{where}: whole record: checksum mismatch")
    if store.header.version == 1:
        return
    for i, item in enumerate(store.blocks(entry)):
        block = data[i * BLOCK_BYTES : (i + 1) * BLOCK_BYTES]
        refuse_if(sha256(block) != item[16:], "record_block_hash", f"{where}: block {i}: checksum mismatch (SHA-256)")
    refuse_if(
        record_digest(data, BLOCK_BYTES) != entry.digest,
        "record_digest",
        f"{where}: whole record: checksum mismatch (SHA-256)",
    )


def shards_there(store, used):
    """The numbers of the store's shards, without those that are gone and of which no entry has a record."""
    numbers = []
    for number in range(store.header.shard_count):
        try:
            store.shard(number)
        except StoreError as error:
            if error.defect != "shard_missing" or error.error != errno.ENOENT or number in used:
                raise
        else:
            numbers.append(number)
    return numbers


def full_check(path):
    """Checks every byte and every rule; returns a Report or raises StoreError."""
    with Store(path) as store:
        store.check_all_blocks()
        files = directories = symlinks = images = tree_bytes = 0
        records = {}
        path_bytes = []  # of the entries so far; parents come before their children
        for number in range(store.header.entry_count):
            entry = store.entry(number)
            above = path_bytes[entry.parent] if number else 0
            path_bytes.append(above + (above > 0) + len(entry.name))
            refuse_if(
                path_bytes[number] > 4095,
                "path_too_long",
                f"{store.manifest.index}: entry {number}: its path has {path_bytes[number]} bytes: over 4095",
            )
            if number:
                parent = store.entry(entry.parent)
                refuse_if(
                    not parent.offset <= number < parent.offset + parent.size,
                    "entry_orphan",
                    f"{store.manifest.index}: entry {number}: not among the children of its parent {entry.parent}",
                )
            if entry.is_directory:
                directories += 1
                store.listed(entry)
            elif entry.is_symlink:
                symlinks += 1
            else:
                files += 1
                images += entry.image.kind != 0
                tree_bytes += entry.size
                if entry.size:
                    records.setdefault((entry.shard, entry.offset, entry.size), []).append(entry)
        refuse_if(
            store.has_listing and store.listing_item(0) != (0, 0),
            "listing_root",
            f"{store.manifest.index}: entry 0: the root has a place in a listing",
        )
        record_bytes = sum(size for _, _, size in records)
        for title, stated, counted in (
            ("file count", store.header.file_count, files),
            ("directory count", store.header.directory_count, directories),
            ("symlink count", store.header.symlink_count, symlinks),
            ("image count", store.header.image_count, images),
            ("tree bytes", store.header.tree_bytes, tree_bytes),
            ("record bytes", store.header.record_bytes, record_bytes),
        ):
            refuse_if(
                stated != counted,
                "header_totals",
                f"{store.manifest.index}: {title} {stated}: the entries have {counted}",
            )

        for sharing in records.values():
            for entry in {(e.hash, e.digest, e.first_block): e for e in sharing}.values():
                check_record(store, entry)
        shards = shards_there(store, {shard for shard, _, _ in records})
        bases = {}
        for number in shards:
            if store.shard(number).kind == OWN:
                check_base(store.shard(number).name, store.shard(number).header, bases)
        catalogue_items = sum(check_catalogue(store, number, records) for number in shards)
        return Report(
            store.header.entry_count, files, len(records), record_bytes, catalogue_items, list(store.warnings)
        )


SHARD_NAME = re.compile(rb"shard-([0-9]{8})-([0-9]{5,})")


class Rebuilt:
    """The tree of a store from the catalogues of its own shards alone: no index is read, and a manifest only to tell
    which generations are complete. `items` is path -> CatalogueItem. Section 7 of FORMAT.md."""

    def __init__(self, folder):
        self.folder = os.path.abspath(os.fsencode(folder))
        self.items = {}
        self._names = {}
        try:
            newest = read_manifest(self.folder).generation
        except StoreError:
            newest = None
        found = {}  # generation -> [(number, name)]
        for name in os.listdir(self.folder):
            match = SHARD_NAME.fullmatch(name)
            if match and (newest is None or int(match[1]) <= newest):
                found.setdefault(int(match[1]), []).append((int(match[2]), name))
        counting = []
        generation = max(found, default=0)
        while generation:
            if generation not in found:
                raise StoreError(
                    "shard_base_missing",
                    f"generation {generation}, to which generation {counting[-1]} was added: its shards are missing",
                )
            counting.append(generation)
            generation = self._base_of(generation, found[generation])
        for generation in reversed(counting):
            for number, name in sorted(found[generation]):
                with open(os.path.join(self.folder, name), "rb") as file:
                    header = parse_shard_header(show(name), file.read(64))
                    self._names[number] = name
                    for item in read_catalogue(file.fileno(), show(name), header).items:
                        self.items[item.path] = item

    def _base_of(self, generation, shards):
        bases = {}
        for number, name in sorted(shards):
            with open(os.path.join(self.folder, name), "rb") as file:
                header = parse_shard_header(show(name), file.read(64))
            refuse_if(
                (header.generation, header.number) != (generation, number),
                "shard_name",
                f"{show(name)}: header says generation {header.generation}, shard number {header.number}",
            )
            check_base(show(name), header, bases)
        return bases[generation]

    def read(self, item):
        """The whole record of an item that lies in an own shard, checked."""
        if item.size == 0:
            return b""
        name = self._names[item.shard]
        with open(os.path.join(self.folder, name), "rb") as file:
            data = pread_all(file.fileno(), item.size, item.offset, show(name))
        refuse_if(
            xxh3_128(data) != item.hash or (item.digest and record_digest(data, BLOCK_BYTES) != item.digest),
            "record_hash",
            f"{show(name)}: record of {show(item.path)!r}: checksum mismatch",
        )
        for i, expected in enumerate(item.blocks):
            block = data[i * BLOCK_BYTES : (i + 1) * BLOCK_BYTES]
            refuse_if(
                not (xxh3_128(block) + sha256(block)).startswith(expected),
                "record_block_hash",
                f"{show(name)}: record of {show(item.path)!r}: block {i}: checksum mismatch",
            )
        return data


def rebuild(path):
    return Rebuilt(path)


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("check", "ls", "cat"):
        print(__doc__, file=sys.stderr)
        return 2
    command, path = arguments[:2]
    try:
        if command == "check":
            report = full_check(path)
            for warning in report.warnings:
                print(f"warning: {warning}", file=sys.stderr)
            print(
                f"{report.entries} entries, {report.files} files, {report.records} records,"
                f" {report.record_bytes} bytes, {report.catalogue_items} catalogue items: good"
            )
            return 0
        with Store(path) as store:
            if command == "ls":
                for name, entry in store.walk():
                    tail = f" -> {show(store.link_target(entry))}" if entry.is_symlink else ""
                    seconds, nanoseconds = entry.mtime
                    print(
                        f"{stat.filemode(entry.mode)} {entry.size:>12} {seconds}.{nanoseconds:09} {show(name) or '.'}{tail}"
                    )
                return 0
            wanted = os.fsencode(arguments[2]) if len(arguments) > 2 else b""
            entry = store.lookup(wanted)
            if entry is None or not entry.is_file:
                print(f"reader.py: {show(wanted)}: no such regular file", file=sys.stderr)
                return 2
            for start in range(0, entry.size, BLOCK_BYTES):
                sys.stdout.buffer.write(store.read(entry, start, BLOCK_BYTES))
            return 0
    except StoreError as error:
        print(f"reader.py: {path}: {error} [{error.defect}]", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
