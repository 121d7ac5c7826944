#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds our decoders and resize against the Pillow of this process: pixels_compare.py PIXEL_DUMP SEED GROUP=COUNT...

Prints one JSON object: Pillow's version, how many cases each group had, and the first cases that differ. Each case is made from
the seed, its group and its number alone. It is a program of its own, since two versions of Pillow do not fit into one process.
"""

import io
import json
import os
import pathlib
import random
import struct
import sys
import warnings

from PIL import Image, ImageFile, features

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import dataset  # noqa: E402
import lossless_jpeg  # noqa: E402
import odd_png  # noqa: E402
from pixel_dump import VERSION, PixelDump  # noqa: E402
from random_images import SUBJECTS, load_photos, make_any, make_jpeg, make_odd_jpeg, make_png, random_crop  # noqa: E402

FILTERS = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.LANCZOS)
DIFFERENCES_MAX = 8
# Whether this Pillow decodes JPEGs by a library that does all as ours does (Debian 12's is 2.1.5).
SAME_LIBJPEG = (features.version("libjpeg_turbo") or "").startswith("2.1.")
PIECE = ImageFile.MAXBLOCK


def pixels(image):
    """An image as PixelDump answers."""
    return (*image.size, len(image.getbands())), image.tobytes()


def is_arithmetic(jpeg):
    """By the marker of its frame."""
    at = 2
    while at + 4 <= len(jpeg) and jpeg[at] == 0xFF and jpeg[at + 1] != 0xDA:
        if jpeg[at + 1] in (0xC9, 0xCA):
            return True
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
    return False


def pillow_decode(file, mode="RGB", tolerant=False, scale=1):
    """What Pillow makes of it, or the error's text."""
    ImageFile.LOAD_TRUNCATED_IMAGES = tolerant
    # libjpeg's arithmetic decoder cannot wait for more bytes, so Pillow refuses what it has not read in one piece.
    ImageFile.MAXBLOCK = max(PIECE, len(file)) if is_arithmetic(file) else PIECE
    try:
        with Image.open(io.BytesIO(file), formats=("JPEG", "PNG")) as image:
            if scale > 1:
                image.draft(None, (max(1, image.width // scale), max(1, image.height // scale)))
            if mode == "kept":
                # A PNG of 16-bit grey with alpha is RGBA to Pillow.
                mode = "L" if image.mode in ("L", "1", "I;16", "LA") or odd_png.kind(file)[0] == 4 else "RGB"
            return pixels(image.convert(mode))
    except (OSError, SyntaxError, ValueError, IndexError, struct.error, EOFError, KeyError, Image.DecompressionBombError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False


def difference(ours, theirs):
    """None, or what differs. Errors equal errors."""
    if isinstance(ours, str) or isinstance(theirs, str):
        if isinstance(ours, str) and isinstance(theirs, str):
            return None
        return f"ours: {ours if isinstance(ours, str) else ours[0]}, Pillow's: {theirs if isinstance(theirs, str) else theirs[0]}"
    if ours[0] != theirs[0]:
        return f"ours is {ours[0]}, Pillow's {theirs[0]}"
    if ours[1] == theirs[1]:
        return None
    first = next(i for i, (a, b) in enumerate(zip(ours[1], theirs[1])) if a != b)
    count = sum(a != b for a, b in zip(ours[1], theirs[1]))
    return f"{count} of {len(ours[1])} bytes, the first at {first}: {ours[1][first]}, Pillow's {theirs[1][first]}; {ours[0]}"


# ---- groups of cases: each takes its own generator and returns None or what differs ----


def compare_decode(dump, file, rng, tolerant=False):
    mode = rng.choice(("RGB", "kept"))
    return difference(dump.decode(file, keep_grey=mode == "kept", tolerant=tolerant), pillow_decode(file, mode, tolerant))


def case_jpeg(dump, photos, rng):
    return compare_decode(dump, make_jpeg(photos, rng), rng)


def case_odd_jpeg(dump, photos, rng):
    return compare_decode(dump, make_odd_jpeg(photos, rng, dump), rng)


def case_png(dump, photos, rng):
    return compare_decode(dump, make_png(photos, rng), rng)


def case_truncated(dump, photos, rng):
    """Files cut anywhere, most of them within their pixels."""
    whole = make_any(dump, photos, rng)
    size = rng.randint(max(0, len(whole) - 40), len(whole)) if rng.random() < 0.3 else rng.randint(0, len(whole))
    tolerant = rng.random() < 0.6
    file = whole[:size]
    if file.startswith(b"\x89PNG"):
        return truncated_png(dump, whole, file, tolerant)
    return compare_unfinished(dump, whole, file, rng, tolerant) if tolerant else compare_decode(dump, file, rng)


def compare_unfinished(dump, whole, file, rng, tolerant=False):
    """`file` is `whole` with less in it."""
    if SAME_LIBJPEG or not is_progressive(whole):
        return compare_decode(dump, file, rng, tolerant)
    # What such an image is smoothed to changed between libjpeg-turbo 2.1 and 3.0 (its issues 700 and 721).
    ours, theirs = dump.decode(file, tolerant=tolerant), pillow_decode(file, tolerant=tolerant)
    return difference(*(answer if isinstance(answer, str) else (answer[0], b"") for answer in (ours, theirs)))


def case_missing_scans(dump, photos, rng):
    """A whole progressive JPEG of which the last scans are left out, and the end marker is not: libjpeg smooths it."""
    whole = make_jpeg(photos, rng, progressive=True) if rng.random() < 0.5 else make_odd_jpeg(photos, rng, dump, progressive=True)
    ends = scan_ends(whole)
    return compare_unfinished(dump, whole, whole[: rng.choice(ends)] + b"\xff\xd9", rng)


def case_broken(dump, photos, rng):
    """Bytes changed and left out: libjpeg makes an image of most of that. What Pillow takes we take, with the same pixels; the
    other way round Pillow's own reading of headers refuses a few that libjpeg takes. For a Pillow with our libjpeg."""
    file = bytearray(make_any(dump, photos, rng))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(file))
        if rng.random() < 0.7:
            file[at] = rng.randrange(256)
        else:
            del file[at : at + rng.randint(1, 20)]
    file = bytes(file)
    ours, theirs = dump.decode(file), pillow_decode(file)
    if isinstance(theirs, str):
        return None
    # The colours of a damaged palette changed with Pillow's versions.
    return difference(ours, (theirs[0], ours[1]) if file.startswith(b"\x89PNG") and not isinstance(ours, str) else theirs)


# What we refuse in a PNG and some Pillow shows: PIXELS.md has each.
REFUSED_BY_US = ("no palette (PLTE)", "(fdAT) stands before", "chunk fcTL: the first frame")


def case_odd_png(dump, photos, rng):
    """PNGs that break a rule. What Pillow refuses for a chunk that makes no pixels, we show as Pillow shows it without that chunk."""
    file, tolerant = odd_png.make(rng, make_png(photos, rng)), rng.random() < 0.4
    if tolerant and b"fdAT" in file:  # Pillow then reads a chunk of no length
        return None
    mode = rng.choice(("RGB", "kept")) if VERSION >= (12, 0) else "RGB"
    ours = dump.decode(file, keep_grey=mode == "kept", tolerant=tolerant)
    theirs = pillow_decode(file, mode, tolerant)
    if isinstance(theirs, str) and not isinstance(ours, str):
        theirs = pillow_decode(odd_png.only_pixels(file), mode, tolerant)
    if isinstance(ours, str) and not isinstance(theirs, str):
        if any(text in ours for text in REFUSED_BY_US) or ("chunk IHDR" in ours and file.count(b"IHDR") > 1):
            return None
    # Pillow 9.4 has another mode for 16-bit grey, and other colours where a palette lacks some.
    if VERSION < (12, 0) and odd_png.kind(file) in ((0, 16), (3, 1), (3, 2), (3, 4), (3, 8)) and not isinstance(theirs, str):
        theirs = theirs[0], ours[1]
    return difference(ours, theirs)


JFIF = lossless_jpeg.segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")


def case_lossless(dump, photos, rng):
    """For a Pillow with libjpeg-turbo 3 or later."""
    image = random_crop(photos, rng, 40).convert(rng.choice(("RGB", "RGB", "L", "CMYK")))
    image = image.crop((0, 0, min(image.width, 60), min(image.height, 60)))
    if rng.random() < 0.3:
        image = Image.frombytes(image.mode, image.size, rng.randbytes(len(image.tobytes())))
    adobe = lossless_jpeg.segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, rng.choice((0, 0, 1, 2))))
    head = rng.choice((b"", b"", b"", adobe, JFIF if image.mode == "L" or rng.random() < 0.3 else b""))
    table = (lossless_jpeg.EVEN, range(17)) if rng.random() < 0.5 else (lossless_jpeg.UNEVEN, rng.sample(range(17), 17))
    file = lossless_jpeg.encode(image, rng.randint(1, 7), rng.choice((0, 0, 0, 1, 3, 7)), rng.choice((0, 0, 1, 2, 7)), rng.random() < 0.3,
                                rng.choice(((1, 2, 3, 4), (82, 71, 66, 75), (0, 1, 2, 3))), head, *table)
    tolerant = rng.random() < 0.3
    if rng.random() < 0.2 and not tolerant:  # a tolerant Pillow repairs what is cut, and we do not (PIXELS.md)
        file = file[: rng.randrange(len(file)) if rng.random() < 0.7 else -rng.randint(1, 12)]
    found = compare_decode(dump, file, rng, tolerant)
    # A header that the decoder refuses is a black image to a tolerant Pillow.
    return None if tolerant and found and "no reader converts" in found else found


def is_progressive(jpeg):
    with Image.open(io.BytesIO(jpeg)) as image:
        return "progressive" in image.info


def scan_ends(jpeg):
    """Where each scan ends."""
    at, ends = 2, []
    while jpeg[at + 1] != 0xD9:
        scan = jpeg[at + 1] == 0xDA
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
        while scan and (jpeg[at] != 0xFF or jpeg[at + 1] == 0 or 0xD0 <= jpeg[at + 1] <= 0xD7):
            at += 1
        ends += [at] * scan
    return ends


def truncated_png(dump, whole, file, tolerant):
    """How many rows there are of a PNG that is cut depends on the zlib; those that there are must be right, and Pillow refuses
    nothing that we refuse alone."""
    ours, theirs, good = dump.decode(file, tolerant=tolerant), pillow_decode(file, tolerant=tolerant), dump.decode(whole)
    if isinstance(ours, str):
        return None if isinstance(theirs, str) else f"ours: {ours}, Pillow's is an image"
    if ours[0] != good[0]:
        return f"{ours[0]} of an image of {good[0]}"
    if not tolerant or file[28] == 1:  # interlaced: rows come in pieces
        return None if tolerant else difference(ours, good)
    size = good[0][0] * good[0][2]
    rows = next((row for row in range(0, len(good[1]), size) if ours[1][row : row + size] != good[1][row : row + size]), len(good[1]))
    rest = ours[1][rows:]
    return None if rest == rest[:3] * (len(rest) // 3) else f"row {rows // size} is neither right nor blank"


def case_odd_set(dump, photos, rng):
    """The images of bench/dataset.py --odd, all of them as one case."""
    pyramids = {"Path": [photos[SUBJECTS.index("Path")]] * 3}
    found = []
    for path, file in dataset.odd_files([pyramids["Path"]] * len(dataset.SUBJECTS), 1).items():
        if b"broken/" in path and b"truncated.png" in path:
            continue
        for mode in ("RGB", "kept"):
            differs = difference(dump.decode(file, keep_grey=mode == "kept"), pillow_decode(file, mode))
            if differs is not None:
                found.append(f"{path.decode(errors='replace')}: {differs}")
    return "; ".join(found) or None


def case_scaled(dump, photos, rng):
    """Image.draft, which can do no more than this."""
    file = make_jpeg(photos, rng)
    scale = rng.choice((2, 4, 8))
    with Image.open(io.BytesIO(file)) as image:
        if min(image.size) < scale:
            return None
    return difference(dump.decode(file, scale=scale), pillow_decode(file, scale=scale))


def case_resize(dump, photos, rng):
    image = random_crop(photos, rng).convert(rng.choice(("RGB", "RGB", "L")))
    shape = rng.random()
    if shape < 0.5:  # as training does
        short = rng.randint(8, 160)
        size = tuple(max(1, int(short * side / min(image.size))) for side in image.size)
        size = tuple(min(side, 2000) for side in size)
    elif shape < 0.9:
        size = (max(1, int(2 ** rng.uniform(0, 9))), max(1, int(2 ** rng.uniform(0, 9))))
    else:
        size = rng.choice(((1, image.height), (image.width, 1), (1, 1), (image.width, image.height), (1, 700), (700, 1),
                           (image.width, image.height // 2 + 1), (image.width // 2 + 1, image.height)))
    box = None
    if rng.random() < 0.3:
        across = sorted(rng.uniform(0, image.width) for _ in range(2))
        down = sorted(rng.uniform(0, image.height) for _ in range(2))
        if rng.random() < 0.5:
            across, down = [int(x) for x in across], [int(y) for y in down]
        box = (across[0], down[0], across[1], down[1])
        if box[0] >= box[2] or box[1] >= box[3]:
            box = None
    number = rng.randrange(3)
    theirs = pixels(image.resize(size, FILTERS[number], box=box))
    return None if is_too_tall(image, size) else difference(dump.resize(image, size, number, box), theirs)


def is_too_tall(image, size):
    """The one shape where Pillow 12.2 differs from all before it; ours follows 12.2."""
    return VERSION < (12, 2) and image.height > 100 * image.width and size[1] < image.height


def case_both(dump, photos, rng):
    """A file decoded and made small, as a view does it."""
    file = make_jpeg(photos, rng)
    ours = dump.decode(file)
    image = Image.frombytes("RGB", ours[0][:2], ours[1])
    size = (rng.randint(1, 300), rng.randint(1, 300))
    if is_too_tall(image, size):
        return None
    with Image.open(io.BytesIO(file)) as theirs:
        return difference(dump.resize(image, size, 0), pixels(theirs.convert("RGB").resize(size, FILTERS[0])))


def main():
    program, seed, *groups = sys.argv[1:]
    warnings.simplefilter("ignore")
    photos = load_photos()
    dump = PixelDump(program)
    result = {"pillow": Image.__version__, "cases": {}, "differences": [], "count": 0}
    try:
        for group in groups:
            name, _, count = group.partition("=")
            first, _, last = count.rpartition("-")  # NAME=7-8 is case 7 alone
            for number in range(int(first or 0), int(last)):
                found = globals()[f"case_{name}"](dump, photos, random.Random(f"pixels {seed} {name} {number}"))
                result["cases"][name] = result["cases"].get(name, 0) + 1
                if found is not None:
                    result["count"] += 1
                    if len(result["differences"]) < DIFFERENCES_MAX:
                        result["differences"].append(f"{name}={number}-{number + 1}: {found}")
    finally:
        dump.close()
    print(json.dumps(result))


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    main()
