# SPDX-License-Identifier: Apache-2.0
"""Section 5 of FORMAT.md: what an entry of the index is, and the rules that need no shard file and no sibling."""

import dataclasses
import stat
import struct

from reader_error import DIGEST_OF_NOTHING, HASH_OF_NOTHING, NO_DIGEST, refuse_if, show
from reader_header import BLOCK_BYTES, BLOCKS, ENTRIES, NAMES, SHARD_BYTES, SHARDS

NO_SHARD = 0xFFFFFFFF
OWN, FOREIGN = 1, 2  # kinds of shards


@dataclasses.dataclass(frozen=True)
class Image:
    width: int
    height: int
    exif_bytes: int
    kind: int
    channels: int
    orientation: int
    bit_depth: int


NO_IMAGE = Image(0, 0, 0, 0, 0, 0, 0)
IMAGE_FORMAT = "<IIIBBBB"


@dataclasses.dataclass(frozen=True)
class Entry:
    number: int
    name: bytes
    mode: int
    mtime: tuple  # seconds, nanoseconds
    shard: int
    size: int
    offset: int
    hash: bytes
    parent: int
    first_block: int
    image: Image
    digest: bytes  # empty in version 1

    @property
    def is_directory(self):
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self):
        return stat.S_ISREG(self.mode)

    @property
    def is_symlink(self):
        return stat.S_ISLNK(self.mode)


def known_type(mode):
    return mode & ~0o7777 in (stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK)


def good_name(name):
    return 0 < len(name) <= 255 and name not in (b".", b"..") and b"/" not in name and b"\0" not in name


def image_defect(image):
    """What is wrong with the image fields, or None."""
    if image.kind == 0:
        return None if image == NO_IMAGE else "image kind 0, but an image field is not 0"
    if image.kind > 2:
        return f"image kind {image.kind}: not 0, 1 or 2"
    if image.width == 0 or image.height == 0:
        return "image width or height 0"
    if not 1 <= image.channels <= 4:
        return f"image channels {image.channels}: not 1 to 4"
    if image.orientation > 8:
        return f"image orientation {image.orientation}: over 8"
    if image.bit_depth not in ((8, 12) if image.kind == 1 else (1, 2, 4, 8, 16)):
        return f"image bit depth {image.bit_depth}: not one of its kind"
    return None


def mode_of(index, number):
    at = number * index.layout.item_bytes[ENTRIES] + 12
    return struct.unpack_from("<I", index.section_bytes(ENTRIES, at, 4))[0]


def check_regular(index, check, shard, size, offset, hash_, first_block):
    if size == 0:
        check(shard != NO_SHARD, "empty_file", f"shard {shard} of an empty file: not 0xFFFFFFFF")
        check(offset, "empty_file", f"offset {offset} of an empty file: not 0")
        check(first_block, "empty_file", f"first block {first_block} of an empty file: not 0")
        check(hash_ != HASH_OF_NOTHING, "empty_file", "hash of an empty file is not that of no bytes")
        return
    check(shard >= index.header.shard_count, "file_shard", f"shard {shard}: not below the shard count")
    item = index.section_bytes(SHARDS, shard * SHARD_BYTES, SHARD_BYTES)
    shard_bytes = struct.unpack_from("<Q", item, 16)[0]
    first_byte = 64 if struct.unpack_from("<H", item, 0)[0] == OWN else 0
    check(
        offset < first_byte or offset + size > shard_bytes,
        "file_range",
        f"offset {offset} and size {size} leave shard {shard}, which has {shard_bytes} bytes",
    )
    if size > BLOCK_BYTES:
        blocks = -(-size // BLOCK_BYTES)
        room = index.header.sections[BLOCKS].bytes // index.layout.item_bytes[BLOCKS]
        check(
            first_block + blocks > room,
            "file_blocks",
            f"first block {first_block} and {blocks} blocks leave BLOCKS",
        )
    else:
        check(first_block, "file_blocks", f"first block {first_block} of a record up to block bytes: not 0")


def parse_entry(index, number):
    """The Entry `number` of an Index that is open, with every rule for it checked."""
    assert 0 <= number < index.header.entry_count
    entry_bytes = index.layout.item_bytes[ENTRIES]
    raw = index.section_bytes(ENTRIES, number * entry_bytes, entry_bytes)
    (
        name_offset,
        name_bytes,
        reserved,
        mode,
        seconds,
        nanoseconds,
        shard,
        size,
        offset,
        hash_,
        parent,
        first_block,
    ) = struct.unpack_from("<QHHIqIIQQ16sQQ", raw)
    image = Image(*struct.unpack_from(IMAGE_FORMAT, raw, 80))
    digest = raw[96:]

    def check(condition, defect, text):
        refuse_if(condition, defect, f"{index.manifest.index}: entry {number}: {text}")

    check(not known_type(mode), "entry_type", f"mode {mode:o}: type is not directory, regular file or symbolic link")
    check(nanoseconds > 999_999_999, "entry_nanoseconds", f"mtime nanoseconds {nanoseconds}: over 999999999")
    check(reserved, "entry_reserved", "reserved field is not zero")
    check(name_offset + name_bytes > index.header.sections[NAMES].bytes, "entry_name_range", "name leaves NAMES")
    check(parent >= index.header.entry_count, "entry_parent", f"parent {parent}: not below the entry count")
    if number == 0:
        check(not stat.S_ISDIR(mode), "root_type", "the root is not a directory")
        check(name_bytes != 0, "root_name", "the root has a name")
        check(parent != 0, "root_parent", f"the root has parent {parent}")
        name = b""
    else:
        check(parent >= number, "entry_parent", f"parent {parent}: not below its own number")
        check(not stat.S_ISDIR(mode_of(index, parent)), "entry_parent", f"parent {parent} is not a directory")
        check(not 0 < name_bytes <= 255, "entry_name_bytes", f"name of {name_bytes} bytes: not 1 to 255")
        name = index.section_bytes(NAMES, name_offset, name_bytes)
        check(not good_name(name), "entry_name", f"name {show(name)!r} is not allowed")

    if stat.S_ISREG(mode):
        check_regular(index, check, shard, size, offset, hash_, first_block)
        check(digest and size == 0 and digest != DIGEST_OF_NOTHING, "empty_file", "digest of an empty file is not that of no bytes")
        wrong = image_defect(image)
        check(wrong, "entry_image", wrong)
    else:
        what = "directory" if stat.S_ISDIR(mode) else "symbolic link"
        for field, value in (
            ("shard", shard),
            ("hash", any(hash_)),
            ("digest (SHA-256)", digest not in (b"", NO_DIGEST)),
            ("first block", first_block),
            ("image", image != NO_IMAGE),
        ):
            check(value, "entry_unused_field", f"{field} of a {what} is not 0")
    if stat.S_ISDIR(mode):
        check(size and offset <= number, "directory_offset", f"children from entry {offset}: not above its own number")
        check(not size and offset, "directory_offset", f"empty directory with offset {offset}")
        check(
            offset + size > index.header.entry_count,
            "directory_range",
            f"{size} children from entry {offset} leave the entry table",
        )
    if stat.S_ISLNK(mode):
        check(not 0 < size <= 4095, "link_size", f"link target of {size} bytes: not 1 to 4095")
        check(offset + size > index.header.sections[NAMES].bytes, "link_range", "link target leaves NAMES")
        check(b"\0" in index.section_bytes(NAMES, offset, size), "link_nul", "NUL in the link target")
    return Entry(
        number, name, mode, (seconds, nanoseconds), shard, size, offset, hash_, parent, first_block, image, digest
    )
