# SPDX-License-Identifier: Apache-2.0
"""Bad stores: the catalogues of own shards, their frames and their items."""

import golden
from bad_table import INDEX, NAME_OF_SHARD, SHARD, U64_MAX, add, own_shard, set_fields
from store_content import File, Folder, Generation
from patch import Index, OwnShard, h128, sha256


def in_frame(**fields):
    return lambda opened: set_fields(opened.first_frame, fields)


def in_item(**fields):
    return lambda opened: set_fields(opened.first_item, fields)


own_shard("frame_magic", in_frame(magic=b"CFRN"), "frame_magic", "frame|catalogue")
own_shard(
    "frame_payload_past_end",
    in_frame(payload_bytes=1 << 20),
    "frame_payload_bytes",
    "frame|catalogue",
    unsealed=("frame",),
)
own_shard(
    "frame_payload_overflow_u32",
    in_frame(payload_bytes=0xFFFFFFFF),
    "frame_payload_bytes",
    "frame|catalogue",
    unsealed=("frame",),
)
own_shard(
    "frame_item_count",
    lambda opened: in_frame(item_count=6)(opened),
    "frame_item_count",
    "frame|catalogue",
    "item|bytes",
)
own_shard("reserved_not_zero_frame_12", in_frame(reserved=1), "frame_reserved", "frame|catalogue", "reserved|bad|zero")
own_shard("frame_checksum", in_frame(checksum=1), "frame_checksum", "frame|catalogue", "checksum", unsealed=("frame",))
own_shard("item_bytes_0", in_item(item_bytes=0), "catalogue_item", "frame|catalogue", "item")
own_shard(
    "item_bytes_past_frame",
    lambda opened: in_item(item_bytes=1 << 20, path_bytes=(1 << 20) - opened.item_head)(opened),
    "catalogue_item",
    "frame|catalogue",
    "item",
)
own_shard("item_path_past_item", in_item(path_bytes=9), "catalogue_item", "frame|catalogue", "item")
own_shard(
    "item_parts_overflow_u32",
    in_item(path_bytes=0xFFFFFFFF, target_bytes=1),
    "catalogue_item",
    "frame|catalogue",
    "item",
)
own_shard("item_blocks_overflow_u32", in_item(block_count=1 << 28), "catalogue_item", "frame|catalogue", "item")
own_shard(
    "reserved_not_zero_item_44", in_item(reserved=1), "catalogue_item_reserved", "frame|catalogue", "item|reserved"
)


EMPTY_FILE = [Generation(Folder({b"one": File(b"1"), b"two": File(b"")}))]


def of_item(path, **fields):
    return lambda opened: set_fields(opened.item(path), fields)


def item_path(path, new):
    def change(opened):
        at = opened.data.index(path, opened.catalogue_at)
        opened.data[at : at + len(new)] = new

    return change


# The first frame of the plain store holds the root, a, a/cat, a/dog, a/sub.
own_shard(
    "item_padding_not_zero",
    lambda opened: item_path(b"a/sub\0\0\0", b"a/sub\0\0\1")(opened),
    "catalogue_item_reserved",
    "frame|catalogue",
    "item|padding",
)
own_shard(
    "item_path_leaves_store", item_path(b"a/cat", b"../ca"), "catalogue_item_path", "frame|catalogue", "path|name"
)
own_shard("item_path_absolute", item_path(b"a/cat", b"/acat"), "catalogue_item_path", "frame|catalogue", "path|name")
own_shard("item_path_with_nul", item_path(b"a/cat", b"a/c\0t"), "catalogue_item_path", "frame|catalogue", "path|name")
own_shard(
    "item_path_empty_component", item_path(b"a/cat", b"a//at"), "catalogue_item_path", "frame|catalogue", "path|name"
)
own_shard(
    "item_root_not_a_directory",
    of_item(b"", mode=0o120777),
    "catalogue_item_path|catalogue_item_target",
    "frame|catalogue",
    "path|root|directory|target",
)
own_shard("item_type", of_item(b"a/cat", mode=0o010644), "catalogue_item_mode", "frame|catalogue", "type|mode")
own_shard(
    "item_nanoseconds", of_item(b"a/cat", nanoseconds=10**9), "catalogue_item_mtime", "frame|catalogue", "nanoseconds"
)
own_shard(
    "item_link_without_target", of_item(b"a/cat", mode=0o120777), "catalogue_item_target", "frame|catalogue", "target"
)
own_shard(
    "item_file_without_shard", of_item(b"a/cat", shard=0xFFFFFFFF), "catalogue_item_record", "frame|catalogue", "shard"
)
own_shard("item_folder_with_shard", of_item(b"a", shard=0), "catalogue_item_record", "frame|catalogue", "shard")
own_shard("item_folder_with_hash", of_item(b"a", hash=b"\1" * 16), "catalogue_item_record", "frame|catalogue", "hash")
own_shard(
    "item_large_without_blocks", of_item(b"a/cat", size=2**20 + 1), "catalogue_item_record", "frame|catalogue", "block"
)
own_shard("item_image_kind_3", of_item(b"a/cat", image_kind=3), "catalogue_item_image", "frame|catalogue", "image")


