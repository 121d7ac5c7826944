# SPDX-License-Identifier: Apache-2.0
"""The bad stores, each named by its one defect: how it is made from a good store, and what an error must say.

BAD is the table that the tests run over. `defect` is the reader.py name of the broken rule; `file` and each of `words` are
regular expressions (case ignored) that the error text of every reader must hold: which file, and what is wrong with it.
"""

import dataclasses
import os

import golden
import make_store
from make_store import Folder, Generation
from patch import Index, OwnShard

U64_MAX = 2**64 - 1
INDEX = r"index-00000001"
SHARD = r"shard-00000001-00000"
MANIFEST = r"manifest"


@dataclasses.dataclass(frozen=True)
class Bad:
    name: str
    base: object  # the name of a golden store, or a list of generations
    make: object  # makes the good store at the given path bad
    defect: str
    file: str
    words: tuple

    def build(self, folder):
        """The bad store, under `folder`; its path."""
        if isinstance(self.base, str):
            store = golden.unpack(self.base, folder)
        else:
            store = os.path.join(folder, "store")
            make_store.write_store(store, self.base)
        self.make(store)
        return store


BAD = []


def add(name, make, defect, file, *words, base="plain"):
    BAD.append(Bad(name, base, make, defect, file, words))


# ---------------------------------------------------------------------------------------------- manifest


def manifest(name, change, defect, *words, base="plain", file=MANIFEST):
    """`change` edits the lines of the manifest in the Index that it is given; the checksum is made right."""

    def make(store):
        index = Index(store)
        change(index)
        index.save_manifest("".join(line + "\n" for line in index.lines).encode())

    add(name, make, defect, file, *words, base=base)


def set_line(key, line):
    return lambda index: index.set_line(key, line)


def raw_manifest(edit):
    def make(store):
        path = os.path.join(store, "manifest")
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(edit(data))

    return make


add("manifest_missing", lambda store: os.remove(os.path.join(store, "manifest")), "manifest_missing", MANIFEST, "not a store|no such file")
add("manifest_empty", raw_manifest(lambda data: b""), "manifest_magic", MANIFEST, "augurfs-store|not a store|empty|missing|LF")
add("manifest_no_final_lf", raw_manifest(lambda data: data[:-1]), "manifest_line", MANIFEST, "LF|newline|ended|checksum")
add("manifest_checksum", raw_manifest(lambda data: data.replace(b"writer m", b"writer M")), "manifest_checksum", MANIFEST, "checksum")
add(
    "manifest_checksum_upper_case",
    raw_manifest(lambda data: data[: data.rindex(b" ")] + data[data.rindex(b" ") :].upper()),
    "manifest_checksum",
    MANIFEST,
    "checksum",
)
add("manifest_missing_checksum", raw_manifest(lambda data: data[: data.rindex(b"checksum")]), "manifest_missing_key", MANIFEST, "checksum")
add("manifest_after_checksum", raw_manifest(lambda data: data + b"x-more text\n"), "manifest_after_checksum", MANIFEST, "checksum")
add("manifest_after_checksum_lf", raw_manifest(lambda data: data + b"\n"), "manifest_after_checksum", MANIFEST, "checksum")
manifest("manifest_too_long", lambda index: index.lines.append("x-fill " + "f" * 4096), "manifest_too_long", r"4[, ]?096")
manifest("manifest_not_a_store", set_line("augurfs-store", "augurfs-stor 1"), "manifest_magic", "augurfs-store|not a store")
manifest("manifest_version_2", set_line("augurfs-store", "augurfs-store 2"), "manifest_version", "version|augurfs-store", "2")
manifest("manifest_version_01", set_line("augurfs-store", "augurfs-store 01"), "manifest_version", "version|augurfs-store")
for key_ in ("generation", "index", "index-bytes", "index-id", "writer"):
    manifest("manifest_missing_" + key_.replace("-", "_"), set_line(key_, None), "manifest_missing_key", key_, "missing|no ")
manifest("manifest_repeated_key", lambda index: index.lines.append("generation 1"), "manifest_repeated_key", "generation", "repeat|twice|again|once")
manifest("manifest_unknown_key", lambda index: index.lines.append("colour blue"), "manifest_unknown_key", "unknown", "colour")
manifest("manifest_line_without_space", lambda index: index.lines.append("x-nothing"), "manifest_line", "line|key|space", "x-nothing|space|value")
manifest("manifest_generation_0", set_line("generation", "generation 0"), "manifest_generation", "generation")
for text_ in ("1a", "-1", "0x1", "99999999999999999999999", ""):
    label_ = {"": "empty", "-1": "negative", "0x1": "hex"}.get(text_, text_[:3])
    defect_ = "manifest_index_name" if text_.isdigit() else "manifest_generation"
    manifest(f"manifest_generation_not_decimal_{label_}", set_line("generation", "generation " + text_), defect_, "generation")
