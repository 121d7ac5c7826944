# SPDX-License-Identifier: Apache-2.0
"""The golden good stores: what is in each, and how good/ was filled, once, by make_store.py.

The archives in good/ are the stores of version 1, and NAME_2 those of version 2, kept for ever: every later reader must
read them. Never write them anew; a new kind gets a new name. `python tests/format/golden.py NAME` writes good/NAME.tar.xz and refuses to replace one.
"""

import base64
import dataclasses
import io
import os
import struct
import sys
import tarfile
import tempfile
import zlib

from make_store import Writer
from store_content import File, Folder, Foreign, Generation, Image, Link, Section
from store_versions import MIB

HERE = os.path.dirname(os.path.abspath(__file__))
GOOD = os.path.join(HERE, "good")
TAR_MTIME = 1_700_000_000


def pattern(size, seed):
    """Bytes that differ from block to block and yet compress to nothing."""
    return b"".join(struct.pack("<II", seed, i >> 15) for i in range(-(-size // 8)))[:size]


def png(width, height, colour_type, depth):
    """A real PNG of black pixels."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour_type]
    row = b"\0" + bytes(-(-width * channels * depth // 8))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    palette = chunk(b"PLTE", bytes(3)) if colour_type == 3 else b""
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0))
        + palette
        + chunk(b"IDAT", zlib.compress(row * height))
        + chunk(b"IEND", b"")
    )


# A grey JPEG of 24 x 16 pixels, 8 bits a sample, without EXIF.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI//////////////////////////////////////////"
    "//////////wAALCAAQABgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AAA//2Q=="
)


def exif(orientation):
    """A TIFF block, little-endian, with the orientation tag alone."""
    return b"II*\0" + struct.pack("<IH", 8, 1) + struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0) + bytes(4)


def jpeg_with_exif(orientation):
    block = exif(orientation)
    return JPEG[:2] + b"\xff\xe1" + struct.pack(">H", 2 + 6 + len(block)) + b"Exif\0\0" + block + JPEG[2:]


@dataclasses.dataclass
class Golden:
    """What a store holds: the newest `tree`; `rebuildable` when all of it is in catalogues."""

    tree: Folder
    write: object  # a function of the folder above the store and the version; the store is its subfolder `store`
    rebuildable: bool = True
    version: int = 1


def plain():
    cat = b"meow" * 25
    return Folder(
        {
            b"a": Folder(
                {
                    b"cat": File(cat),
                    b"dog": File(b"woof\n", 0o600, (-86_400, 1)),
                    b"sub": Folder({b"deep": File(b"x", 0o4755)}),
                }
            ),
            b"a-b": File(b"sorts before a/ in plain bytes, after it in path order"),
            b"a.txt": File(b"text"),
            b"copy-of-cat": File(cat, 0o400, (4_102_444_800, 999_999_999)),
            b"empty-file": File(b"", 0o640, (0, 0)),
            b"empty-folder": Folder({}, 0o1777, (1, 2)),
            b"link": Link(b"a/cat"),
            b"dangling": Link(b"../nowhere/" + b"n" * 200, (-5, 999_999_999)),
            b"zero-one": File(bytes(4096)),
        },
        0o750,
    )


def raw_names():
    return Folder(
        {
            b"\xff\xfe not utf-8 \x80": File(b"1"),
            "grün-日本".encode(): File(b"2"),
            b"new\nline\ttab": File(b"3"),
            b" leading and trailing ": File(b"4"),
            b"-rf": File(b"5"),
            b"...": File(b"6"),
            b"n" * 255: File(b"7"),
            b"\x01": Folder({b"\x7f\\'\"": Folder({b"*?[": Link(b"\xff/\x01\n")})}),
            b"x": Folder({b"y" * 200: Folder({b"z": File(b"8")})}),
        }
    )


def large():
    big = pattern(2 * MIB + 12_345, 7)
    return Folder(
        {
            b"big": File(big),
            b"big-again": File(big),
            b"block": File(pattern(MIB, 3)),
            b"block-and-one": File(pattern(MIB + 1, 5)),
            b"small": File(b"small"),
        }
    )


def images():
    six = jpeg_with_exif(6)
    return Folder(
        {
            b"grey.png": File(png(5, 3, 0, 16), image=Image(2, 5, 3, 1, 16)),
            b"grey-alpha.png": File(png(2, 2, 4, 8), image=Image(2, 2, 2, 2, 8)),
            b"palette.png": File(png(9, 1, 3, 2), image=Image(2, 9, 1, 3, 2)),
            b"rgb.png": File(png(300, 2, 2, 8), image=Image(2, 300, 2, 3, 8)),
            b"rgba.png": File(png(1, 1, 6, 8), image=Image(2, 1, 1, 4, 8)),
            b"plain.jpg": File(JPEG, image=Image(1, 24, 16, 1, 8)),
            b"turned.jpg": File(six, image=Image(1, 24, 16, 1, 8, 6, len(exif(6)))),
            b"not-an-image.jpg": File(b"no"),
        }
    )


def many():
    """More entries than one body block of the index holds, one of which lies across two blocks."""
    kinds = (b"one", b"two", b"three")
    return Folder({b"%05d" % i: File(kinds[i % 3]) for i in range(1500)})


def tree_of_tar():
    return Folder(
        {
            b"train": Folder({b"cat.bin": File(b"cat" * 700), b"dog.bin": File(b"dog" * 11)}),
            b"big.bin": File(pattern(MIB + 99, 11)),
        }
    )


def write_tar(path, tree):
    """A tar of the regular files of the tree; returns the offset of each one's bytes."""
    from store_content import in_path_order

    offsets = {}
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, node in in_path_order(tree):
            if isinstance(node, File):
                info = tarfile.TarInfo(os.fsdecode(name))
                info.size, info.mtime, info.mode = len(node.data), node.mtime[0], node.mode
                offsets[name] = tar.offset + 512
                tar.addfile(info, io.BytesIO(node.data))
    os.utime(path, (TAR_MTIME, TAR_MTIME))
    return offsets


def own(*generations):
    def write(folder, version):
        writer = Writer(os.path.join(folder, "store"), version)
        for generation in generations:
            writer.write(generation)

    return write


def adopted(tree, absolute):
    def write(folder, version):
        path = os.path.join(folder, "images.tar")
        offsets = write_tar(path, tree)
        locator = os.fsencode(os.path.abspath(path)) if absolute else b"../images.tar"
        foreign = Foreign(path, locator, offsets, absolute)
        Writer(os.path.join(folder, "store"), version).write(Generation(tree, 0, (foreign,)))

    return write


def write_mixed(folder, version):
    """An adopted tar to which a generation in an own shard was appended."""
    path = os.path.join(folder, "images.tar")
    tree = tree_of_tar()
    offsets = write_tar(path, tree)
    writer = Writer(os.path.join(folder, "store"), version)
    writer.write(Generation(tree, 0, (Foreign(path, b"../images.tar", offsets),)))
    writer.write(Generation(mixed_tree(), 1))


def mixed_tree():
    return Folder(
        {**tree_of_tar().children, b"extra": Folder({b"new.bin": File(b"new" * 50)})}, mtime=(1_700_000_500, 0)
    )


def listed():
    """Whose folders list in no order of names: see Generation.listing."""
    return Folder(
        {
            b"m": File(b"m" * 20),
            b"z": Folder({b"3": File(b"three"), b"1": File(b"one"), b"2": Link(b"1"), b"4": Folder()}),
            b"a": Folder({b"only": File(b"only")}),
            b"k": File(b""),
        }
    )


def first_tree():
    return Folder({b"kept": Folder({b"one": File(b"one" * 30)}), b"replaced": File(b"old bytes")})


def second_tree():
    return Folder(
        {
            b"kept": Folder({b"one": File(b"one" * 30), b"two": File(b"two" * 30)}, mtime=(1_700_000_900, 7)),
            b"replaced": File(b"new bytes, longer", mtime=(1_700_000_901, 0)),
            b"same-as-one": File(b"one" * 30),
            b"link": Link(b"kept"),
        },
        mtime=(1_700_000_902, 0),
    )


def with_path_of(size):
    """A tree whose longest path has so many bytes: folders of 255, and what is left."""
    folders, left = divmod(size, 256)
    node = Folder({b"f" * left: File(b"deep")}) if left else Folder({b"f": File(b"deep")})
    if not left:  # "…/" of 254 and the file of 1
        node, folders = Folder({b"e" * 254: node}), folders - 1
    for _ in range(folders):
        node = Folder({b"d" * 255: node})
    return node


def anew_tree():
    return Folder({b"kept": Folder({b"one": File(b"another one")}), b"only": File(b"only this")})


def after_anew_tree():
    return Folder(
        {
            b"kept": Folder({b"one": File(b"another one"), b"four": File(b"only this")}),
            b"only": File(b"only this"),
            b"last": File(b"last" * 20),
        }
    )


def write_with_debris(folder, version):
    """Generation 1, an ignorable section and key, other orders of sections and lines, and what a killed writer left."""
    sections = (Section(77, b"anything" * 10, 8), Section(0xFFFFFFFF, b"", 3))
    lines = ("x-note two  spaces, = and : are the value's own", "x-note again")
    own(Generation(plain(), 2, (), sections, lines, reversed_layout=True))(folder, version)
    store = os.path.join(folder, "store")
    for name, data in (
        ("lock", b"\0\xff whoever"),
        ("index-00000002", b"half an index"),
        ("shard-00000002-00002", b"AUGURSHD and no more"),
        ("shard-00000002-00002.catalogue", b"CFRM"),
        ("manifest.new", b"augurfs-store 9"),
        ("README", b"hello"),
    ):
        with open(os.path.join(store, name), "wb") as file:
            file.write(data)


FIRST = {
    "plain": Golden(plain(), own(Generation(plain()))),
    "empty": Golden(Folder(), own(Generation(Folder(), 0)), rebuildable=False),
    "raw_names": Golden(raw_names(), own(Generation(raw_names()))),
    "large": Golden(large(), own(Generation(large()))),
    "images": Golden(images(), own(Generation(images()))),
    "many": Golden(many(), own(Generation(many()))),
    "three_shards": Golden(plain(), own(Generation(plain(), 3))),
    "foreign_relative": Golden(tree_of_tar(), adopted(tree_of_tar(), False), rebuildable=False),
    "mixed": Golden(mixed_tree(), write_mixed, rebuildable=False),
    "unknown_section": Golden(plain(), write_with_debris),
    "started_anew": Golden(
        after_anew_tree(),
        own(
            Generation(first_tree()),
            Generation(second_tree(), 2),
            Generation(anew_tree(), anew=True),
            Generation(after_anew_tree(), 2),
        ),
    ),
    "two_generations": Golden(second_tree(), own(Generation(first_tree()), Generation(second_tree(), 2))),
}


# Of what came with version 2 or later.
SECOND = {"listing": Golden(listed(), own(Generation(listed(), listing=True)), version=2)}

GOLDEN = FIRST | {name + "_2": dataclasses.replace(case, version=2) for name, case in (FIRST | SECOND).items()}


def name_of(name, version):
    """The golden store of this kind and version."""
    return name if version == 1 else f"{name}_{version}"


def unpack(name, folder):
    """Puts the golden store `name` under `folder` and returns the path of the store."""
    with tarfile.open(os.path.join(GOOD, name + ".tar.xz")) as tar:
        # Python 3.11.2 of Debian 12 has no filters; where they are, going without one is warned about.
        tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return os.path.join(folder, "store")


def pack(name):
    def tidy(info):
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = TAR_MTIME
        return info

    with tempfile.TemporaryDirectory() as folder:
        GOLDEN[name].write(folder, GOLDEN[name].version)
        path = os.path.join(GOOD, name + ".tar.xz")
        with open(path, "xb") as file, tarfile.open(fileobj=file, mode="w:xz", format=tarfile.USTAR_FORMAT) as tar:
            for root in sorted(os.listdir(folder)):
                tar.add(os.path.join(folder, root), root, filter=tidy)
        print(f"{path}: {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        pack(wanted)
