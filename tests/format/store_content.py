# SPDX-License-Identifier: Apache-2.0
"""What make_store.py writes: a Folder of Files, Folders and Links for each generation, and how its records lie in shards."""

import dataclasses
import struct


@dataclasses.dataclass(frozen=True)
class Image:
    kind: int  # 1 JPEG, 2 PNG
    width: int
    height: int
    channels: int
    bit_depth: int
    orientation: int = 0
    exif_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class File:
    data: bytes
    mode: int = 0o644
    mtime: tuple = (1_700_000_000, 123_456_789)
    image: Image | None = None


@dataclasses.dataclass(frozen=True)
class Link:
    target: bytes
    mtime: tuple = (1_700_000_001, 0)
    mode: int = 0o777


@dataclasses.dataclass(frozen=True)
class Folder:
    children: dict = dataclasses.field(default_factory=dict)
    mode: int = 0o755
    mtime: tuple = (1_700_000_002, 5)


@dataclasses.dataclass(frozen=True)
class Foreign:
    """A foreign shard: a file that is there already, with the place of each record in it."""

    path: str
    locator: bytes
    offsets: dict  # path in the tree -> offset in the file
    absolute: bool = False


@dataclasses.dataclass(frozen=True)
class Section:
    """A further section that readers ignore. `hole_bytes` of zeros follow the payload, kept as a hole."""

    id: int
    payload: bytes
    item_bytes: int = 1
    hole_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Generation:
    """The whole tree of one generation. What the generation before did not have is added to `own_shards` new shards, in
    path order and about as many entries to each."""

    tree: Folder
    own_shards: int = 1
    foreign: tuple = ()
    sections: tuple = ()
    manifest_lines: tuple = ()
    anew: bool = False  # the tree and the shard table start anew, as by `create --force`
    listing: bool = False  # folders list as their children were given, not by name
    reversed_layout: bool = False  # other orders of sections and manifest lines, which the page leaves free


def type_and_mode(node):
    return {File: 0o100000, Folder: 0o040000, Link: 0o120000}[type(node)] | node.mode


def image_bytes(node):
    image = getattr(node, "image", None)
    if image is None:
        return bytes(16)
    return struct.pack(
        "<IIIBBBB",
        image.width,
        image.height,
        image.exif_bytes,
        image.kind,
        image.channels,
        image.orientation,
        image.bit_depth,
    )


def in_path_order(folder, prefix=b""):
    """(path, node) of everything below, children by sorted names; the folder itself first."""
    yield prefix, folder
    for name in sorted(folder.children):
        node = folder.children[name]
        path = prefix + b"/" + name if prefix else name
        if isinstance(node, Folder):
            yield from in_path_order(node, path)
        else:
            yield path, node
