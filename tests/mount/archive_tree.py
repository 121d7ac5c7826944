# SPDX-License-Identifier: Apache-2.0
"""A folder of classes with names of every sort, for the tests of views with archives."""

import os

from view_tree import coded, noise, photo

CLASSES = ["a", "a-b", "b_empty", "c", "d_link", "n01"]  # of `train`, as torchvision sorts them
TIME = 1_700_000_000


def is_image(path):
    """By content, as a store tells images."""
    with open(path, "rb") as file:
        head = file.read(8)
    return head[:3] == b"\xff\xd8\xff" or head == b"\x89PNG\r\n\x1a\n"


def jpeg(seed, side=24):
    return coded(photo(side, side, seed), "JPEG")


def make_archive_tree(top):
    """`train` with all that is odd, `val` with the same classes, `flat` without any."""
    long = "l" * 120
    files = {
        "top.jpg": jpeg(1),
        "train/not in a class.jpg": jpeg(2),
        "train/a/2.jpg": jpeg(3),
        "train/a/x/1.jpg": jpeg(4),
        "train/a/x-y/1.jpg": jpeg(5),
        "train/a/large.JPEG": coded(noise(900, 9), "JPEG", quality=97),  # over a block of 1 MiB
        "train/a-b/1.jpg": jpeg(6),
        "train/b_empty/notes.txt": b"no image",
        "train/b_empty/text.jpg": b"no image either",
        "train/c/with.many.dots.jpg": jpeg(7),
        "train/c/with_many_dots.jpg": jpeg(8),
        "train/c/same.jpg": jpeg(9),
        "train/c/same.png": coded(photo(24, 24, 10), "PNG"),
        "train/c/til~de.jpg": jpeg(11),
        "train/c/.hidden.jpg": jpeg(12),
        "train/c/..jpg": jpeg(13),
        "train/c/no ending": jpeg(14),
        "train/c/lying.JPEG": coded(photo(24, 24, 15), "PNG"),
        f"train/c/{'n' * 240}.jpg": jpeg(16),
        f"train/c/{long}/{long}/{long}.jpg": jpeg(17),
        f"train/c/{long}/{'s' * 60}/{'t' * 60}.jpg": jpeg(18),
        "train/c/ümläut.jpg": jpeg(19),
        "train/c/odd \udcff.jpg": jpeg(20),
        f"train/c/{'odd ' * 40}\udcff.jpg": jpeg(21),
        "linked/1.jpg": jpeg(22),
        "linked/below/2.jpg": jpeg(23),
        "flat/1.jpg": jpeg(24),
        "flat/2.png": coded(photo(24, 24, 25), "PNG"),
        "empty/notes.txt": b"nothing here",
        "val/a/1.jpg": jpeg(26),
        "val/c/1.jpg": jpeg(27),
    }
    files.update({f"train/n01/n01_{i}.JPEG": jpeg(100 + i, 16 + i % 50) for i in range(150)})
    for path, data in files.items():
        name = os.path.join(top, path)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(data)
        os.utime(name, (TIME, TIME))
    os.symlink("../linked", os.path.join(top, "train", "d_link"))
