# SPDX-License-Identifier: Apache-2.0
"""The second reader of a store: the tree and its bytes, each checked before use."""

import errno
import fcntl
import mmap
import os
import re
import stat
import struct
import urllib.parse

from reader_catalogue import parse_shard_header, pread_all
from reader_entry import IMAGE_FORMAT, NO_IMAGE, NO_SHARD, Entry, Image, good_name, image_defect, known_type
from reader_error import (
    DIGEST_OF_NOTHING,
    HASH_OF_NOTHING,
    NO_DIGEST,
    StoreError,
    refuse_if,
    sha256,
    show,
    xxh3_128,
)
from reader_header import (
    BLOCK_BYTES,
    BLOCKS,
    CHECKSUMS,
    ENTRIES,
    LISTING,
    NAMES,
    PIECE_BYTES,
    SHARD_BYTES,
    SHARDS,
    parse_header,
)
from reader_manifest import read_manifest

OWN, FOREIGN = 1, 2
RELATIVE, ABSOLUTE, ADDRESS = 1, 2, 3


def address_defect(locator):
    """What FORMAT.md section 6 refuses of an address; None: nothing."""
    matched = re.fullmatch(rb"(s3|https|http)://([^/]*)(?:/(.*))?", locator, re.DOTALL)
    if not matched:
        return "an unknown scheme"
    scheme, place, path = matched.groups(default=b"")
    if b"@" in place:
        return "a user or a password"
    if b"?" in path:
        return "a query"
    if scheme == b"s3":
        if not re.fullmatch(rb"[a-z0-9.-]+", place):
            return "no bucket's name"
        if len(path) > 1024:
            return "a key over 1,024 bytes"
    else:
        host = re.fullmatch(rb"(?:[A-Za-z0-9._-]+|\[[A-Za-z0-9._:-]+\])(?::([0-9]+))?", place)
        if not host or host[1] and not 0 < int(host[1]) < 65_536:
            return "no host"
        if not re.fullmatch(rb"[!-~]*", path) or b"#" in path:
            return "a byte that must be encoded"
        if re.search(rb"%(?![0-9A-Fa-f]{2})|%00|%2[Ff]", path):
            return "a '%' that encodes nothing, or a '/'"
        path = urllib.parse.unquote_to_bytes(path)
    if any(part in (b"", b".", b"..") for part in path.split(b"/")):
        return "no object, or an empty part, '.' or '..'"
    return None