manifest("manifest_index_name_short", set_line("index", "index index-1"), "manifest_index_name", "index", "index-1|name")
manifest("manifest_index_name_of_another", set_line("index", "index index-00000002"), "manifest_index_name", "index", "index-00000002|name")
manifest(
    "manifest_index_name_with_slash",
    set_line("index", "index ../store/index-00000001"),
    "manifest_index_name",
    "index",
)
manifest("manifest_index_bytes", set_line("index-bytes", "index-bytes 131081"), "manifest_index_bytes", "131081|index-bytes|size", file=f"{INDEX}|{MANIFEST}")
manifest("manifest_index_bytes_not_decimal", set_line("index-bytes", "index-bytes 131073b"), "manifest_index_bytes", "index-bytes")
manifest("manifest_index_id", set_line("index-id", "index-id " + "0" * 32), "index_id", "index-id|hash", file=f"{INDEX}|{MANIFEST}")


# ---------------------------------------------------------------------------------------------- index


def index(name, change, defect, *words, base="plain", file=INDEX, unsealed=()):
    """`change` edits the Index; what is not in `unsealed` is made right above it."""

    def make(store):
        opened = Index(store)
        opened.unsealed.update(unsealed)
        change(opened)
        opened.save()

    add(name, make, defect, file, *words, base=base)


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
        record = opened.section(id_)
        for field, value in fields.items():
            record[field.replace("_", " ")] = value

    return change


def truncate(size):
    def make(store):
        os.truncate(os.path.join(store, "index-00000001"), size)

    return make


def flip(place):
    """Flips one bit at the byte that `place` finds in the index."""

    def change(opened):
        opened.data[place(opened)] ^= 0x10

    return change


add("index_missing", lambda store: os.remove(os.path.join(store, "index-00000001")), "index_missing", INDEX, "no such file|missing")
add("index_truncated", truncate(100_000), "manifest_index_bytes", INDEX, "index-bytes|size|bytes")


def make_short_index(store):
    opened = Index(store)
    opened.set_line("index-bytes", "index-bytes 100")
    os.truncate(os.path.join(store, opened.name), 100)
    opened.save_manifest("".join(line + "\n" for line in opened.lines).encode())


add("index_too_short", make_short_index, "index_too_short", INDEX, "short|bytes|trunc|header")

index("header_magic", header("magic", b"AUGURIDY"), "header_magic", "magic|not an index")
index("header_version_2", header("version", 2), "header_version", "version", "2")
index("header_checksum", lambda opened: flip(lambda _: 8180)(opened), "header_checksum", "header", "checksum|hash", unsealed=("header",))
index("header_bit_flip", lambda opened: flip(lambda _: 60)(opened), "index_id", "header|index-id", unsealed=("header", "index-id"), file=f"{INDEX}|{MANIFEST}")
index("header_bytes", header("header bytes", 4096), "header_bytes", "header bytes", "4096")
index("header_file_bytes", header_plus("file bytes", 1), "header_file_bytes", "file bytes")
index("header_generation", header("generation", 2), "header_generation", "generation", "2")
index("header_block_bytes", header("block bytes", 65536), "header_block_bytes", "block bytes", "65536")
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
index("reserved_not_zero_header_640", header("reserved 640", b"\1" + bytes(3455)), "header_reserved", "reserved")
index("reserved_not_zero_header_4095", header("reserved 640", bytes(3455) + b"\1"), "header_reserved", "reserved")
index("reserved_not_zero_unused_section_item", flip(lambda _: 128 + 15 * 32 + 8), "header_reserved", "reserved")
index("reserved_not_zero_unused_root", header("last root", 1), "header_reserved", "reserved|root")
for field_ in ("file count", "directory count", "symlink count", "image count", "tree bytes", "record bytes"):
    index("header_" + field_.replace(" ", "_"), header_plus(field_, 1), "header_totals", field_)

# Section table. BLOCKS of the plain store is empty, so moving it overlaps nothing; it is the fourth item.
index("section_id_0", section(77, id=0), "section_id", "section", "id|0", base="unknown_section")
index("section_id_twice", section(77, id=0xFFFFFFFF), "section_id", "section", "twice|repeat|duplicate|again", base="unknown_section")
for id_, title_ in ((1, "ENTRIES"), (2, "NAMES"), (3, "SHARDS"), (4, "BLOCKS"), (5, "CHECKSUMS")):
    index(f"section_missing_{title_.lower()}", section(id_, id=99, flags=0), "section_missing", title_, "missing|no ")
    index(f"section_version_2_{title_.lower()}", section(id_, version=2), "section_version", title_, "version")