own_shard(
    "item_empty_file_hash",
    of_item(b"two", hash=bytes(16)),
    "catalogue_item_record",
    "catalogue",
    "hash",
    base=EMPTY_FILE,
)
own_shard("item_shard_past_table", of_item(b"a/cat", shard=1), "item_shard", "catalogue", "shard")
own_shard(
    "item_offset_in_shard_header", of_item(b"a/cat", offset=63), "item_range", "catalogue", "header|offset|leaves"
)
own_shard("item_offset_past_shard", of_item(b"a/cat", offset=1 << 40), "item_range", "catalogue", "offset|leaves")
own_shard("item_offset_overflow_u64", of_item(b"a/cat", offset=U64_MAX), "item_range", "catalogue", "offset|leaves")
own_shard("item_hash", of_item(b"a/cat", hash=b"\3" * 16), "item_hash", "catalogue", "hash")


def flip_block_hash(opened):
    item = opened.item(b"big")
    item.flip(opened.item_head + len(b"big"))


def flip_block_digest(opened):
    opened.item(b"big").flip(opened.item_head + len(b"big") + 16)


own_shard("item_block_hash", flip_block_hash, "item_hash", "catalogue", "hash", base="large")
own_shard("item_block_digest", flip_block_digest, "item_hash", "catalogue", "hash", base="large", versions=(2,))
own_shard("item_digest", of_item(b"a/cat", digest=b"\3" * 32), "item_hash", "catalogue", "hash", versions=(2,))
own_shard(
    "item_folder_with_digest",
    of_item(b"a", digest=b"\1" * 32),
    "catalogue_item_record",
    "frame|catalogue",
    "hash",
    versions=(2,),
)
own_shard(
    "item_empty_file_digest",
    of_item(b"two", digest=bytes(32)),
    "catalogue_item_record",
    "catalogue",
    "hash",
    base=EMPTY_FILE,
    versions=(2,),
)
own_shard(
    "record_not_in_catalogue",
    lambda opened: of_item(b"a/dog", offset=opened.item(b"a/dog")["offset"] + 1)(opened),
    "record_not_in_catalogue",
    "catalogue",
    "record",
)


own_shard(
    "item_record_in_catalogue",
    lambda opened: of_item(b"a/dog", offset=opened.catalogue_at - 4)(opened),
    "record_in_catalogue",
    "catalogue",
    "record",
    "end",
)


def record_in_catalogue(store):
    """A file of as many bytes as before, whose last one is the first of the catalogue; its hash is right."""
    own = OwnShard(store, NAME_OF_SHARD)
    opened = Index(store)
    record = opened.entry(b"a.txt")
    record["offset"] = own.catalogue_at + 1 - record["size"]
    data = own.data[record["offset"] : record["offset"] + record["size"]]
    record["hash"] = h128(data)
    if opened.version > 1:
        record["digest"] = sha256(data)
    opened.save()


add("record_in_catalogue", record_in_catalogue, "record_in_catalogue", SHARD, "catalogue", "record", "end")

LONG_PATH = golden.with_path_of(4096)
add("path_4096_bytes", lambda store: None, "path_too_long", INDEX, "path", "4,?095", base=[Generation(LONG_PATH)])
# The path is in no index any more, but in the catalogue.
add(
    "item_path_4096_bytes",
    lambda store: None,
    "catalogue_item_path",
    SHARD,
    "path",
    "4,?095",
    base=[Generation(LONG_PATH), Generation(Folder({b"f": File(b"1")}))],
)


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
