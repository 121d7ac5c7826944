# SPDX-License-Identifier: Apache-2.0
"""Bad stores: the header of the index, its sections and its checksums."""

import os

from bad_table import INDEX, MANIFEST, U64_MAX, add, flip, index, set_fields
from store_content import Folder, Generation, Section
from patch import Index


def header(field, value):
    def change(opened):
        opened.header[field] = value

    return change


def header_plus(field, step):
    def change(opened):
        opened.header[field] += step

    return change


def section(id_, **fields):
    def change(opened):
        set_fields(opened.section(id_), fields)

    return change


def truncate(size):
    def make(store):
        os.truncate(os.path.join(store, "index-00000001"), size)

    return make


add(
    "index_missing",
    lambda store: os.remove(os.path.join(store, "index-00000001")),
    "index_missing",
    INDEX,
    "no such file|missing",
)
add("index_truncated", truncate(100_000), "manifest_index_bytes", INDEX, "index-bytes|size|bytes")


def make_short_index(store):
    opened = Index(store)
    opened.set_line("index-bytes", "index-bytes 100")
    os.truncate(os.path.join(store, opened.name), 100)
    opened.save_manifest("".join(line + "\n" for line in opened.lines).encode())


add("index_too_short", make_short_index, "index_too_short", INDEX, "short|bytes|trunc|header")

index("header_magic", header("magic", b"AUGURIDY"), "header_magic", "magic|not an index")
index("header_version_3", header("version", 3), "header_version", "version", "3")
index(
    "header_checksum",
    lambda opened: flip(lambda opened: opened.hash_at + 4)(opened),
    "header_checksum",
    "header",
    "checksum|hash",
    unsealed=("header",),
)
index(
    "header_bit_flip",
    lambda opened: flip(lambda _: 60)(opened),
    "index_id",
    "header|index-id",
    unsealed=("header", "index-id"),
    file=f"{INDEX}|{MANIFEST}",
)
index("header_bytes", header("header bytes", 4096), "header_bytes", "header bytes")
index("header_file_bytes", header_plus("file bytes", 1), "header_file_bytes", "file bytes")
index("header_generation", header("generation", 2), "header_generation", "generation", "2")
index("header_block_bytes", header("block bytes", 65536), "header_block_bytes", "block bytes")
index("header_entry_count", header_plus("entry count", 1), "header_entry_count", "entry count")
index("header_entry_count_over_limit", header("entry count", 2**40 - 1), "header_entry_count", "entry count")
index("header_entry_count_overflow_u64", header("entry count", 14 + 2**59), "header_entry_count", "entry count")
index("header_shard_count", header_plus("shard count", 1), "header_shard_count", "shard count")
index("header_shard_count_overflow_u32", header("shard count", 1 + 2**26), "header_shard_count", "shard count")


def no_entries(opened):
    opened.header["entry count"] = 0
    opened.section(1)["bytes"] = 0


index("header_entry_count_0", no_entries, "header_entry_count", "entry count")


def four_sections(opened):
    opened.header["section count"] = 4
    opened.data[128 + 4 * 32 : 128 + 5 * 32] = bytes(32)


index("header_section_count_4", four_sections, "header_section_count", "section count", "4")
index("header_section_count_17", header("section count", 17), "header_section_count", "section count", "17")
index("reserved_not_zero_header_52", header("reserved", 1), "header_reserved", "reserved")
index("reserved_not_zero_header_104", header("reserved 104", bytes(23) + b"\1"), "header_reserved", "reserved")
index("reserved_not_zero_header_640", flip(lambda _: 640), "header_reserved", "reserved")
index(
    "reserved_not_zero_before_roots",
    flip(lambda opened: opened.roots_at - 1),
    "header_reserved",
    "reserved",
)
index("reserved_not_zero_unused_section_item", flip(lambda _: 128 + 15 * 32 + 8), "header_reserved", "reserved|unused")
index("reserved_not_zero_unused_root", header("last root", 1), "header_reserved", "reserved|root")
for field_ in ("file count", "directory count", "symlink count", "image count", "tree bytes", "record bytes"):
    index("header_" + field_.replace(" ", "_"), header_plus(field_, 1), "header_totals", field_)