index("section_flag_reserved", section(4, flags=2), "section_reserved", "reserved|flag")
index("section_flag_reserved_of_unknown", section(77, flags=0x8000), "section_reserved", "reserved|flag", base="unknown_section")
index("must_understand_unknown_section", section(77, flags=1), "section_must_understand", "77", "underst", base="unknown_section")
index("reserved_not_zero_section_28", section(4, reserved=1), "section_reserved", "reserved")
index("section_offset_unaligned", section(4, offset=65537), "section_offset", "BLOCKS", "multiple of 64|offset|align")
index("section_offset_in_header_block", section(4, offset=65472), "section_offset", "BLOCKS", "offset|65,?536|header")
index("section_offset_past_eof", section(4, offset=1 << 20), "section_offset", "BLOCKS", "past|end|file|offset")
index("section_offset_overflow_u64", section(4, offset=2**64 - 64, bytes=128), "section_offset", "BLOCKS", "past|end|file|offset")
index("section_bytes_past_eof", section(2, bytes=1 << 30), "section_bytes", "NAMES", "past|end|file|overlap")
index("section_bytes_overflow_u64", section(2, bytes=U64_MAX - 10), "section_bytes", "NAMES", "past|end|file|overlap")
index("section_bytes_not_items", section(4, bytes=8), "section_bytes", "BLOCKS", "multiple|item")
index("section_item_bytes", section(4, item_bytes=32), "section_item_bytes", "BLOCKS", "item bytes", "32")
index("section_item_bytes_0", section(4, item_bytes=0), "section_item_bytes", "BLOCKS", "item bytes")
index("section_item_bytes_0_of_unknown", section(77, item_bytes=0), "section_item_bytes", "77", "item bytes", base="unknown_section")


def overlap(opened):
    opened.section(3)["offset"] = opened.section(1)["offset"]


def overlap_checksums(opened):
    blocks = opened.section(4)
    blocks["offset"], blocks["bytes"] = opened.checksums_at - 64, 128
    opened.data += bytes(65536 * 10)  # room, so that nothing is past the end of the file
    opened.header["file bytes"] = len(opened.data)
    opened.section(5)["bytes"] = len(opened.data) - opened.checksums_at


def overlap_unknown(opened):
    opened.section(77)["offset"] = opened.section(1)["offset"]


index("section_overlap", overlap, "section_overlap", "overlap")
index("section_overlap_unknown", overlap_unknown, "section_overlap", "overlap", base="unknown_section")
index("section_overlap_checksums", overlap_checksums, "section_overlap", "overlap|CHECKSUMS")


# ---------------------------------------------------------------------------------------------- checksums


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
        size = opened.section(5)["bytes"] + 8 * step
        opened.data[:] = opened.data[: opened.checksums_at + size].ljust(opened.checksums_at + size, b"\0")
        opened.section(5)["bytes"] = size
        opened.header["file bytes"] = len(opened.data)

    return change


index("checksums_unaligned", checksums_unaligned, "checksums_place", "CHECKSUMS")
index("checksums_not_last", checksums_not_last, "checksums_place", "CHECKSUMS")
index("checksums_too_few_items", checksums_items(-1), "checksums_items", "CHECKSUMS", base="many")
index("checksums_too_many_items", checksums_items(1), "checksums_items", "CHECKSUMS")
index("checksums_no_items", checksums_items(-1), "checksums_items", "CHECKSUMS")
index("root_checksum", header_plus("first root", 1), "root_checksum", "root|CHECKSUMS", "checksum", unsealed=("body",))
index("checksums_bit_flip", flip(lambda opened: opened.checksums_at + 8), "root_checksum", "CHECKSUMS|root", "checksum", unsealed=("body",), base="many")
index("block_checksum", flip(lambda opened: opened.checksums_at), "block_checksum", "block 0", "checksum", unsealed=("blocks",))
index("entries_bit_flip", flip(lambda opened: opened.entries_at + 96 * 700 + 20), "block_checksum", "block 1", "checksum", unsealed=("body",), base="many")
index("root_entry_bit_flip", flip(lambda opened: opened.entries_at + 17), "block_checksum", "block 0", "checksum", unsealed=("body",))
index("names_bit_flip", flip(lambda opened: opened.section(2)["offset"] + 3), "block_checksum", "block", "checksum", unsealed=("body",))
index("padding_bit_flip", flip(lambda opened: opened.checksums_at - 1), "block_checksum", "block 0", "checksum", unsealed=("body",))


# ---------------------------------------------------------------------------------------------- entries


def entry(path, **fields):
    def change(opened):
        record = opened.entry(path)
        for field, value in fields.items():
            record[field.replace("_", " ")] = value

    return change


def renamed(path, name):
    def change(opened):
        record = opened.entry(path)
        record["name offset"], record["name bytes"] = opened.append_names(name), len(name)

    return change


