# SPDX-License-Identifier: Apache-2.0
"""Bad stores: the shard table, and own shards with their catalogues."""

import os

import golden
from bad_table import BOTH, INDEX, NAME_OF_SHARD, SHARD, U64_MAX, add, index
from make_store import File, Folder, Generation
from patch import Index, OwnShard, h128, sha256


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
index("shard_locator_kind_4", shard(locator_kind=4), "shard_locator_kind", ITEM, "locator")
index("shard_own_absolute", shard(locator_kind=2), "shard_locator_kind", ITEM, "locator|absolute")
index("shard_own_address", shard(locator_kind=3), "shard_locator_kind", ITEM, "locator|address")
index("shard_locator_empty", shard(locator_bytes=0), "shard_locator", "shard 0", "locator")
index("shard_locator_4096_bytes", relocated(b"l" * 4096), "shard_locator", "shard 0", "locator")
index("shard_locator_past_names", shard(locator_offset=100_000), "shard_locator", "shard 0", "locator")
index("shard_locator_overflow_u64", shard(locator_offset=U64_MAX), "shard_locator", "shard 0", "locator")
index("shard_locator_with_nul", relocated(b"shard\0"), "shard_locator", "shard 0", "locator")
index("shard_own_with_slash", relocated(b"./shard-00000001-00000"), "shard_locator", "shard 0", "locator|/")
index(
    "shard_relative_with_leading_slash",
    relocated(b"/images.tar"),
    "shard_locator",
    "shard 0",
    "locator",
    "/",
    base="foreign_relative",
)
index(
    "shard_absolute_without_leading_slash",
    shard(locator_kind=2),
    "shard_locator",
    "shard 0",
    "locator",
    "/|absolute",
    base="foreign_relative",
)


def addressed(name, address):
    def change(opened):
        relocated(address)(opened)
        shard(locator_kind=3)(opened)

    index(f"shard_address_{name}", change, "shard_locator", "shard 0", "locator|address", base="foreign_relative")


addressed("without_scheme", b"images.tar")
addressed("scheme_unknown", b"gs://bucket/images.tar")
addressed("scheme_upper_case", b"S3://bucket/images.tar")
addressed("scheme_file", b"file:///images.tar")
addressed("bucket_missing", b"s3:///images.tar")
addressed("bucket_upper_case", b"s3://Bucket/images.tar")
addressed("bucket_user", b"s3://key:secret@bucket/images.tar")
addressed("key_missing", b"s3://bucket")
addressed("key_empty", b"s3://bucket/")
addressed("key_empty_part", b"s3://bucket/a//images.tar")
addressed("key_folder", b"s3://bucket/tars/")
addressed("key_dot", b"s3://bucket/./images.tar")
addressed("key_dot_dot", b"s3://bucket/a/../images.tar")
addressed("key_1025_bytes", b"s3://bucket/" + b"k" * 1025)
addressed("key_query", b"s3://bucket/images.tar?versionId=1")
addressed("key_nul", b"s3://bucket/images\0.tar")
addressed("host_missing", b"https:///images.tar")
addressed("host_user", b"https://user@host/images.tar")
addressed("host_password", b"https://user:password@host/images.tar")
addressed("host_space", b"https://ho st/images.tar")
addressed("host_bracket_open", b"https://[::1/images.tar")
addressed("port_empty", b"https://host:/images.tar")
addressed("port_0", b"https://host:0/images.tar")
addressed("port_65536", b"https://host:65536/images.tar")
addressed("port_letters", b"https://host:80a/images.tar")
addressed("path_missing", b"https://host")
addressed("path_dot_dot", b"https://host/a/../images.tar")
addressed("path_dot_dot_encoded", b"https://host/a/%2E%2e/images.tar")
addressed("path_slash_encoded", b"https://host/a%2f..%2Fimages.tar")
addressed("path_query", b"https://host/images.tar?token=1")
addressed("path_fragment", b"https://host/images.tar#1")
addressed("path_not_encoded", b"https://host/im ages.tar")
addressed("path_beyond_ascii", "https://host/ü.tar".encode())
addressed("path_percent_alone", b"https://host/100%")
addressed("path_percent_no_hex", b"https://host/%4x.tar")
addressed("path_nul_encoded", b"https://host/images%00.tar")
index(
    "shard_address_not_allowed",
    lambda opened: (relocated(b"s3://bucket/images.tar")(opened), shard(locator_kind=3)(opened)),
    "shard_address",
    "not allowed",
    base="foreign_relative",
    file="s3://bucket/images.tar",
)
index("shard_nanoseconds", shard(nanoseconds=10**9), "shard_nanoseconds", ITEM, "nanoseconds")
index("shard_own_token_seconds", shard(seconds=1), "shard_own_token", ITEM, "token")
index("shard_own_token_negative", shard(seconds=-1), "shard_own_token", ITEM, "token")
index("shard_own_token_nanoseconds", shard(nanoseconds=1), "shard_own_token", ITEM, "token")
index("reserved_not_zero_shard_36", shard(reserved=1), "shard_item_reserved", ITEM, "reserved")
index("reserved_not_zero_shard_48", shard(reserved_48=bytes(15) + b"\1"), "shard_item_reserved", ITEM, "reserved")
index("shard_generation_0", shard(generation=0), "shard_generation", ITEM, "generation")
index("shard_generation_above", shard(generation=2), "shard_generation", ITEM, "generation")
index(
    "shard_file_bytes",
    lambda opened: shard(file_bytes=opened.shard(0)["file bytes"] + 1)(opened),
    "shard_file_bytes",
    "size|bytes",
    file=SHARD,
)


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
add(
    "shard_truncated",
    lambda store: os.truncate(os.path.join(store, NAME_OF_SHARD), 200),
    "shard_file_bytes",
    SHARD,
    "size|bytes",
)
add(
    "shard_missing",
    lambda store: os.remove(os.path.join(store, NAME_OF_SHARD)),
    "shard_missing",
    SHARD,
    "no such file|missing",
)
add("shard_is_a_folder", folder_for_shard, "shard_file_bytes", SHARD, "regular|directory|size|bytes")
add(
    "foreign_longer",
    append_to("../images.tar"),
    "shard_file_bytes",
    r"images\.tar",
    "size|bytes",
    base="foreign_relative",
)
add(
    "foreign_missing",
    lambda store: os.remove(os.path.join(store, "../images.tar")),
    "shard_missing",
    r"images\.tar",
    "no such file|missing",
    base="foreign_relative",
)


