# SPDX-License-Identifier: Apache-2.0
"""Bad stores: the shard table of the index, and shards that are not as it says."""

import os

from bad_table import NAME_OF_SHARD, SHARD, U64_MAX, add, index, set_fields


def shard(number=0, **fields):
    def change(opened):
        set_fields(opened.shard(number), fields)

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
