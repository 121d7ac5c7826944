# SPDX-License-Identifier: Apache-2.0
"""A folder with images of every sort, for the tests of views."""

import functools
import io
import os

import numpy
from PIL import Image

MANY = 1_200  # images of the large folder, and as many texts: more than one reply to READDIRPLUS holds
TIME_NS = 1_700_000_000_123_456_789
TURN_RIGHT = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"  # orientation 6


def photo(width, height, seed, mode="RGB"):
    """Smooth, with some noise, so that it is as a photograph is to a coder."""
    rng = numpy.random.default_rng(seed)
    coarse = rng.integers(0, 256, (8, 8, len(mode)), dtype=numpy.uint8)
    if len(mode) == 1:
        coarse = coarse[:, :, 0]
    pixels = numpy.asarray(Image.fromarray(coarse, mode).resize((width, height), Image.BICUBIC), dtype=numpy.int16)
    return Image.fromarray(numpy.clip(pixels + rng.integers(-9, 10, pixels.shape), 0, 255).astype(numpy.uint8), mode)


def coded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def noise(side, seed):
    return Image.fromarray(numpy.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=numpy.uint8))


@functools.cache
def images():
    """Path to content, of images that can be decoded."""
    return {
        "photos/rgb.JPEG": coded(photo(60, 40, 1), "JPEG", quality=90),
        "photos/grey.jpg": coded(photo(41, 53, 2, "L"), "JPEG"),
        "photos/cmyk.JPEG": coded(photo(50, 30, 3, "CMYK"), "JPEG"),
        "photos/progressive.jpeg": coded(photo(90, 70, 4), "JPEG", progressive=True),
        "photos/turned.JPEG": coded(photo(48, 36, 5), "JPEG", exif=TURN_RIGHT),
        "photos/lying.JPEG": coded(photo(33, 44, 6), "PNG"),
        "photos/mask.png": coded(photo(60, 40, 7, "L"), "PNG"),
        "photos/no ending": coded(photo(20, 20, 8), "JPEG"),
        "photos/large.JPEG": coded(noise(900, 9), "JPEG", quality=97),  # over a block of 1 MiB
        "clash/a.jpg": coded(photo(24, 16, 10), "JPEG"),
        "clash/a.png": coded(photo(24, 16, 11), "PNG"),
        "clash/b.jpg": coded(photo(24, 16, 12), "JPEG"),
        "deep/er/x.jpg": coded(photo(17, 19, 13), "JPEG"),
        "top.jpg": coded(photo(10, 20, 14), "JPEG"),
    }


def others():
    """Path to content, of all else."""
    return {"photos/notes.txt": b"no image\n", "photos/empty.JPEG": b"", "clash/b.npy": b"taken", "labels.csv": b"a,b\n",
            "photos/text.JPEG": b"neither is this"}


TRUNCATED = "photos/truncated.JPEG"

# What is where in an npy view, by VIEWS.md, Names; folders and links stay.
NPY_NAMES = {
    "photos": {"rgb.JPEG": "rgb.npy", "grey.jpg": "grey.npy", "cmyk.JPEG": "cmyk.npy", "progressive.jpeg": "progressive.npy",
               "turned.JPEG": "turned.npy", "lying.JPEG": "lying.npy", "mask.png": "mask.npy", "no ending": "no ending.npy",
               "large.JPEG": "large.npy", "truncated.JPEG": "truncated.npy"},
    "clash": {"a.jpg": "a.jpg.npy", "a.png": "a.png.npy", "b.jpg": "b.jpg.npy"},
    "deep/er": {"x.jpg": "x.npy"},
    "": {"top.jpg": "top.npy"},
}


def npy_path(path):
    folder, name = os.path.split(path)
    return os.path.join(folder, NPY_NAMES[folder][name])


def make_view_tree(folder):
    for path, data in {**images(), **others(), TRUNCATED: coded(photo(64, 64, 15), "JPEG")[:-400]}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / "photos" / "link").symlink_to("rgb.JPEG")
    many = folder / "many"
    many.mkdir()
    tiny = coded(photo(8, 8, 16), "JPEG")
    for number in range(MANY):
        (many / f"{number:05d}.jpg").write_bytes(tiny)
        (many / f"{number:05d}.txt").write_bytes(b"%d" % number)
    (folder / "photos" / "rgb.JPEG").chmod(0o640)
    os.utime(folder / "photos" / "rgb.JPEG", ns=(TIME_NS, TIME_NS))
