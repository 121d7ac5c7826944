# SPDX-License-Identifier: Apache-2.0
"""Bad stores: entries of the index, and the records that they name."""

import os
import struct

import golden
from bad_table import INDEX, NAME_OF_SHARD, SHARD, U64_MAX, add, index, set_fields
from patch import Index


def entry(path, **fields):
    def change(opened):
        set_fields(opened.entry(path), fields)

    return change


def renamed(path, name):
    def change(opened):
        record = opened.entry(path)
        record["name offset"], record["name bytes"] = opened.append_names(name), len(name)

    return change


for label_, mode_ in (
    ("fifo", 0o010644),
    ("socket", 0o140644),
    ("device", 0o060644),
    ("none", 0o644),
    ("high_bits", 0o1100644),
):
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


index("children_not_sorted", swap_names, "children_order", "entry 4|entry 3|entry 0", "ascending|sorted|order|above")
index(
    "children_same_name",
    same_names,
    "children_order",
    "entry 4|entry 3|entry 0",
    "ascending|sorted|order|above|twice|same",
)
index("child_of_another", entry(b"a/sub", parent=0), "entry_orphan|child_parent", "entry 12|entry 1", "parent|child")
index("children_shared", entry(b"empty-folder", size=3, offset=10), "child_parent", "entry 10|entry 7", "parent")
index("children_lost", entry(b"a", size=2), "entry_orphan", "entry 12|entry 1", "parent|child")
index(
    "directory_size_past_entries",
    entry(b"a/sub", size=2),
    "directory_range",
    "entry 12",
    "children|size|entry table|entry count",
)
index(
    "directory_offset_past_entries",
    entry(b"a/sub", offset=14),
    "directory_range",
    "entry 12",
    "children|offset|entry table",
)
index(
    "directory_size_overflow_u64",
    entry(b"a/sub", size=U64_MAX),
    "directory_range",
    "entry 12",
    "children|size|entry table",
)
index(
    "directory_offset_overflow_u64",
    entry(b"a/sub", offset=U64_MAX),
    "directory_range",
    "entry 12",
    "children|offset|entry table",
)
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
for kind_, path_, number_ in (("directory", b"empty-folder", 7), ("link", b"link", 8)):
    index(
        f"{kind_}_digest",
        entry(path_, digest=b"\1" + bytes(31)),
        "entry_unused_field",
        f"entry {number_}",
        "SHA-256",
        versions=(2,),
    )
index("empty_file_digest", entry(b"empty-file", digest=bytes(32)), "empty_file", "entry 6", "digest|SHA", versions=(2,))
index("empty_file_hash", entry(b"empty-file", hash=bytes(16)), "empty_file", "entry 6", "hash|empty")

index("file_shard_past_table", entry(b"a.txt", shard=1), "file_shard", "entry 3", "shard")
index("file_shard_none", entry(b"a.txt", shard=0xFFFFFFFF), "file_shard", "entry 3", "shard")
index("file_offset_past_shard", entry(b"a.txt", offset=1 << 40), "file_range", "entry 3", "shard")
index("file_offset_overflow_u64", entry(b"a.txt", offset=U64_MAX - 1), "file_range", "entry 3", "shard")
index("file_offset_in_shard_header", entry(b"a.txt", offset=63), "file_range", "entry 3", "shard")
index("file_size_past_shard", entry(b"a.txt", size=100_000), "file_range", "entry 3", "shard")
index("file_size_overflow_u64", entry(b"big", size=U64_MAX), "file_range", "entry", "block|shard", base="large")
index(
    "foreign_offset_past_shard",
    entry(b"train/dog.bin", offset=1 << 30),
    "file_range",
    "entry",
    "shard|images.tar",
    base="foreign_relative",
)
index("first_block_past_blocks", entry(b"big", first_block=3), "file_blocks", "entry", "block", base="large")
index("first_block_overflow_u64", entry(b"big", first_block=U64_MAX), "file_blocks", "entry", "block", base="large")
index(
    "first_block_times_16_overflow_u64", entry(b"big", first_block=2**60), "file_blocks", "entry", "block", base="large"
)
index(
    "first_block_of_small_record", entry(b"block", first_block=1), "file_blocks", "entry", "first block", base="large"
)

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
    index(
        "image_" + label_,
        entry(path_, **fields_),
        "entry_image",
        "entry",
        "image|" + label_.split("_", 1)[1].rsplit("_", 1)[0].replace("_", " "),
        base="images",
    )