for label_, mode_ in (("fifo", 0o010644), ("socket", 0o140644), ("device", 0o060644), ("none", 0o644), ("high_bits", 0o1100644)):
    index(f"type_{label_}", entry(b"a.txt", mode=mode_), "entry_type", "entry 3", "type|mode")
index("mtime_nanoseconds", entry(b"a.txt", nanoseconds=10**9), "entry_nanoseconds", "entry 3", "nanoseconds")
index("reserved_not_zero_entry_10", entry(b"a.txt", reserved=1), "entry_reserved", "entry 3", "reserved")
index("name_past_names", entry(b"a.txt", name_offset=100_000), "entry_name_range", "entry 3", "name")
index("name_offset_overflow_u64", entry(b"a.txt", name_offset=U64_MAX - 2), "entry_name_range", "entry 3", "name")
index("parent_past_entries", entry(b"a.txt", parent=14), "entry_parent", "entry 3", "parent")
index("parent_overflow_u64", entry(b"a.txt", parent=U64_MAX), "entry_parent", "entry 3", "parent")
index("parent_not_a_directory", entry(b"a/sub/deep", parent=11), "entry_parent", "entry 13", "parent")
index("cycle_parent", entry(b"a/sub", parent=12), "entry_parent", "entry 12", "parent")
index("parent_below", entry(b"a", parent=12), "entry_parent", "entry 1", "parent")
index("name_empty", entry(b"a", name_bytes=0), "entry_name_bytes", "entry 1", "name")
index("name_256_bytes", renamed(b"zero-one", b"z" * 256), "entry_name_bytes", "entry 9", "name", "255|256")
index("name_65535_bytes", renamed(b"zero-one", b"z" * 65535), "entry_name_bytes", "entry 9", "name", "255|65535")
index("name_dot", renamed(b"a", b"."), "entry_name", "entry 1", "name")
index("name_dot_dot", renamed(b"a", b".."), "entry_name", "entry 1", "name")
index("name_with_slash", renamed(b"zero-one", b"zero/one"), "entry_name", "entry 9", "name")
index("name_with_leading_slash", renamed(b"a", b"/a"), "entry_name", "entry 1", "name")
index("name_with_nul", renamed(b"zero-one", b"zero\0one"), "entry_name", "entry 9", "name")
index("root_is_a_file", entry(b"", mode=0o100755), "root_type", "entry 0|root", "directory|type")
index("root_is_a_link", entry(b"", mode=0o120755), "root_type", "entry 0|root", "directory|type")
index("root_with_name", entry(b"", name_bytes=1), "root_name", "entry 0|root", "name")
index("root_with_parent", entry(b"", parent=1), "root_parent", "entry 0|root", "parent")


def swap_names(opened):
    one, two = opened.entry(b"a.txt"), opened.entry(b"copy-of-cat")
    for field in ("name offset", "name bytes"):
        one[field], two[field] = two[field], one[field]


def same_names(opened):
    one, two = opened.entry(b"a.txt"), opened.entry(b"copy-of-cat")
    for field in ("name offset", "name bytes"):
        one[field] = two[field]


index("children_not_sorted", swap_names, "children_order", "entry 4|entry 3|entry 0", "ascending|sorted|order")
index("children_same_name", same_names, "children_order", "entry 4|entry 3|entry 0", "ascending|sorted|order|twice|same")
index("child_of_another", entry(b"a/sub", parent=0), "entry_orphan|child_parent", "entry 12|entry 1", "parent|child")
index("children_shared", entry(b"empty-folder", size=3, offset=10), "child_parent", "entry 10|entry 7", "parent")
index("children_lost", entry(b"a", size=2), "entry_orphan", "entry 12|entry 1", "parent|child")
index("directory_size_past_entries", entry(b"a/sub", size=2), "directory_range", "entry 12", "children|size|entry table|entry count")
index("directory_offset_past_entries", entry(b"a/sub", offset=14), "directory_range", "entry 12", "children|offset|entry table")
index("directory_size_overflow_u64", entry(b"a/sub", size=U64_MAX), "directory_range", "entry 12", "children|size|entry table")
index("directory_offset_overflow_u64", entry(b"a/sub", offset=U64_MAX), "directory_range", "entry 12", "children|offset|entry table")
index("cycle_children", entry(b"a/sub", offset=12), "directory_offset", "entry 12", "offset|own number|child")
index("directory_offset_before", entry(b"a/sub", offset=1), "directory_offset", "entry 12", "offset|own number|child")
index("empty_directory_offset", entry(b"empty-folder", offset=10), "directory_offset", "entry 7", "offset|empty")
for kind_, path_, number_ in (("directory", b"empty-folder", 7), ("link", b"link", 8)):
    for field_, value_ in (
        ("shard", 0xFFFFFFFF),
        ("hash", b"\1" + bytes(15)),
        ("first block", 1),
        ("width", 1),
        ("height", 1),
        ("exif bytes", 1),
        ("image kind", 1),
        ("channels", 1),
        ("orientation", 1),
        ("bit depth", 8),
    ):
        word_ = field_ if field_ in ("shard", "hash", "first block") else "image"
        index(
            f"{kind_}_{field_.replace(' ', '_')}",
            entry(path_, **{field_.replace(" ", "_"): value_}),
            "entry_unused_field",
            f"entry {number_}",
            word_,
        )


