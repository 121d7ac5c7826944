# SPDX-License-Identifier: Apache-2.0
"""Bad stores: the headers and trailers of own shards."""

import os

from bad_table import NAME_OF_SHARD, SHARD, U64_MAX, add, own_shard, set_fields
from store_content import Folder, Generation
from patch import Index, OwnShard


def in_header(**fields):
    return lambda opened: set_fields(opened.header, fields)


def in_trailer(**fields):
    return lambda opened: set_fields(opened.trailer, fields)


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
