# SPDX-License-Identifier: Apache-2.0
"""Sections 3 and 4 of FORMAT.md: the header of the index and the places of its sections."""

import dataclasses
import struct

import xxhash

from reader_error import refuse_if, sha256, xxh3_64, xxh3_128

BLOCK_BYTES = 1 << 20  # of a large record
PIECE_BYTES = 1 << 16  # of the index: header block, body block, root piece
SHARD_BYTES = 64
ENTRIES_MAX = 2**40 - 2

ENTRIES, NAMES, SHARDS, BLOCKS, CHECKSUMS, LISTING = 1, 2, 3, 4, 5, 6
SECTION_NAMES = {ENTRIES: "ENTRIES", NAMES: "NAMES", SHARDS: "SHARDS", BLOCKS: "BLOCKS", CHECKSUMS: "CHECKSUMS", LISTING: "LISTING"}
OPTIONAL = {LISTING}


@dataclasses.dataclass(frozen=True)
class Layout:
    """What differs between the versions of an index."""

    header_bytes: int
    hash_bytes: int  # of the header's own hash, its last bytes
    roots_at: int
    item_bytes: dict  # by section

    @property
    def hash_at(self):
        return self.header_bytes - self.hash_bytes

    @property
    def sum_bytes(self):
        return self.item_bytes[CHECKSUMS]

    def sum(self, data):
        """What CHECKSUMS and the root checksums have for `data`."""
        return xxh3_64(data).to_bytes(8, "little") if self.sum_bytes == 8 else sha256(data)


LAYOUTS = {
    1: Layout(8192, 16, 4096, {ENTRIES: 96, NAMES: 1, SHARDS: 64, BLOCKS: 16, CHECKSUMS: 8}),
    2: Layout(65_536, 32, 1024, {ENTRIES: 128, NAMES: 1, SHARDS: 64, BLOCKS: 48, CHECKSUMS: 32, LISTING: 16}),
}


@dataclasses.dataclass(frozen=True)
class Section:
    id: int
    offset: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Header:
    version: int
    layout: Layout
    root_hash: bytes  # empty in version 1
    generation: int
    entry_count: int
    shard_count: int
    file_count: int
    directory_count: int
    symlink_count: int
    image_count: int
    tree_bytes: int
    record_bytes: int
    sections: dict
    roots: tuple