# Records.


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


def other_digest(path):
    return entry(path, digest=b"\1" * 32)


def flip_block_digest(opened):
    opened.data[opened.section(4)["offset"] + opened.block_bytes * (opened.entry(b"big")["first block"] + 1) + 16] ^= 1


def flip_blocks_item(opened):
    opened.data[opened.section(4)["offset"] + opened.block_bytes * (opened.entry(b"big")["first block"] + 1)] ^= 1


add("record_bit_flip", flip_shard(NAME_OF_SHARD, record_byte(b"zero-one", 4095)), "record_hash", SHARD, "checksum|hash")
add(
    "record_bit_flip_of_1_mib",
    flip_shard(NAME_OF_SHARD, record_byte(b"block", 77)),
    "record_hash",
    SHARD,
    "checksum|hash",
    base="large",
)
add(
    "record_bit_flip_in_block_2",
    flip_shard(NAME_OF_SHARD, record_byte(b"big", 2 * 2**20)),
    "record_block_hash",
    SHARD,
    "block 2",
    "checksum|hash",
    base="large",
)
add(
    "record_bit_flip_foreign",
    flip_shard("../images.tar", record_byte(b"train/cat.bin")),
    "record_hash",
    r"images\.tar",
    "checksum|hash",
    base="foreign_relative",
)
index("record_hash", other_hash(b"zero-one"), "record_hash", "checksum|hash", file=SHARD)
index("record_hash_of_large", other_hash(b"big"), "record_hash", "checksum|hash", file=f"{SHARD}|{INDEX}", base="large")
index("record_digest", other_digest(b"zero-one"), "record_digest", "checksum|hash", file=SHARD, versions=(2,))
index(
    "record_digest_of_large",
    other_digest(b"big"),
    "record_digest",
    "checksum|hash",
    file=f"{SHARD}|{INDEX}",
    base="large",
    versions=(2,),
)
index(
    "block_digest_flip",
    flip_block_digest,
    "record_block_hash",
    "block 1",
    "checksum|hash",
    file=SHARD,
    base="large",
    versions=(2,),
)
index("block_hash_flip", flip_blocks_item, "record_block_hash", "block 1", "checksum|hash", file=SHARD, base="large")
index(
    "record_misplaced",
    lambda opened: entry(b"a.txt", offset=opened.entry(b"a.txt")["offset"] + 1)(opened),
    "record_hash",
    "checksum|hash",
    file=SHARD,
)


# LISTING. The root of the base has a, k, m and z, which are entries 1 to 4, and lists m, z, a, k.


def listing(number, listed=None, place=None):
    def change(opened):
        at = opened.section(6)["offset"] + 16 * number
        for offset, value in ((0, listed), (8, place)):
            if value is not None:
                struct.pack_into("<Q", opened.data, at + offset, value)

    return change


def list_m_twice(opened):
    """As one who counts places alone would not see: each is below the number of children."""
    listing(2, listed=2)(opened)


def add_listing(name, change, defect, *words):
    index(name, change, defect, *words, base="listing", versions=(2,))


add_listing("listing_names_a_child_twice", list_m_twice, "listing_inverse", "entry", "place|listed")
add_listing("listing_place_of_another", listing(1, place=3), "listing_inverse", "entry", "place|listed")
add_listing("listing_past_the_folder", listing(1, listed=4), "listing_range", "entry 1", "leaves")
add_listing("listing_place_past_the_folder", listing(1, place=4), "listing_range", "entry 1|entry 3", "place|leaves")
add_listing("listing_overflow_u64", listing(1, listed=U64_MAX), "listing_range", "entry 1", "leaves")
add_listing("listing_place_overflow_u64", listing(4, place=U64_MAX), "listing_range", "entry 4|entry 2", "place|leaves")
add_listing("listing_of_the_root", listing(0, place=1), "listing_root", "entry 0|root", "listing")