def long_target(opened):
    record = opened.entry(b"link")
    record["offset"], record["size"] = opened.append_names(b"t" * 4096), 4096


def nul_target(opened):
    record = opened.entry(b"link")
    record["offset"], record["size"] = opened.append_names(b"a\0b"), 3


index("link_target_empty", entry(b"link", size=0), "link_size", "entry 8", "target|size")
index("link_target_4096_bytes", long_target, "link_size", "entry 8", "target|size")
index("link_target_past_names", entry(b"link", offset=100_000), "link_range", "entry 8", "NAMES")
index("link_target_overflow_u64", entry(b"link", offset=U64_MAX), "link_range", "entry 8", "NAMES")
index("link_target_with_nul", nul_target, "link_nul", "entry 8", "NUL")

index("empty_file_shard", entry(b"empty-file", shard=0), "empty_file", "entry 6", "shard|empty")
index("empty_file_offset", entry(b"empty-file", offset=64), "empty_file", "entry 6", "offset|empty")
index("empty_file_first_block", entry(b"empty-file", first_block=1), "empty_file", "entry 6", "first block|empty")
index("empty_file_hash", entry(b"empty-file", hash=bytes(16)), "empty_file", "entry 6", "hash|empty")

index("file_shard_past_table", entry(b"a.txt", shard=1), "file_shard", "entry 3", "shard")
index("file_shard_none", entry(b"a.txt", shard=0xFFFFFFFF), "file_shard", "entry 3", "shard")
index("file_offset_past_shard", entry(b"a.txt", offset=1 << 40), "file_range", "entry 3", "shard")
index("file_offset_overflow_u64", entry(b"a.txt", offset=U64_MAX - 1), "file_range", "entry 3", "shard")
index("file_offset_in_shard_header", entry(b"a.txt", offset=63), "file_range", "entry 3", "shard")
index("file_size_past_shard", entry(b"a.txt", size=100_000), "file_range", "entry 3", "shard")
index("file_size_overflow_u64", entry(b"big", size=U64_MAX), "file_range", "entry", "block|shard", base="large")
index("foreign_offset_past_shard", entry(b"train/dog.bin", offset=1 << 30), "file_range", "entry", "shard|images.tar", base="foreign_relative")
index("first_block_past_blocks", entry(b"big", first_block=3), "file_blocks", "entry", "block", base="large")
index("first_block_overflow_u64", entry(b"big", first_block=U64_MAX), "file_blocks", "entry", "block", base="large")
index("first_block_times_16_overflow_u64", entry(b"big", first_block=2**60), "file_blocks", "entry", "block", base="large")
index("first_block_of_small_record", entry(b"block", first_block=1), "file_blocks", "entry", "first block", base="large")

index("image_kind_3", entry(b"plain.jpg", image_kind=3), "entry_image", "entry", "image", base="images")
for field_ in ("width", "height", "exif bytes", "channels", "orientation", "bit depth"):
    index(
        f"image_kind_0_with_{field_.replace(' ', '_')}",
        entry(b"not-an-image.jpg", **{field_.replace(" ", "_"): 1}),
        "entry_image",
        "entry",
        "image",
        base="images",
    )
for label_, path_, fields_ in (
    ("jpeg_width_0", b"plain.jpg", {"width": 0}),
    ("png_height_0", b"rgb.png", {"height": 0}),
    ("jpeg_channels_0", b"plain.jpg", {"channels": 0}),
    ("png_channels_5", b"rgb.png", {"channels": 5}),
    ("jpeg_orientation_9", b"turned.jpg", {"orientation": 9}),
    ("jpeg_bit_depth_16", b"plain.jpg", {"bit_depth": 16}),
    ("png_bit_depth_12", b"grey.png", {"bit_depth": 12}),
    ("png_bit_depth_0", b"grey.png", {"bit_depth": 0}),
):
    index("image_" + label_, entry(path_, **fields_), "entry_image", "entry", "image|" + label_.split("_", 1)[1].rsplit("_", 1)[0].replace("_", " "), base="images")


# ---------------------------------------------------------------------------------------------- records


