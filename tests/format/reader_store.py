# SPDX-License-Identifier: Apache-2.0
"""The second reader of a store: the tree and its bytes, each checked before use."""

import struct

from reader_catalogue import pread_all
from reader_entry import parse_entry
from reader_error import refuse_if, sha256, show, xxh3_128
from reader_header import BLOCK_BYTES, BLOCKS, LISTING, NAMES
from reader_index import Index
from reader_shard import Shard


class Store(Index):
    """One generation of a store, open: the manifest, the header and the root entry are checked, the rest when used.

    Owns, beside the map of the index, a descriptor for each shard that was needed; a context manager closes them.
    `warnings` collects what is odd but not refused. Under a `root_hash` records are checked by their SHA-256.
    """

    def __init__(self, path, root_hash=None):
        self.warnings = []
        self._shards = {}
        super().__init__(path, root_hash)
        try:
            self.entry(0)
        except BaseException:
            self.close()
            raise

    def close(self):
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()
        super().close()

    # --- the tree

    def entry(self, number):
        """Entry `number`, with every rule for it checked that needs no shard file and no sibling."""
        return parse_entry(self, number)

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
