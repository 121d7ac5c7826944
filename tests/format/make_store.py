# SPDX-License-Identifier: Apache-2.0
"""A tiny writer of AugurFS stores, written from src/store/FORMAT.md alone; it shares no code with the reader.

A store is described by plain values (store_content.py). Everything is kept in memory, so it is for small stores of the
tests and not a tool.
"""

import dataclasses
import os
import struct

from store_content import File, Folder, Link, image_bytes, in_path_order, type_and_mode
from store_versions import MIB, VERSIONS, h64, h128, in_blocks

KIB64 = 1 << 16


@dataclasses.dataclass
class TableItem:
    kind: int
    locator_kind: int
    locator: bytes
    file_bytes: int
    token: tuple
    generation: int


class Writer:
    """Writes generation after generation into one folder."""

    def __init__(self, folder, version):
        self.folder = folder
        self.version = VERSIONS[version]
        self.generation = 0
        self.base = 0  # generation, of the shards being written
        self.table = []
        self.records = {}  # bytes -> (shard, offset)
        self.placed = {}  # path -> (shard, offset), of foreign records
        self.before = {}
        os.makedirs(folder)

    def write(self, what):
        self.generation += 1
        if what.anew:
            self.table, self.records, self.placed, self.before = [], {}, {}, {}
        self.base = max((item.generation for item in self.table if item.kind == 1), default=0)
        listing = list(in_path_order(what.tree))
        for foreign in what.foreign:
            self._add_foreign(foreign)
        added = [(path, node) for path, node in listing if self._brief(node) != self.before.get(path)]
        if what.own_shards:
            share = -(-len(added) // what.own_shards)
            for i in range(what.own_shards):
                self._write_shard(added[i * share : (i + 1) * share])
        self.before = {path: self._brief(node) for path, node in listing}
        header = self._write_index(what)
        self._write_manifest(what, header)

    @staticmethod
    def _brief(node):
        return (node.mode, node.mtime) if isinstance(node, Folder) else node

    def _add_foreign(self, foreign):
        status = os.stat(foreign.path)
        shard = len(self.table)
        token = divmod(status.st_mtime_ns, 10**9)
        self.table.append(
            TableItem(2, 2 if foreign.absolute else 1, foreign.locator, status.st_size, token, self.generation)
        )
        for path, offset in foreign.offsets.items():
            self.placed[path] = (shard, offset)

    def _write_shard(self, entries):
        number = len(self.table)
        name = f"shard-{self.generation:08d}-{number:05d}"
        head = struct.pack("<8sIIQQ24s", b"AUGURSHD", self.version.number, number, self.generation, self.base, bytes(24))
        out = bytearray(head + struct.pack("<Q", h64(head)))
        items = []
        for path, node in entries:
            if isinstance(node, File) and node.data and path not in self.placed and node.data not in self.records:
                self.records[node.data] = (number, len(out))
                out += node.data
            items.append(self._catalogue_item(path, node))
        catalogue = b""
        for i in range(0, len(items), 5):  # several frames also for a handful of entries
            payload = b"".join(items[i : i + 5])
            catalogue += struct.pack("<4sIIIQ", b"CFRM", len(payload), len(items[i : i + 5]), 0, h64(payload)) + payload
        trailer = struct.pack(
            "<8sIIQQQQQ",
            b"AUGURCAT",
            self.version.number,
            number,
            self.generation,
            len(out),
            len(catalogue),
            len(items),
            h64(catalogue),
        )
        out += catalogue + trailer + struct.pack("<Q", h64(trailer))
        with open(os.path.join(self.folder, name), "xb") as file:
            file.write(out)
        self.table.append(TableItem(1, 1, name.encode(), len(out), (0, 0), self.generation))

    def _place(self, path, node):
        if not isinstance(node, File) or not node.data:
            return 0xFFFFFFFF, 0
        return self.placed[path] if path in self.placed else self.records[node.data]

    def _catalogue_item(self, path, node):
        shard, offset = self._place(path, node)
        is_file = isinstance(node, File)
        target = node.target if isinstance(node, Link) else b""
        blocks = list(map(self.version.block, in_blocks(node.data))) if is_file else []
        used = 88 + len(self.version.digest(node)) + len(path) + len(target) + self.version.block_bytes * len(blocks)
        padding = -used % 8
        return (
            struct.pack(
                "<IIIIII", used + padding, len(path), len(target), len(blocks), type_and_mode(node), node.mtime[1]
            )
            + struct.pack("<qQIIQ", node.mtime[0], len(node.data) if is_file else 0, shard, 0, offset)
            + (h128(node.data) if is_file else bytes(16))
            + image_bytes(node)
            + self.version.digest(node)
            + path
            + target
            + b"".join(blocks)
            + bytes(padding)
        )

    def _write_index(self, what):
        names = bytearray()
        interned = {}

        def intern(text):
            if text not in interned:
                interned[text] = len(names)
                names.extend(text)
            return interned[text]

        # Breadth first: the children of a folder are contiguous, and come after the folder.
        order = [(b"", b"", what.tree, 0)]
        first_child = {}
        at = 0
        while at < len(order):
            path, _, node, _ = order[at]
            if isinstance(node, Folder) and node.children:
                first_child[at] = len(order)
                for name in sorted(node.children):
                    order.append((path + b"/" + name if path else name, name, node.children[name], at))
            at += 1

        entries = bytearray()
        blocks = bytearray()
        block_places = {}
        distinct = {}
        totals = [0, 0, 0, 0, 0]  # files, folders, links, images, bytes
        for number, (path, name, node, parent) in enumerate(order):
            shard = size = offset = first_block = 0
            hash_ = bytes(16)
            if isinstance(node, Folder):
                size, offset = len(node.children), first_child.get(number, 0)
                totals[1] += 1
            elif isinstance(node, Link):
                size, offset = len(node.target), intern(node.target)
                totals[2] += 1
            else:
                shard, offset = self._place(path, node)
                size, hash_ = len(node.data), h128(node.data)
                if size:
                    distinct[(shard, offset)] = size
                if size > MIB:
                    if node.data not in block_places:
                        block_places[node.data] = len(blocks) // self.version.block_bytes
                        blocks += b"".join(map(self.version.block, in_blocks(node.data)))
                    first_block = block_places[node.data]
                totals[0] += 1
                totals[3] += node.image is not None
                totals[4] += size
            entries += struct.pack(
                "<QHHIqIIQQ16sQQ",
                intern(name),
                len(name),
                0,
                type_and_mode(node),
                node.mtime[0],
                node.mtime[1],
                shard,
                size,
                offset,
                hash_,
                parent,
                first_block,
            )
            entries += image_bytes(node) + self.version.digest(node)

        shards = bytearray()
        for item in self.table:
            shards += struct.pack(
                "<HHIQQqIIQ16s",
                item.kind,
                item.locator_kind,
                len(item.locator),
                intern(item.locator),
                item.file_bytes,
                *item.token,
                0,
                item.generation,
                bytes(16),
            )

        sections = [
            (1, self.version.entry_bytes, bytes(entries), 0, 1),
            (2, 1, bytes(names), 0, 1),
            (3, 64, bytes(shards), 0, 1),
            (4, self.version.block_bytes, bytes(blocks), 0, 1),
        ] + [(s.id, s.item_bytes, s.payload, s.hole_bytes, 0) for s in what.sections]
        if what.listing:
            sections.append((6, 16, self._listing(order, first_child), 0, 1))
        if what.reversed_layout:
            sections.reverse()
        return self._lay_out(what, sections, len(order), totals, sum(distinct.values()))

    @staticmethod
    def _listing(order, first_child):
        items = [(0, 0)] * len(order)
        for number, first in first_child.items():
            children = order[number][2].children
            names = sorted(children)
            listed = [names.index(name) for name in children]
            for i in range(len(names)):
                items[first + i] = (listed[i], listed.index(i))
        return b"".join(struct.pack("<QQ", *item) for item in items)

    def _lay_out(self, what, sections, entry_count, totals, record_bytes):
        with open(os.path.join(self.folder, f"index-{self.generation:08d}"), "x+b") as file:
            offset = KIB64
            placed = []
            for id_, item_bytes, payload, hole_bytes, must in sections:
                offset += -offset % 64
                file.seek(offset)
                file.write(payload)
                placed.append((id_, must, offset, len(payload) + hole_bytes, item_bytes))
                offset += len(payload) + hole_bytes
            body_end = offset + -offset % KIB64
            file.truncate(body_end)
            file.seek(KIB64)
            checksums = b"".join(self.version.sum(file.read(KIB64)) for _ in range(body_end // KIB64 - 1))
            file.write(checksums)
            placed.append((5, 1, body_end, len(checksums), self.version.sum_bytes))
            if what.reversed_layout:
                placed.reverse()

            table = b"".join(
                struct.pack("<IHHQQII", id_, 1, must, at, size, item, 0) for id_, must, at, size, item in placed
            )
            roots = b"".join(self.version.sum(checksums[i : i + KIB64]) for i in range(0, len(checksums), KIB64))
            header = struct.pack(
                f"<8sIIQQQIIII6Q24s512s{self.version.roots_at - 640}s{self.version.root_bytes}s",
                b"AUGURIDX",
                self.version.number,
                self.version.header_bytes,
                body_end + len(checksums),
                self.generation,
                entry_count,
                len(self.table),
                MIB,
                len(placed),
                0,
                *totals,
                record_bytes,
                b"",
                table,
                b"",
                roots,
            )
            header += self.version.header_hash(header)
            file.seek(0)
            file.write(header)
            return header, body_end + len(checksums)

    def _write_manifest(self, what, header):
        raw, index_bytes = header
        lines = [
            f"generation {self.generation}",
            f"index index-{self.generation:08d}",
            f"index-bytes {index_bytes}",
            f"index-id {self.version.index_id(raw)}",
            "writer make_store.py 1",
            *what.manifest_lines,
        ]
        if what.reversed_layout:
            lines.reverse()
        text = "".join(line + "\n" for line in [f"augurfs-store {self.version.number}", *lines]).encode()
        text += f"checksum {h64(text):016x}\n".encode()
        temporary = os.path.join(self.folder, "manifest.new")
        with open(temporary, "wb") as file:
            file.write(text)
        os.rename(temporary, os.path.join(self.folder, "manifest"))


def write_store(folder, generations, version):
    writer = Writer(folder, version)
    for generation in generations:
        writer.write(generation)
