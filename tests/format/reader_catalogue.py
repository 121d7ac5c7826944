# SPDX-License-Identifier: Apache-2.0
"""Section 6 of FORMAT.md: an own shard understood alone, by its header, trailer and catalogue."""

import dataclasses
import os
import stat
import struct

from reader_entry import IMAGE_FORMAT, NO_IMAGE, NO_SHARD, Image, good_name, image_defect, known_type
from reader_error import DIGEST_OF_NOTHING, HASH_OF_NOTHING, NO_DIGEST, refuse_if, show, xxh3_64
from reader_header import BLOCK_BYTES


@dataclasses.dataclass(frozen=True)
class CatalogueItem:
    path: bytes
    mode: int
    mtime: tuple
    size: int
    shard: int
    offset: int
    hash: bytes
    image: Image
    target: bytes
    blocks: tuple  # items of BLOCKS
    digest: bytes  # empty in version 1


def parse_catalogue_item(name, version, payload, at):
    """The item at byte `at` of the payload, and its length."""

    def check(condition, defect, text):
        refuse_if(condition, defect, f"{name}: catalogue item: {text}")

    head, block_bytes = (88, 16) if version == 1 else (120, 48)
    check(len(payload) - at < head, "catalogue_item", "past the end of its frame")
    (
        item_bytes,
        path_bytes,
        target_bytes,
        block_count,
        mode,
        nanoseconds,
        seconds,
        size,
        shard,
        reserved,
        offset,
        hash_,
    ) = struct.unpack_from("<IIIIIIqQIIQ16s", payload, at)
    used = head + path_bytes + target_bytes + block_bytes * block_count
    check(
        item_bytes % 8 or not used <= item_bytes < used + 8,
        "catalogue_item",
        f"item bytes {item_bytes}: its parts have {used}",
    )
    check(at + item_bytes > len(payload), "catalogue_item", "past the end of its frame")
    check(reserved, "catalogue_item_reserved", "reserved field is not zero")
    check(any(payload[at + used : at + item_bytes]), "catalogue_item_reserved", "padding is not zero")
    image = Image(*struct.unpack_from(IMAGE_FORMAT, payload, at + 72))
    digest = payload[at + 88 : at + head]
    start = at + head
    path = payload[start : start + path_bytes]
    start += path_bytes
    target = payload[start : start + target_bytes]
    start += target_bytes
    blocks = tuple(payload[start + block_bytes * i : start + block_bytes * (i + 1)] for i in range(block_count))

    check(
        path and not all(good_name(part) for part in path.split(b"/")),
        "catalogue_item_path",
        f"bad path {show(path)!r}",
    )
    check(path_bytes > 4095, "catalogue_item_path", f"path of {path_bytes} bytes: over 4095")
    check(not known_type(mode), "catalogue_item_mode", f"{show(path)!r}: type {mode:o}")
    check(nanoseconds > 999_999_999, "catalogue_item_mtime", f"{show(path)!r}: nanoseconds {nanoseconds}")
    is_link, is_file = stat.S_ISLNK(mode), stat.S_ISREG(mode)
    check(not path and not stat.S_ISDIR(mode), "catalogue_item_path", "the root is not a directory")
    check(
        (is_link and (not 0 < target_bytes <= 4095 or b"\0" in target)) or (not is_link and target_bytes),
        "catalogue_item_target",
        f"{show(path)!r}: bad target",
    )
    has_record = is_file and size > 0
    check(has_record == (shard == NO_SHARD), "catalogue_item_record", f"{show(path)!r}: shard {shard} with size {size}")
    check(
        not is_file and (size or any(hash_) or digest not in (b"", NO_DIGEST)),
        "catalogue_item_record",
        f"{show(path)!r}: size or hash, but not a regular file",
    )
    check(
        is_file and size == 0 and (hash_ != HASH_OF_NOTHING or digest not in (b"", DIGEST_OF_NOTHING)),
        "catalogue_item_record",
        f"{show(path)!r}: hash of an empty file is not that of no bytes",
    )
    check(
        block_count != (-(-size // BLOCK_BYTES) if size > BLOCK_BYTES else 0),
        "catalogue_item_record",
        f"{show(path)!r}: block count {block_count} with size {size}",
    )
    wrong = image_defect(image) if is_file else (None if image == NO_IMAGE else "an image field is not 0")
    check(wrong, "catalogue_item_image", f"{show(path)!r}: {wrong}")
    return (
        CatalogueItem(path, mode, (seconds, nanoseconds), size, shard, offset, hash_, image, target, blocks, digest),
        item_bytes,
    )


def parse_catalogue(name, version, data):
    items = []
    at = 0
    while at < len(data):
        frame = f"{name}: catalogue frame at {at}"
        refuse_if(len(data) - at < 24, "frame_payload_bytes", f"{frame}: header past the end")
        magic, payload_bytes, item_count, reserved, checksum = struct.unpack_from("<4sIIIQ", data, at)
        refuse_if(magic != b"CFRM", "frame_magic", f"{frame}: magic is not CFRM")
        refuse_if(reserved, "frame_reserved", f"{frame}: reserved field is not zero")
        refuse_if(
            at + 24 + payload_bytes > len(data),
            "frame_payload_bytes",
            f"{frame}: payload bytes {payload_bytes}: past the end",
        )
        payload = data[at + 24 : at + 24 + payload_bytes]
        refuse_if(xxh3_64(payload) != checksum, "frame_checksum", f"{frame}: payload checksum mismatch")
        count = 0
        inner = 0
        while inner < payload_bytes:
            item, item_bytes = parse_catalogue_item(name, version, payload, inner)
            items.append(item)
            inner += item_bytes
            count += 1
        refuse_if(
            count != item_count, "frame_item_count", f"{frame}: item count {item_count}: the payload has {count} items"
        )
        at += 24 + payload_bytes
    return items


@dataclasses.dataclass(frozen=True)
class ShardHeader:
    version: int
    number: int
    generation: int
    base_generation: int


@dataclasses.dataclass(frozen=True)
class Catalogue:
    offset: int  # in the shard's file
    items: list


def pread_all(fd, size, offset, name):
    parts = []
    while size:
        part = os.pread(fd, min(size, 1 << 24), offset)
        refuse_if(not part, "shard_too_short", f"{name}: truncated at byte {offset}")
        parts.append(part)
        offset += len(part)
        size -= len(part)
    return b"".join(parts)


def parse_shard_header(name, raw):
    refuse_if(len(raw) < 64, "shard_too_short", f"{name}: {len(raw)} bytes: too short for a shard header")
    magic, version, number, generation, base = struct.unpack_from("<8sIIQQ", raw, 0)
    refuse_if(magic != b"AUGURSHD", "shard_magic", f"{name}: magic is not AUGURSHD: not a shard")
    refuse_if(version not in (1, 2), "shard_version", f"{name}: version {version}: this reader knows 1 and 2")
    refuse_if(
        struct.unpack_from("<Q", raw, 56)[0] != xxh3_64(raw[:56]), "shard_checksum", f"{name}: header checksum mismatch"
    )
    refuse_if(
        base >= generation,
        "shard_base_generation",
        f"{name}: base generation {base}: not below the generation {generation}",
    )
    refuse_if(any(raw[32:56]), "shard_reserved", f"{name}: reserved field of the header is not zero")
    return ShardHeader(version, number, generation, base)


def read_catalogue(fd, name, header):
    """The Catalogue of the complete own shard that `fd` has open."""
    size = os.fstat(fd).st_size
    refuse_if(size < 128, "shard_too_short", f"{name}: {size} bytes: too short for a trailer")
    raw = pread_all(fd, 64, size - 64, name)
    magic, version, number, generation, offset, length, items, checksum = struct.unpack_from("<8sIIQQQQQ", raw, 0)
    refuse_if(magic != b"AUGURCAT", "trailer_magic", f"{name}: trailer magic is not AUGURCAT")
    refuse_if(
        version != header.version,
        "trailer_version",
        f"{name}: trailer version {version}: the header says {header.version}",
    )
    refuse_if(
        struct.unpack_from("<Q", raw, 56)[0] != xxh3_64(raw[:56]),
        "trailer_checksum",
        f"{name}: trailer checksum mismatch",
    )
    refuse_if(
        number != header.number,
        "trailer_number",
        f"{name}: trailer shard number {number}: the header says {header.number}",
    )
    refuse_if(
        generation != header.generation,
        "trailer_generation",
        f"{name}: trailer generation {generation}: the header says {header.generation}",
    )
    refuse_if(
        offset < 64 or offset + length != size - 64,
        "trailer_catalogue_place",
        f"{name}: trailer: catalogue offset {offset} and bytes {length} do not end where the trailer begins",
    )
    data = pread_all(fd, length, offset, name)
    refuse_if(xxh3_64(data) != checksum, "catalogue_checksum", f"{name}: catalogue checksum mismatch")
    listing = parse_catalogue(name, header.version, data)
    refuse_if(
        len(listing) != items,
        "trailer_item_count",
        f"{name}: trailer item count {items}: the frames have {len(listing)}",
    )
    return Catalogue(offset, listing)