def flip_shard(name, place):
    def make(store):
        path = os.path.join(store, name)
        with open(path, "r+b") as file:
            at = place(Index(store))
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))
        if name.endswith(".tar"):
            os.utime(path, (golden.TAR_MTIME, golden.TAR_MTIME))

    return make


def record_byte(path, offset=0):
    return lambda opened: opened.entry(path)["offset"] + offset


def other_hash(path):
    return entry(path, hash=b"\1" * 16)


def flip_blocks_item(opened):
    opened.data[opened.section(4)["offset"] + 16 * opened.entry(b"big")["first block"] + 16] ^= 1


NAME_OF_SHARD = "shard-00000001-00000"
add("record_bit_flip", flip_shard(NAME_OF_SHARD, record_byte(b"zero-one", 4095)), "record_hash", SHARD, "checksum|hash")
add("record_bit_flip_of_1_mib", flip_shard(NAME_OF_SHARD, record_byte(b"block", 77)), "record_hash", SHARD, "checksum|hash", base="large")
add("record_bit_flip_in_block_2", flip_shard(NAME_OF_SHARD, record_byte(b"big", 2 * 2**20)), "record_block_hash", SHARD, "block 2", "checksum|hash", base="large")
add("record_bit_flip_foreign", flip_shard("../images.tar", record_byte(b"train/cat.bin")), "record_hash", r"images\.tar", "checksum|hash", base="foreign_relative")
index("record_hash", other_hash(b"zero-one"), "record_hash", "checksum|hash", file=SHARD)
index("record_hash_of_large", other_hash(b"big"), "record_hash", "checksum|hash", file=f"{SHARD}|{INDEX}", base="large")
index("block_hash_flip", flip_blocks_item, "record_block_hash", "block 1", "checksum|hash", file=SHARD, base="large")
index("record_misplaced", lambda opened: entry(b"a.txt", offset=opened.entry(b"a.txt")["offset"] + 1)(opened), "record_hash", "checksum|hash", file=SHARD)


# ---------------------------------------------------------------------------------------------- shard table


def shard(number=0, **fields):
    def change(opened):
        for field, value in fields.items():
            opened.shard(number)[field.replace("_", " ")] = value

    return change


def relocated(locator, number=0):
    def change(opened):
        offset = opened.append_names(locator)
        shard(number, locator_offset=offset, locator_bytes=len(locator))(opened)

    return change


ITEM = "shard 0|shard-00000001-00000"
index("shard_kind_0", shard(kind=0), "shard_kind", ITEM, "kind")
index("shard_kind_3", shard(kind=3), "shard_kind", ITEM, "kind")
index("shard_locator_kind_0", shard(locator_kind=0), "shard_locator_kind", ITEM, "locator")
index("shard_locator_kind_3", shard(locator_kind=3), "shard_locator_kind", ITEM, "locator")
index("shard_own_absolute", shard(locator_kind=2), "shard_locator_kind", ITEM, "locator|absolute")
index("shard_locator_empty", shard(locator_bytes=0), "shard_locator", "shard 0", "locator")
index("shard_locator_4096_bytes", relocated(b"l" * 4096), "shard_locator", "shard 0", "locator")
index("shard_locator_past_names", shard(locator_offset=100_000), "shard_locator", "shard 0", "locator")
index("shard_locator_overflow_u64", shard(locator_offset=U64_MAX), "shard_locator", "shard 0", "locator")
index("shard_locator_with_nul", relocated(b"shard\0"), "shard_locator", "shard 0", "locator")
index("shard_own_with_slash", relocated(b"./shard-00000001-00000"), "shard_locator", "shard 0", "locator|/")
index("shard_nanoseconds", shard(nanoseconds=10**9), "shard_nanoseconds", ITEM, "nanoseconds")
index("reserved_not_zero_shard_36", shard(reserved=1), "shard_item_reserved", ITEM, "reserved")
index("reserved_not_zero_shard_48", shard(reserved_48=bytes(15) + b"\1"), "shard_item_reserved", ITEM, "reserved")
index("shard_generation_0", shard(generation=0), "shard_generation", ITEM, "generation")
index("shard_generation_above", shard(generation=2), "shard_generation", ITEM, "generation")
index("shard_file_bytes", lambda opened: shard(file_bytes=opened.shard(0)["file bytes"] + 1)(opened), "shard_file_bytes", "size|bytes", file=SHARD)


def append_to(name):
    def make(store):
        path = os.path.join(store, name)
        status = os.stat(path)
        with open(path, "ab") as file:
            file.write(bytes(1))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    return make


def folder_for_shard(store):
    os.remove(os.path.join(store, NAME_OF_SHARD))
    os.mkdir(os.path.join(store, NAME_OF_SHARD))