def parse_header(manifest, raw, file_bytes):
    """`raw` is the first 65,536 bytes of an index of `file_bytes`."""
    name = manifest.index

    def check(condition, defect, text):
        refuse_if(condition, defect, f"{name}: {text}")

    check(len(raw) < PIECE_BYTES, "index_too_short", f"{len(raw)} bytes: too short for a header")
    (
        magic,
        version,
        header_bytes,
        stated_bytes,
        generation,
        entry_count,
        shard_count,
        block_bytes,
        section_count,
        reserved,
    ) = struct.unpack_from("<8sIIQQQIIII", raw, 0)
    check(magic != b"AUGURIDX", "header_magic", "magic is not AUGURIDX: not an index")
    check(version not in LAYOUTS, "header_version", f"version {version}: this reader knows 1 and 2")
    check(
        version != manifest.version, "index_version", f"header version {version}: the manifest says {manifest.version}"
    )
    layout = LAYOUTS[version]
    raw = raw[: layout.header_bytes]
    hashed = raw[: layout.hash_at]
    hash_ = xxh3_128(hashed) if version == 1 else sha256(hashed)
    identity = xxhash.xxh3_128_hexdigest(raw) if version == 1 else hash_.hex()
    check(identity != manifest.index_id, "index_id", "header does not hash to the index-id of the manifest")
    check(hash_ != raw[layout.hash_at :], "header_checksum", "header checksum mismatch")
    check(
        header_bytes != layout.header_bytes, "header_bytes", f"header bytes {header_bytes}: not {layout.header_bytes}"
    )
    check(stated_bytes != file_bytes, "header_file_bytes", f"file bytes {stated_bytes}: the file has {file_bytes}")
    check(
        generation != manifest.generation,
        "header_generation",
        f"generation {generation}: the manifest says {manifest.generation}",
    )
    check(block_bytes != BLOCK_BYTES, "header_block_bytes", f"block bytes {block_bytes}: not {BLOCK_BYTES}")
    check(not 5 <= section_count <= 16, "header_section_count", f"section count {section_count}: not 5 to 16")
    used = 128 + 32 * section_count
    check(
        reserved != 0 or any(raw[104:128]) or any(raw[used:640]) or any(raw[640 : layout.roots_at]),
        "header_reserved",
        "a reserved field of the header is not zero",
    )
    sections = parse_sections(name, layout, raw, section_count, file_bytes)
    check(
        not 0 < entry_count <= ENTRIES_MAX or entry_count * layout.item_bytes[ENTRIES] != sections[ENTRIES].bytes,
        "header_entry_count",
        f"entry count {entry_count}: ENTRIES has {sections[ENTRIES].bytes} bytes",
    )
    check(
        shard_count * SHARD_BYTES != sections[SHARDS].bytes,
        "header_shard_count",
        f"shard count {shard_count}: SHARDS has {sections[SHARDS].bytes} bytes",
    )
    check(
        LISTING in layout.item_bytes and LISTING in sections and entry_count * 16 != sections[LISTING].bytes,
        "listing_items",
        "LISTING has not an item for each entry",
    )
    step = layout.sum_bytes
    roots = tuple(raw[i : i + step] for i in range(layout.roots_at, layout.hash_at, step))
    pieces = -(-sections[CHECKSUMS].bytes // PIECE_BYTES)
    check(pieces > len(roots), "checksums_items", f"CHECKSUMS has {pieces} root pieces: over {len(roots)}")
    check(any(b"".join(roots[pieces:])), "header_reserved", "an unused root checksum is not zero: reserved")
    totals = struct.unpack_from("<6Q", raw, 56)
    root_hash = hash_ if version > 1 else b""
    return Header(version, layout, root_hash, generation, entry_count, shard_count, *totals, sections, roots)


def parse_sections(name, layout, raw, count, file_bytes):
    known = layout.item_bytes
    sections = []
    for i in range(count):
        id_, version, flags, offset, size, item_bytes, reserved = struct.unpack_from("<IHHQQII", raw, 128 + 32 * i)
        title = f"section {SECTION_NAMES.get(id_, id_)}"

        def check(condition, defect, text, title=title):
            refuse_if(condition, defect, f"{name}: {title}: {text}")

        check(id_ == 0, "section_id", "id is 0")
        check(any(s.id == id_ for s in sections), "section_id", "the same id twice")
        check(flags & ~1 or reserved, "section_reserved", "a reserved flag or field is not zero")
        check(id_ not in known and flags & 1, "section_must_understand", "unknown, and must be understood")
        check(id_ in known and version != 1, "section_version", f"version {version}: this reader knows 1")
        check(
            id_ in known and item_bytes != known[id_],
            "section_item_bytes",
            f"item bytes {item_bytes}: not {known.get(id_)}",
        )
        check(item_bytes == 0, "section_item_bytes", "item bytes 0")
        check(offset % 64, "section_offset", f"offset {offset}: not a multiple of 64")
        check(offset < PIECE_BYTES, "section_offset", f"offset {offset}: within the header block")
        check(offset > file_bytes, "section_offset", f"offset {offset}: past the end of the file")
        check(offset + size > file_bytes, "section_bytes", f"{size} bytes at {offset}: past the end of the file")
        check(size % item_bytes, "section_bytes", f"{size} bytes: not a multiple of item bytes {item_bytes}")
        sections.append(Section(id_, offset, size))
    placed = sorted((s for s in sections if s.bytes), key=lambda s: s.offset)
    for before, after in zip(placed, placed[1:]):
        refuse_if(
            before.offset + before.bytes > after.offset,
            "section_overlap",
            f"{name}: sections {SECTION_NAMES.get(before.id, before.id)} and {SECTION_NAMES.get(after.id, after.id)} overlap",
        )
    by_id = {s.id: s for s in sections}
    for id_, title in SECTION_NAMES.items():
        refuse_if(id_ not in by_id and id_ not in OPTIONAL, "section_missing", f"{name}: section {title} is missing")
    place = by_id[CHECKSUMS]
    refuse_if(
        place.offset % PIECE_BYTES or place.offset + place.bytes != file_bytes,
        "checksums_place",
        f"{name}: section CHECKSUMS: not from a multiple of {PIECE_BYTES} to the end of the file",
    )
    refuse_if(
        any(s.offset > place.offset for s in sections),
        "checksums_place",
        f"{name}: section CHECKSUMS: not the last section",
    )
    blocks = (place.offset - PIECE_BYTES) // PIECE_BYTES
    refuse_if(
        place.bytes != blocks * layout.sum_bytes,
        "checksums_items",
        f"{name}: section CHECKSUMS: {place.bytes // layout.sum_bytes} items for {blocks} blocks",
    )
    return by_id
