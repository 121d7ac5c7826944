# SPDX-License-Identifier: Apache-2.0
"""Section 5 of FORMAT.md: what an entry of the index is, and the rules that need no other part."""

import dataclasses
import stat

NO_SHARD = 0xFFFFFFFF


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