class Shard:
    """A shard of the table, opened and checked. Owns its descriptor."""

    def __init__(self, store, number):
        """Opens shard `number` of the store; refuses what the table and the shard's header must not have."""
        where = f"{store.manifest.index}: shard {number}"

        def check(condition, defect, text):
            refuse_if(condition, defect, f"{where}: {text}")

        check(number >= store.header.shard_count, "file_shard", "not below the shard count")
        raw = store.section_bytes(SHARDS, number * SHARD_BYTES, SHARD_BYTES)
        (
            kind,
            locator_kind,
            locator_bytes,
            locator_offset,
            file_bytes,
            seconds,
            nanoseconds,
            reserved,
            generation,
            more,
        ) = struct.unpack("<HHIQQqIIQ16s", raw)
        check(kind not in (OWN, FOREIGN), "shard_kind", f"kind {kind}: not own or foreign")
        check(
            locator_kind not in (RELATIVE, ABSOLUTE, ADDRESS),
            "shard_locator_kind",
            f"locator kind {locator_kind}: not relative, absolute or an address",
        )
        check(
            kind == OWN and locator_kind != RELATIVE,
            "shard_locator_kind",
            "locator kind of an own shard is not relative",
        )
        check(
            not 0 < locator_bytes <= 4095 or locator_offset + locator_bytes > store.header.sections[NAMES].bytes,
            "shard_locator",
            f"locator of {locator_bytes} bytes at {locator_offset}: leaves NAMES, is empty or too long",
        )
        locator = store.section_bytes(NAMES, locator_offset, locator_bytes)
        check(b"\0" in locator, "shard_locator", "NUL in the locator")
        check(kind == OWN and b"/" in locator, "shard_locator", f"'/' in the locator {show(locator)!r} of an own shard")
        defect = address_defect(locator) if locator_kind == ADDRESS else None
        check(defect is not None, "shard_locator", f"locator {show(locator)!r}: {defect}")
        check(
            locator_kind != ADDRESS and (locator_kind == ABSOLUTE) != locator.startswith(b"/"),
            "shard_locator",
            f"locator {show(locator)!r}: relative with a '/' at the beginning, or absolute without",
        )
        check(nanoseconds > 999_999_999, "shard_nanoseconds", f"token nanoseconds {nanoseconds}: over 999999999")
        check(kind == OWN and (seconds or nanoseconds), "shard_own_token", "token of an own shard is not 0")
        check(reserved or any(more), "shard_item_reserved", "reserved field is not zero")
        check(
            not 0 < generation <= store.manifest.generation,
            "shard_generation",
            f"generation {generation}: 0 or above the index's",
        )

        self.number = number
        self.kind = kind
        self.first_byte = 64 if kind == OWN else 0
        self.bytes = file_bytes
        self.name = show(locator)
        self.fd = -1
        if locator_kind == ADDRESS:
            # This reader's user has named no folder of a server.
            raise StoreError("shard_address", f"{self.name}: requests to it are not allowed")
        try:
            self.fd = os.open(os.path.join(store.folder, locator), os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise StoreError("shard_missing", f"{self.name}: {os.strerror(error.errno)}", error.errno) from None
        try:
            self._check_file(store, generation, (seconds, nanoseconds))
        except StoreError:
            self.close()
            raise

    def _check_file(self, store, generation, token):
        status = os.fstat(self.fd)
        refuse_if(not stat.S_ISREG(status.st_mode), "shard_file_bytes", f"{self.name}: not a regular file")
        refuse_if(
            status.st_size != self.bytes,
            "shard_file_bytes",
            f"{self.name}: size is {status.st_size}; the index says file bytes {self.bytes}",
        )
        if self.kind == FOREIGN:
            self.header = None
            if divmod(status.st_mtime_ns, 10**9) != token:
                store.warnings.append(f"{self.name}: another mtime than when it was adopted; the size is the same")
            return
        self.header = parse_shard_header(self.name, os.pread(self.fd, 64, 0))
        refuse_if(
            self.header.generation != generation,
            "shard_header_generation",
            f"{self.name}: generation {self.header.generation}: the shard table says {generation}",
        )
        refuse_if(
            self.header.number != self.number,
            "shard_header_number",
            f"{self.name}: header says shard number {self.header.number}: the shard table has it as {self.number}",
        )

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Store:
    """One generation of a store, open: the manifest, the header and the root entry are checked, the rest when used.

    Owns the map of the index and a descriptor for each shard that was needed; a context manager closes them.
    `warnings` collects what is odd but not refused. `root_hash`, when given, is the only one that is accepted; records
    are then checked by their SHA-256.
    """

    def __init__(self, path, root_hash=None):
        self.pinned = root_hash
        self.folder = os.path.abspath(os.fsencode(path))
        self.warnings = []
        self._shards = {}
        self._checked_pieces = set()
        self._checked_blocks = set()
        self._map = None
        self._fd = -1
        try:
            self._open()
            self.entry(0)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()
        if self._map is not None:
            self._map.close()
            self._map = None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self):
        self.manifest = read_manifest(self.folder)
        while True:
            try:
                self._fd = os.open(os.path.join(self.folder, self.manifest.index.encode()), os.O_RDONLY | os.O_CLOEXEC)
                break
            except OSError as error:
                # The manifest may name an index that a writer has just replaced and removed: look once more.
                again = read_manifest(self.folder)
                if error.errno != errno.ENOENT or again == self.manifest:
                    raise StoreError("index_missing", f"{self.manifest.index}: {os.strerror(error.errno)}") from None
                self.manifest = again
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            pass  # a file system without locks
        size = os.fstat(self._fd).st_size
        refuse_if(
            size != self.manifest.index_bytes,
            "manifest_index_bytes",
            f"{self.manifest.index}: {size} bytes; index-bytes of the manifest is {self.manifest.index_bytes}",
        )
        refuse_if(
            size < PIECE_BYTES, "index_too_short", f"{self.manifest.index}: {size} bytes: too short for a header"
        )
        self._map = mmap.mmap(self._fd, size, prot=mmap.PROT_READ)
        self.header = parse_header(self.manifest, self._map[:PIECE_BYTES], size)
        self.layout = self.header.layout
        refuse_if(
            self.pinned is not None and self.header.root_hash != self.pinned,
            "root_hash",
            f"{self.manifest.index}: root hash {self.header.root_hash.hex() or 'none (version 1)'}: not the one asked for",
        )

    # --- bytes of the index, checked before use

    def _check_piece(self, piece):
        if piece in self._checked_pieces:
            return
        section = self.header.sections[CHECKSUMS]
        start = section.offset + piece * PIECE_BYTES
        data = self._map[start : min(start + PIECE_BYTES, section.offset + section.bytes)]
        refuse_if(
            self.layout.sum(data) != self.header.roots[piece],
            "root_checksum",
            f"{self.manifest.index}: root piece {piece} of CHECKSUMS: checksum mismatch",
        )
        self._checked_pieces.add(piece)

    def _check_block(self, block):
        if block in self._checked_blocks:
            return
        step = self.layout.sum_bytes
        self._check_piece(block * step // PIECE_BYTES)
        at = self.header.sections[CHECKSUMS].offset + step * block
        expected = self._map[at : at + step]
        start = (block + 1) * PIECE_BYTES
        refuse_if(
            self.layout.sum(self._map[start : start + PIECE_BYTES]) != expected,
            "block_checksum",
            f"{self.manifest.index}: block {block}: checksum mismatch",
        )
        self._checked_blocks.add(block)

    def section_bytes(self, id_, offset, size):
        """REQUIRES: the range is within the section."""
        section = self.header.sections[id_]
        assert 0 <= offset and offset + size <= section.bytes, (id_, offset, size)
        start = section.offset + offset
        if size:
            for block in range(start // PIECE_BYTES - 1, (start + size - 1) // PIECE_BYTES):
                self._check_block(block)
        return self._map[start : start + size]

    def check_all_blocks(self):
        for block in range(self.header.sections[CHECKSUMS].bytes // self.layout.sum_bytes):
            self._check_block(block)

    # --- the tree

    def _mode(self, number):
        at = number * self.layout.item_bytes[ENTRIES] + 12
        return struct.unpack_from("<I", self.section_bytes(ENTRIES, at, 4))[0]

    def entry(self, number):
        """Entry `number`, with every rule for it checked that needs no shard file and no sibling."""
        assert 0 <= number < self.header.entry_count
        entry_bytes = self.layout.item_bytes[ENTRIES]
        raw = self.section_bytes(ENTRIES, number * entry_bytes, entry_bytes)
        (
            name_offset,
            name_bytes,
            reserved,
            mode,
            seconds,
            nanoseconds,
            shard,
            size,
            offset,
            hash_,
            parent,
            first_block,
        ) = struct.unpack_from("<QHHIqIIQQ16sQQ", raw)
        image = Image(*struct.unpack_from(IMAGE_FORMAT, raw, 80))
        digest = raw[96:]

        def check(condition, defect, text):
            refuse_if(condition, defect, f"{self.manifest.index}: entry {number}: {text}")

        check(
            not known_type(mode), "entry_type", f"mode {mode:o}: type is not directory, regular file or symbolic link"
        )
        check(nanoseconds > 999_999_999, "entry_nanoseconds", f"mtime nanoseconds {nanoseconds}: over 999999999")
        check(reserved, "entry_reserved", "reserved field is not zero")
        check(name_offset + name_bytes > self.header.sections[NAMES].bytes, "entry_name_range", "name leaves NAMES")
        check(parent >= self.header.entry_count, "entry_parent", f"parent {parent}: not below the entry count")
        if number == 0:
            check(not stat.S_ISDIR(mode), "root_type", "the root is not a directory")
            check(name_bytes != 0, "root_name", "the root has a name")
            check(parent != 0, "root_parent", f"the root has parent {parent}")
            name = b""
        else:
            check(parent >= number, "entry_parent", f"parent {parent}: not below its own number")
            check(not stat.S_ISDIR(self._mode(parent)), "entry_parent", f"parent {parent} is not a directory")
            check(not 0 < name_bytes <= 255, "entry_name_bytes", f"name of {name_bytes} bytes: not 1 to 255")
            name = self.section_bytes(NAMES, name_offset, name_bytes)
            check(not good_name(name), "entry_name", f"name {show(name)!r} is not allowed")

        if stat.S_ISREG(mode):
            self._check_regular(check, shard, size, offset, hash_, first_block)
            check(digest and size == 0 and digest != DIGEST_OF_NOTHING, "empty_file", "digest of an empty file is not that of no bytes")
            wrong = image_defect(image)
            check(wrong, "entry_image", wrong)
        else:
            what = "directory" if stat.S_ISDIR(mode) else "symbolic link"
            for field, value in (
                ("shard", shard),
                ("hash", any(hash_)),
                ("digest (SHA-256)", digest not in (b"", NO_DIGEST)),
                ("first block", first_block),
                ("image", image != NO_IMAGE),
            ):
                check(value, "entry_unused_field", f"{field} of a {what} is not 0")
        if stat.S_ISDIR(mode):
            check(
                size and offset <= number, "directory_offset", f"children from entry {offset}: not above its own number"
            )
            check(not size and offset, "directory_offset", f"empty directory with offset {offset}")
            check(
                offset + size > self.header.entry_count,
                "directory_range",
                f"{size} children from entry {offset} leave the entry table",
            )
        if stat.S_ISLNK(mode):
            check(not 0 < size <= 4095, "link_size", f"link target of {size} bytes: not 1 to 4095")
            check(offset + size > self.header.sections[NAMES].bytes, "link_range", "link target leaves NAMES")
            check(b"\0" in self.section_bytes(NAMES, offset, size), "link_nul", "NUL in the link target")
        return Entry(
            number, name, mode, (seconds, nanoseconds), shard, size, offset, hash_, parent, first_block, image, digest
        )

    def _check_regular(self, check, shard, size, offset, hash_, first_block):
        if size == 0:
            check(shard != NO_SHARD, "empty_file", f"shard {shard} of an empty file: not 0xFFFFFFFF")
            check(offset, "empty_file", f"offset {offset} of an empty file: not 0")
            check(first_block, "empty_file", f"first block {first_block} of an empty file: not 0")
            check(hash_ != HASH_OF_NOTHING, "empty_file", "hash of an empty file is not that of no bytes")
            return
        check(shard >= self.header.shard_count, "file_shard", f"shard {shard}: not below the shard count")
        item = self.section_bytes(SHARDS, shard * SHARD_BYTES, SHARD_BYTES)
        shard_bytes = struct.unpack_from("<Q", item, 16)[0]
        first_byte = 64 if struct.unpack_from("<H", item, 0)[0] == OWN else 0
        check(
            offset < first_byte or offset + size > shard_bytes,
            "file_range",
            f"offset {offset} and size {size} leave shard {shard}, which has {shard_bytes} bytes",
        )
        if size > BLOCK_BYTES:
            blocks = -(-size // BLOCK_BYTES)
            room = self.header.sections[BLOCKS].bytes // self.layout.item_bytes[BLOCKS]
            check(
                first_block + blocks > room,
                "file_blocks",
                f"first block {first_block} and {blocks} blocks leave BLOCKS",
            )
        else:
            check(first_block, "file_blocks", f"first block {first_block} of a record up to block bytes: not 0")

    def children(self, directory):
        """The checked entries of the directory's children, by name."""
        before = None
        for number in range(directory.offset, directory.offset + directory.size):
            child = self.entry(number)
            self._check_parent(directory, child)
            refuse_if(
                before is not None and child.name <= before,
                "children_order",
                f"{self.manifest.index}: entry {number}: name {show(child.name)!r}: children not strictly ascending",
            )
            before = child.name
            yield child

    @property
    def has_listing(self):
        return LISTING in self.layout.item_bytes and LISTING in self.header.sections

    def listing_item(self, number):
        """(listed, place) of the item of entry `number`."""
        return struct.unpack("<QQ", self.section_bytes(LISTING, number * 16, 16))

    def listed(self, directory):
        """The checked entries of the directory's children, in the order in which it lists them."""
        children = list(self.children(directory))
        if not self.has_listing:
            return children
        items = [self.listing_item(child.number) for child in children]
        for place, (listed, own_place) in enumerate(items):
            refuse_if(
                listed >= len(items) or own_place >= len(items),
                "listing_range",
                f"{self.manifest.index}: entry {directory.offset + place}: its listed position or its place leaves the folder",
            )
        for place, (listed, own_place) in enumerate(items):
            refuse_if(
                items[listed][1] != place or items[own_place][0] != place,
                "listing_inverse",
                f"{self.manifest.index}: entry {directory.offset + place}: listed at another place than it has",
            )
        return [children[listed] for listed, _ in items]

    def _check_parent(self, directory, child):
        refuse_if(
            child.parent != directory.number,
            "child_parent",
            f"{self.manifest.index}: entry {child.number}: parent {child.parent}: but a child of {directory.number}",
        )

    def lookup(self, path):
        """The entry at `path` (bytes; `a/b`, the root is empty), or None when there is none."""
        entry = self.entry(0)
        for part in path.split(b"/") if path else ():
            if not entry.is_directory:
                return None
            low, high = entry.offset, entry.offset + entry.size
            found = None
            while low < high and found is None:
                middle = (low + high) // 2
                child = self.entry(middle)
                self._check_parent(entry, child)
                if child.name == part:
                    found = child
                elif child.name < part:
                    low = middle + 1
                else:
                    high = middle
            if found is None:
                return None
            entry = found
        return entry

    def walk(self):
        """Yields (path, entry) of the whole tree in path order, the root first with an empty path."""
        root = self.entry(0)
        yield b"", root
        stack = [(b"", self.children(root))]
        while stack:
            prefix, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                stack.pop()
                continue
            path = prefix + child.name
            yield path, child
            if child.is_directory:
                stack.append((path + b"/", self.children(child)))

    def link_target(self, entry):
        assert entry.is_symlink
        return self.section_bytes(NAMES, entry.offset, entry.size)

    # --- records

    def shard(self, number):
        if number not in self._shards:
            self._shards[number] = Shard(self, number)
        return self._shards[number]

    def blocks(self, entry):
        """The items of BLOCKS of a large record; none for others."""
        if entry.size <= BLOCK_BYTES:
            return ()
        count = -(-entry.size // BLOCK_BYTES)
        step = self.layout.item_bytes[BLOCKS]
        raw = self.section_bytes(BLOCKS, entry.first_block * step, count * step)
        return tuple(raw[i : i + step] for i in range(0, len(raw), step))

    def _matches(self, data, hash_, digest):
        """Whether the bytes that come from a shard are the right ones: by SHA-256 under a root hash."""
        return sha256(data) == digest if self.pinned is not None else xxh3_128(data) == hash_

    def read(self, entry, offset=0, size=None):
        """Bytes of a regular file, as read(2): short or empty at the end. Only checked bytes are returned."""
        assert entry.is_file
        end = entry.size if size is None else min(entry.size, offset + size)
        if offset >= end:
            return b""
        shard = self.shard(entry.shard)
        if entry.size <= BLOCK_BYTES:
            data = pread_all(shard.fd, entry.size, entry.offset, shard.name)
            refuse_if(
                not self._matches(data, entry.hash, entry.digest),
                "record_hash",
                f"{shard.name}: record of entry {entry.number}: checksum mismatch",
            )
            return data[offset:end]
        hashes = self.blocks(entry)
        parts = []
        for block in range(offset // BLOCK_BYTES, -(-end // BLOCK_BYTES)):
            start = block * BLOCK_BYTES
            data = pread_all(shard.fd, min(BLOCK_BYTES, entry.size - start), entry.offset + start, shard.name)
            refuse_if(
                not self._matches(data, hashes[block][:16], hashes[block][16:]),
                "record_block_hash",
                f"{shard.name}: record of entry {entry.number}: block {block}: checksum mismatch",
            )
            parts.append(data[max(offset - start, 0) : end - start])
        return b"".join(parts)