add("shard_longer", append_to(NAME_OF_SHARD), "shard_file_bytes", SHARD, "size|bytes")
add("shard_truncated", lambda store: os.truncate(os.path.join(store, NAME_OF_SHARD), 200), "shard_file_bytes", SHARD, "size|bytes")
add("shard_missing", lambda store: os.remove(os.path.join(store, NAME_OF_SHARD)), "shard_missing", SHARD, "no such file|missing")
add("shard_is_a_folder", folder_for_shard, "shard_file_bytes", SHARD, "regular|directory|size|bytes")
add("foreign_longer", append_to("../images.tar"), "shard_file_bytes", r"images\.tar", "size|bytes", base="foreign_relative")
add("foreign_missing", lambda store: os.remove(os.path.join(store, "../images.tar")), "shard_missing", r"images\.tar", "no such file|missing", base="foreign_relative")


# ---------------------------------------------------------------------------------------------- own shards


def own_shard(name, change, defect, *words, unsealed=(), base="plain"):
    def make(store):
        opened = OwnShard(store, NAME_OF_SHARD)
        opened.unsealed.update(unsealed)
        change(opened)
        opened.save()

    add(name, make, defect, SHARD, *words, base=base)


def in_header(**fields):
    return lambda opened: set_fields(opened.header, fields)


def in_trailer(**fields):
    return lambda opened: set_fields(opened.trailer, fields)


def in_frame(**fields):
    return lambda opened: set_fields(opened.first_frame, fields)


def in_item(**fields):
    return lambda opened: set_fields(opened.first_item, fields)


def set_fields(record, fields):
    for field, value in fields.items():
        record[field.replace("_", " ")] = value


own_shard("shard_magic", in_header(magic=b"AUGURSHE"), "shard_magic", "magic|not a shard")
own_shard("shard_version_2", in_header(version=2), "shard_version", "version")
own_shard("shard_header_generation", lambda opened: (in_header(generation=2)(opened), in_trailer(generation=2)(opened)), "shard_header_generation", "generation")
own_shard("reserved_not_zero_shard_header_24", in_header(reserved=b"\1" + bytes(31)), "shard_reserved", "reserved")
own_shard("reserved_not_zero_shard_header_55", in_header(reserved=bytes(31) + b"\1"), "shard_reserved", "reserved")
own_shard("shard_header_checksum", in_header(checksum=1), "shard_checksum", "header", "checksum", unsealed=("header",))

own_shard("trailer_magic", in_trailer(magic=b"AUGURCAR"), "trailer_magic", "trailer|magic")
own_shard("trailer_version_2", in_trailer(version=2), "trailer_version", "version")
own_shard("trailer_number", in_trailer(number=1), "trailer_number", "number")
own_shard("trailer_generation", in_trailer(generation=2), "trailer_generation", "generation")
own_shard("trailer_catalogue_offset", lambda opened: in_trailer(catalogue_offset=opened.catalogue_at - 8)(opened), "trailer_catalogue_place", "catalogue|trailer")
own_shard("trailer_catalogue_bytes", in_trailer(catalogue_bytes=24), "trailer_catalogue_place", "catalogue|trailer")


def catalogue_wraps(opened):
    opened.trailer["catalogue offset"] = 2**64 - 64
    opened.trailer["catalogue bytes"] = opened.catalogue_end + 64


own_shard("trailer_catalogue_overflow_u64", catalogue_wraps, "trailer_catalogue_place", "catalogue|trailer", unsealed=("catalogue",))
own_shard("trailer_item_count", in_trailer(item_count=13), "trailer_item_count", "item count|items")
own_shard("catalogue_checksum", in_trailer(catalogue_checksum=1), "catalogue_checksum", "catalogue", "checksum", unsealed=("catalogue",))
own_shard("trailer_checksum", in_trailer(checksum=1), "trailer_checksum", "trailer|catalogue", "checksum", unsealed=("trailer",))
own_shard("frame_magic", in_frame(magic=b"CFRN"), "frame_magic", "frame|catalogue")
own_shard("frame_payload_past_end", in_frame(payload_bytes=1 << 20), "frame_payload_bytes", "frame|catalogue", unsealed=("frame",))
own_shard("frame_payload_overflow_u32", in_frame(payload_bytes=0xFFFFFFFF), "frame_payload_bytes", "frame|catalogue", unsealed=("frame",))
own_shard("frame_item_count", lambda opened: in_frame(item_count=6)(opened), "frame_item_count", "frame|catalogue", "item")
own_shard("reserved_not_zero_frame_12", in_frame(reserved=1), "frame_reserved", "frame|catalogue", "reserved|bad|zero")
own_shard("frame_checksum", in_frame(checksum=1), "frame_checksum", "frame|catalogue", "checksum", unsealed=("frame",))
own_shard("item_bytes_0", in_item(item_bytes=0), "catalogue_item", "frame|catalogue", "item")
own_shard("item_bytes_past_frame", in_item(item_bytes=1 << 20, path_bytes=(1 << 20) - 88), "catalogue_item", "frame|catalogue", "item")
own_shard("item_path_past_item", in_item(path_bytes=9), "catalogue_item", "frame|catalogue", "item")
own_shard("item_parts_overflow_u32", in_item(path_bytes=0xFFFFFFFF, target_bytes=1), "catalogue_item", "frame|catalogue", "item")
own_shard("item_blocks_overflow_u32", in_item(block_count=1 << 28), "catalogue_item", "frame|catalogue", "item")
own_shard("reserved_not_zero_item_44", in_item(reserved=1), "catalogue_item_reserved", "frame|catalogue", "item|reserved")