# Section table. BLOCKS of the plain store is empty, so moving it overlaps nothing; it is the fourth item.
index("section_id_0", section(77, id=0), "section_id", "section", "id|0", base="unknown_section")
index(
    "section_id_twice",
    section(77, id=0xFFFFFFFF),
    "section_id",
    "section",
    "twice|repeat|duplicate|again",
    base="unknown_section",
)
for id_, title_ in ((1, "ENTRIES"), (2, "NAMES"), (3, "SHARDS"), (4, "BLOCKS|section 4"), (5, "CHECKSUMS")):
    index(f"section_missing_{title_.lower()}", section(id_, id=99, flags=0), "section_missing", title_, "missing|no ")
    index(f"section_version_2_{title_.lower()}", section(id_, version=2), "section_version", title_, "version")
index("section_version_2_listing", section(6, version=2), "section_version", "LISTING", "version", base="listing", versions=(2,))
index("section_item_bytes_listing", section(6, item_bytes=8), "section_item_bytes", "LISTING", "item bytes", "8", base="listing", versions=(2,))
index("listing_an_item_short", lambda opened: section(6, bytes=opened.section(6)["bytes"] - 16)(opened), "listing_items", "LISTING", "item", base="listing", versions=(2,))
index("listing_of_no_items", section(6, bytes=0), "listing_items", "LISTING", "item", base="listing", versions=(2,))
index("section_flag_reserved", section(4, flags=2), "section_reserved", "reserved|flag")
index(
    "section_flag_reserved_of_unknown",
    section(77, flags=0x8000),
    "section_reserved",
    "reserved|flag",
    base="unknown_section",
)
index(
    "must_understand_unknown_section",
    section(77, flags=1),
    "section_must_understand",
    "77",
    "underst",
    base="unknown_section",
)
index("reserved_not_zero_section_28", section(4, reserved=1), "section_reserved", "reserved")
index(
    "section_offset_unaligned",
    section(4, offset=65537),
    "section_offset",
    "BLOCKS|section 4",
    "multiple of 64|offset|align",
)
index(
    "section_offset_in_header_block",
    section(4, offset=65472),
    "section_offset",
    "BLOCKS|section 4",
    "offset|65,?536|header",
)
index(
    "section_offset_past_eof", section(4, offset=1 << 20), "section_offset", "BLOCKS|section 4", "past|end|file|offset"
)
index(
    "section_offset_overflow_u64",
    section(4, offset=2**64 - 64, bytes=128),
    "section_offset",
    "BLOCKS|section 4",
    "past|end|file|offset",
)
index("section_bytes_past_eof", section(2, bytes=1 << 30), "section_bytes", "NAMES|section 2", "past|end|file|overlap")
index(
    "section_bytes_overflow_u64",
    section(2, bytes=U64_MAX - 10),
    "section_bytes",
    "NAMES|section 2",
    "past|end|file|overlap",
)
index("section_bytes_not_items", section(4, bytes=8), "section_bytes", "BLOCKS|section 4", "multiple|item")
index("section_item_bytes", section(4, item_bytes=32), "section_item_bytes", "BLOCKS|section 4", "item bytes", "32")
index("section_item_bytes_0", section(4, item_bytes=0), "section_item_bytes", "BLOCKS|section 4", "item bytes")
index(
    "section_item_bytes_0_of_unknown",
    section(77, item_bytes=0),
    "section_item_bytes",
    "77",
    "item bytes",
    base="unknown_section",
)


index(
    "section_offset_unaligned_of_unknown",
    lambda opened: section(77, offset=opened.section(77)["offset"] + 1)(opened),
    "section_offset",
    "77",
    "multiple of 64|offset|align",
    base="unknown_section",
)
index(
    "section_bytes_past_eof_of_unknown",
    section(77, bytes=1 << 30),
    "section_bytes",
    "77",
    "past|end|file|overlap",
    base="unknown_section",
)