# Own shards.


def own_shard(name, change, defect, *words, unsealed=(), base="plain", versions=BOTH):
    def make(store):
        opened = OwnShard(store, NAME_OF_SHARD)
        opened.unsealed.update(unsealed)
        change(opened)
        opened.save()

    add(name, make, defect, SHARD, *words, base=base, versions=versions)


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
own_shard("shard_version_3", in_header(version=3), "shard_version", "version")
own_shard(
    "shard_header_generation",
    lambda opened: (in_header(generation=2)(opened), in_trailer(generation=2)(opened)),
    "shard_header_generation",
    "generation",
)
own_shard(
    "shard_header_number",
    lambda opened: (in_header(number=1)(opened), in_trailer(number=1)(opened)),
    "shard_header_number",
    "number",
)
own_shard("shard_base_own", in_header(base_generation=1), "shard_base_generation", "base generation")
own_shard("shard_base_overflow_u64", in_header(base_generation=U64_MAX), "shard_base_generation", "base generation")
own_shard("reserved_not_zero_shard_header_32", in_header(reserved=b"\1" + bytes(23)), "shard_reserved", "reserved")
own_shard("reserved_not_zero_shard_header_55", in_header(reserved=bytes(23) + b"\1"), "shard_reserved", "reserved")
own_shard("shard_header_checksum", in_header(checksum=1), "shard_checksum", "header", "checksum", unsealed=("header",))

own_shard("trailer_magic", in_trailer(magic=b"AUGURCAR"), "trailer_magic", "trailer|magic")
own_shard(
    "trailer_version",
    lambda opened: in_trailer(version=3 - opened.trailer["version"])(opened),
    "trailer_version",
    "version",
)
own_shard("trailer_version_3", in_trailer(version=3), "trailer_version", "version")
own_shard("trailer_number", in_trailer(number=1), "trailer_number", "number")
own_shard("trailer_generation", in_trailer(generation=2), "trailer_generation", "generation")
own_shard(
    "trailer_catalogue_offset",
    lambda opened: in_trailer(catalogue_offset=opened.catalogue_at - 8)(opened),
    "trailer_catalogue_place",
    "catalogue|trailer",
)
own_shard("trailer_catalogue_bytes", in_trailer(catalogue_bytes=24), "trailer_catalogue_place", "catalogue|trailer")


def catalogue_wraps(opened):
    opened.trailer["catalogue offset"] = 2**64 - 64
    opened.trailer["catalogue bytes"] = opened.catalogue_end + 64


own_shard(
    "trailer_catalogue_overflow_u64",
    catalogue_wraps,
    "trailer_catalogue_place",
    "catalogue|trailer",
    unsealed=("catalogue",),
)
own_shard("trailer_item_count", in_trailer(item_count=13), "trailer_item_count", "item count|items")
own_shard(
    "catalogue_checksum",
    in_trailer(catalogue_checksum=1),
    "catalogue_checksum",
    "catalogue",
    "checksum",
    unsealed=("catalogue",),
)
own_shard(
    "trailer_checksum",
    in_trailer(checksum=1),
    "trailer_checksum",
    "trailer|catalogue",
    "checksum",
    unsealed=("trailer",),
)
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


def other_base(store):
    opened = OwnShard(store, "shard-00000002-00002")
    opened.header["base generation"] = 0
    opened.save()


add(
    "shard_base_differs",
    other_base,
    "shard_base_differs",
    "shard-00000002-0000[12]",
    "base generation",
    base="two_generations",
)

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
add(
    "shard_too_short_for_trailer", cut_to(100), "shard_too_short", SHARD, "short|trunc|trailer|bytes", base=FOLDERS_ONLY
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