def of_item(path, **fields):
    return lambda opened: set_fields(opened.item(path), fields)


def item_path(path, new):
    def change(opened):
        at = opened.data.index(path, opened.catalogue_at)
        opened.data[at : at + len(new)] = new

    return change


# The first frame of the plain store holds the root, a, a/cat, a/dog, a/sub.
own_shard("item_padding_not_zero", lambda opened: item_path(b"a/sub\0\0\0", b"a/sub\0\0\1")(opened), "catalogue_item_reserved", "frame|catalogue", "item|padding")
own_shard("item_path_leaves_store", item_path(b"a/cat", b"../ca"), "catalogue_item_path", "frame|catalogue", "path|name")
own_shard("item_path_absolute", item_path(b"a/cat", b"/acat"), "catalogue_item_path", "frame|catalogue", "path|name")
own_shard("item_path_with_nul", item_path(b"a/cat", b"a/c\0t"), "catalogue_item_path", "frame|catalogue", "path|name")
own_shard("item_path_empty_component", item_path(b"a/cat", b"a//at"), "catalogue_item_path", "frame|catalogue", "path|name")
own_shard("item_root_not_a_directory", of_item(b"", mode=0o120777), "catalogue_item_path|catalogue_item_target", "frame|catalogue", "path|root|directory|target")
own_shard("item_type", of_item(b"a/cat", mode=0o010644), "catalogue_item_mode", "frame|catalogue", "type|mode")
own_shard("item_nanoseconds", of_item(b"a/cat", nanoseconds=10**9), "catalogue_item_mtime", "frame|catalogue", "nanoseconds")
own_shard("item_link_without_target", of_item(b"a/cat", mode=0o120777), "catalogue_item_target", "frame|catalogue", "target")
own_shard("item_file_without_shard", of_item(b"a/cat", shard=0xFFFFFFFF), "catalogue_item_record", "frame|catalogue", "shard")
own_shard("item_folder_with_shard", of_item(b"a", shard=0), "catalogue_item_record", "frame|catalogue", "shard")
own_shard("item_folder_with_hash", of_item(b"a", hash=b"\1" * 16), "catalogue_item_record", "frame|catalogue", "hash")
own_shard("item_large_without_blocks", of_item(b"a/cat", size=2**20 + 1), "catalogue_item_record", "frame|catalogue", "block")
own_shard("item_image_kind_3", of_item(b"a/cat", image_kind=3), "catalogue_item_image", "frame|catalogue", "image")


def cut_to(size):
    """A shard without records, cut; the index agrees with the new size."""

    def make(store):
        os.truncate(os.path.join(store, NAME_OF_SHARD), size)
        opened = Index(store)
        opened.shard(0)["file bytes"] = size
        opened.save()

    return make


FOLDERS_ONLY = [Generation(Folder({b"d": Folder()}), 1)]
add("shard_empty", cut_to(0), "shard_too_short", SHARD, "short|trunc|header|bytes", base=FOLDERS_ONLY)
add("shard_too_short", cut_to(63), "shard_too_short", SHARD, "short|trunc|header|bytes", base=FOLDERS_ONLY)
add("shard_too_short_for_trailer", cut_to(100), "shard_too_short", SHARD, "short|trunc|trailer|bytes", base=FOLDERS_ONLY)


def catalogue_cut_in_frame_header(store):
    """Ten zero bytes after the last frame: fewer than a frame header has."""
    opened = OwnShard(store, NAME_OF_SHARD)
    data = opened.data[: opened.catalogue_end] + bytes(10) + opened.data[opened.catalogue_end :]
    with open(opened.path, "wb") as file:
        file.write(data)
    longer = OwnShard(store, NAME_OF_SHARD)
    longer.trailer["catalogue bytes"] += 10
    longer.save()
    table = Index(store)
    table.shard(0)["file bytes"] = len(data)
    table.save()


add("frame_header_past_end", catalogue_cut_in_frame_header, "frame_payload_bytes", SHARD, "frame|catalogue")