def overlap(opened):
    opened.section(3)["offset"] = opened.section(1)["offset"]


def overlap_checksums(opened):
    blocks = opened.section(4)
    blocks["offset"], blocks["bytes"] = opened.checksums_at - 64, 144
    opened.data += bytes(65536 * 10)  # room, so that nothing is past the end of the file
    opened.header["file bytes"] = len(opened.data)
    opened.section(5)["bytes"] = len(opened.data) - opened.checksums_at


def overlap_unknown(opened):
    opened.section(77)["offset"] = opened.section(1)["offset"]


index("section_overlap", overlap, "section_overlap", "overlap")
index("section_overlap_unknown", overlap_unknown, "section_overlap", "overlap", base="unknown_section")
index("section_overlap_checksums", overlap_checksums, "section_overlap", "overlap|CHECKSUMS")


# Checksums.


def checksums_unaligned(opened):
    opened.data[opened.checksums_at : opened.checksums_at] = bytes(64)
    place = opened.section(5)
    place["offset"] += 64
    opened.checksums_at += 64
    opened.header["file bytes"] += 64


def checksums_not_last(opened):
    opened.data += bytes(64)
    opened.header["file bytes"] += 64


def checksums_items(step):
    def change(opened):
        size = opened.section(5)["bytes"] + opened.sum_bytes * step
        opened.data[:] = opened.data[: opened.checksums_at + size].ljust(opened.checksums_at + size, b"\0")
        opened.section(5)["bytes"] = size
        opened.header["file bytes"] = len(opened.data)

    return change


index("checksums_unaligned", checksums_unaligned, "checksums_place", "CHECKSUMS")
index("checksums_not_last", checksums_not_last, "checksums_place", "CHECKSUMS")
index(
    "checksums_not_last_empty",
    lambda opened: section(4, offset=opened.checksums_at + 64)(opened),
    "checksums_place",
    "CHECKSUMS",
    base=[Generation(Folder(), sections=(Section(77, b"", hole_bytes=1 << 20),))],
)
index("checksums_too_few_items", checksums_items(-1), "checksums_items", "CHECKSUMS", base="many")
index("checksums_too_many_items", checksums_items(1), "checksums_items", "CHECKSUMS")
index("checksums_no_items", checksums_items(-1), "checksums_items", "CHECKSUMS")
index("root_checksum", header_plus("first root", 1), "root_checksum", "root|CHECKSUMS", "checksum", unsealed=("body",))
index(
    "checksums_bit_flip",
    flip(lambda opened: opened.checksums_at + 8),
    "root_checksum",
    "CHECKSUMS|root",
    "checksum",
    unsealed=("body",),
    base="many",
)
index(
    "block_checksum",
    flip(lambda opened: opened.checksums_at),
    "block_checksum",
    "block 0",
    "checksum",
    unsealed=("blocks",),
)
index(
    "entries_bit_flip",
    flip(lambda opened: opened.entries_at + opened.entry_bytes * 700 + 20),
    "block_checksum",
    "block 1",
    "checksum",
    unsealed=("body",),
    base="many",
)
index(
    "root_entry_bit_flip",
    flip(lambda opened: opened.entries_at + 17),
    "block_checksum",
    "block 0",
    "checksum",
    unsealed=("body",),
)
index(
    "names_bit_flip",
    flip(lambda opened: opened.section(2)["offset"] + 3),
    "block_checksum",
    "block",
    "checksum",
    unsealed=("body",),
)
index(
    "padding_bit_flip",
    flip(lambda opened: opened.checksums_at - 1),
    "block_checksum",
    "block 0",
    "checksum",
    unsealed=("body",),
)


def other_version(store):
    """A manifest of the other version, which is right by itself."""
    opened = Index(store)
    opened.lines[0] = f"augurfs-store {3 - opened.version}"
    opened.set_line("index-id", "index-id " + "0" * (64 if opened.version == 1 else 32))
    opened.save_manifest("".join(line + "\n" for line in opened.lines).encode())


add("index_version_of_another_manifest", other_version, "index_version", f"{INDEX}|{MANIFEST}", "version")
