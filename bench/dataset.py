#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder of photographs that looks like ImageNet's training set.

    bench/dataset.py --files N --seed S OUT [--odd]

Every file is a crop of a real photograph (Debian package plasma-workspace-wallpapers) saved as JPEG. Sizes are log-normal
around ImageNet's mean of 110 KB; folders and names look like n01440764/n01440764_10026.JPEG. The same seed, number of
files and version of Pillow give the same bytes, on any number of cores.

--odd adds OUT/odd with what real collections hold beside good photographs: CMYK and greyscale JPEG, a PNG named
.JPEG, progressive, truncated and empty files, names that are not UTF-8, links. `--files 0 --odd` makes only those.

What limits it: one JPEG is encoded twice (a probe to learn how well the crop compresses, then the file), about 2 ms
a core, so 12,000 files take 15 to 30 s on two cores. The photographs are decoded once, before the workers start,
and the crops are taken from scaled copies in memory.
"""

import argparse
import io
import math
import multiprocessing
import os
import random
import sys
import time

try:
    from PIL import Image
except ImportError:
    sys.exit("dataset.py: Pillow is missing: apt-get install python3-pil (and run this with /usr/bin/python3), or pip install pillow")

PHOTOS = "/usr/share/wallpapers"
# The photographs of the package that have enough detail for 110 KB in ImageNet's dimensions; the others are drawings, or
# mostly sky. Each with the scales at which it is cropped: one photograph of 2560x1600 holds distant and close views.
SUBJECTS = {
    "Autumn": (1.0, 0.7, 0.5, 0.35),
    "BytheWater": (1.0, 0.7, 0.5, 0.35),
    "ColorfulCups": (1.0, 0.7, 0.5, 0.35),
    "EveningGlow": (1.0, 0.7, 0.5, 0.35),
    "FallenLeaf": (0.7, 0.5, 0.35),
    "Grey": (0.7, 0.5, 0.35),  # greyscale, as some of ImageNet's files are
    "OneStandsOut": (1.0, 0.7, 0.5, 0.35),
    "Path": (1.0, 0.7, 0.5, 0.35),
    "Volna": (0.5, 0.35, 0.25),  # 5120x2880
}

# ImageNet's training set: 1,281,167 files of 110 KB on average. With mean = exp(mu + sigma^2 / 2) and sigma = 0.55 the
# median is 95 KB, one file in a hundred is over 340 KB.
MEAN_BYTES = 110_000
SIGMA = 0.55
BYTES_MIN, BYTES_MAX = 6_000, 1_500_000
SIDE_MIN = 48
ASPECTS = (4 / 3, 4 / 3, 4 / 3, 3 / 4, 3 / 2, 2 / 3, 1.0)
QUALITIES = (97, 98, 98, 99)  # high, so that 110 KB are about 250,000 pixels; ImageNet's files have 180,000
CLASSES_MAX = 1000
FILES_PER_CLASS = 100  # ImageNet has 1,281: too few folders would be left of a small set


def rng_for(seed, what):
    """A generator of its own for each file: the bytes do not depend on who makes the file, nor on the other files."""
    return random.Random(f"augurfs dataset {seed} {what}")


def load_photos(folder):
    """[[scaled copy, ...], ...] in the order of SUBJECTS."""
    pyramids = []
    for name, scales in SUBJECTS.items():
        images = os.path.join(folder, name, "contents", "images")
        try:
            files = sorted(f for f in os.listdir(images) if f.endswith(".jpg"))
        except OSError:
            files = []
        if not files:
            sys.exit(f"dataset.py: {images}: no photographs here: apt-get install plasma-workspace-wallpapers")
        largest = max(files, key=lambda f: int(f.split("x")[0]))
        with Image.open(os.path.join(images, largest)) as photo:
            photo = photo.convert("L" if photo.mode == "L" else "RGB")
        pyramids.append([
            photo if scale == 1.0 else photo.resize((round(photo.width * scale), round(photo.height * scale)), Image.LANCZOS)
            for scale in scales
        ])
    return pyramids


def crop(photo, rng, pixels, aspect):
    """A window of about `pixels` pixels, mirrored half of the time; never the whole photograph, which would come twice."""
    width = min(photo.width * 9 // 10, max(SIDE_MIN, round(math.sqrt(pixels * aspect))))
    height = min(photo.height * 9 // 10, max(SIDE_MIN, round(math.sqrt(pixels / aspect))))
    left = round(rng.random() * (photo.width - width))
    top = round(rng.random() * (photo.height - height))
    window = photo.crop((left, top, left + width, top + height))
    return window.transpose(Image.FLIP_LEFT_RIGHT) if rng.random() < 0.5 else window


def encode(image, **options):
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


def make_photo(pyramids, seed, number):
    """The bytes of file `number`."""
    rng = rng_for(seed, number)
    wanted = min(BYTES_MAX, max(BYTES_MIN, rng.lognormvariate(math.log(MEAN_BYTES) - SIGMA**2 / 2, SIGMA)))
    photo = rng.choice(rng.choice(pyramids))
    aspect = rng.choice(ASPECTS)
    quality = rng.choice(QUALITIES)
    state = rng.getstate()
    guess = wanted / 0.65  # 0.65 bytes a pixel is usual at these qualities
    probe = encode(crop(photo, rng, guess, aspect), quality=quality)
    rng.setstate(state)
    # The bytes of a crop grow with its pixels; a flat one is not blown up beyond three times the guess.
    pixels = guess * min(3.0, wanted / len(probe))
    return encode(crop(photo, rng, pixels, aspect), quality=quality)


def class_names(seed, count):
    rng = rng_for(seed, "classes")
    names, wnid = [], 1440764
    for _ in range(count):
        names.append(f"n{wnid:08d}")
        wnid += rng.randint(200, 13_000)
    return names


def layout(seed, files, classes):
    """Paths of all files relative to OUT, file number by place in the list. Classes differ a little in size, as real ones do."""
    if files == 0:
        return []
    names = class_names(seed, classes)
    rng = rng_for(seed, "layout")
    weights = [rng.uniform(0.8, 1.2) for _ in names]
    total = sum(weights)
    paths, done, share = [], 0, 0.0
    for name, weight in zip(names, weights):
        share += weight
        upto = files if name == names[-1] else max(done + 1, round(files * share / total))
        photo_number = 0
        for _ in range(min(upto, files) - done):
            photo_number += rng.randint(1, 20)
            paths.append(f"{name}/{name}_{photo_number}.JPEG")
        done = max(done, min(upto, files))
    return paths


# What a worker process inherits by fork: (pyramids, seed, out, paths).
work = None


def make_range(numbers):
    """Writes the files of these numbers; returns their bytes in sum."""
    pyramids, seed, out, paths = work
    total = 0
    for number in numbers:
        data = make_photo(pyramids, seed, number)
        with open(os.path.join(out, paths[number]), "wb") as file:
            file.write(data)
        total += len(data)
    return total


def make_photos(pyramids, seed, out, files, classes, jobs, quiet):
    global work
    paths = layout(seed, files, classes)
    for folder in sorted({os.path.dirname(path) for path in paths}):
        os.makedirs(os.path.join(out, folder), exist_ok=True)
    work = (pyramids, seed, out, paths)
    ranges = [range(first, min(first + 50, files)) for first in range(0, files, 50)]
    start, done, total = time.monotonic(), 0, 0
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for number, piece_bytes in zip(ranges, pool.imap(make_range, ranges)):
            done += len(number)
            total += piece_bytes
            if not quiet and sys.stderr.isatty():
                print(f"\rdataset.py: {done:,} of {files:,} files, {total / 1e6:,.0f} MB", end="", file=sys.stderr, flush=True)
    if not quiet:
        line = "\n" if sys.stderr.isatty() else ""
        print(f"{line}dataset.py: {out}: {files:,} files in {len(set(map(os.path.dirname, paths)))} folders, {total / 1e6:,.0f} MB, "
              f"mean {total / max(1, files) / 1e3:.0f} KB, in {time.monotonic() - start:.0f} s", file=sys.stderr)


def png(image):
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def jpeg_with_orientation(image, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "AugurFS test camera"
    return encode(image, quality=90, exif=exif)


def odd_files(pyramids, seed):
    """{path under odd/, as bytes: content} of every odd regular file."""
    rng = rng_for(seed, "odd")
    path_photos = pyramids[list(SUBJECTS).index("Path")]
    photo = crop(path_photos[1], rng, 120_000, 4 / 3)
    small = photo.resize((160, 120), Image.LANCZOS)
    good = encode(photo, quality=92)
    grey16 = small.convert("L").convert("I").point(lambda value: value * 257)
    large = rng_for(seed, "large").randbytes(3_500_001)  # over three blocks of a store, and not a multiple of anything

    files = {
        b"formats/cmyk.JPEG": encode(photo.convert("CMYK"), quality=92),
        b"formats/grey.JPEG": encode(photo.convert("L"), quality=92),
        b"formats/progressive.JPEG": encode(photo, quality=92, progressive=True),
        b"formats/full_chroma.JPEG": encode(photo, quality=92, subsampling=0),
        b"formats/one_pixel.JPEG": encode(photo.crop((0, 0, 1, 1)), quality=92),
        b"formats/png_named.JPEG": png(small),
        b"formats/grey_16_bit.png": png(grey16.convert("I;16")),
        b"formats/palette.png": png(small.quantize(64)),
        b"formats/bilevel.png": png(small.convert("1")),
        b"formats/alpha.png": png(small.convert("RGBA")),
        b"formats/grey_alpha.png": png(small.convert("LA")),
        b"broken/truncated.JPEG": good[: len(good) * 2 // 3],
        b"broken/truncated_in_header.JPEG": good[:100],
        b"broken/truncated.png": png(small)[:5000],
        b"broken/zero_bytes.JPEG": b"",
        b"broken/not_an_image.JPEG": b"<html><body>404 Not Found</body></html>\n",
        b"broken/magic_only.JPEG": b"\xff\xd8\xff",
        b"broken/large_not_an_image.JPEG": large,
    }
    for orientation in range(1, 9):
        files[b"formats/orientation_%d.JPEG" % orientation] = jpeg_with_orientation(small, orientation)
    names = [
        "grüße.JPEG".encode(),
        "日本の写真.JPEG".encode(),
        "cafe\u0301 decomposed.JPEG".encode(),
        "🙂.JPEG".encode(),
        b"latin1_\xe9t\xe9.JPEG",
        b"not_utf8_\xff\xfe\x80.JPEG",
        b"control_\x01\x1b[31m.JPEG",
        b"new\nline.JPEG",
        b" leading and trailing .JPEG",
        b"-dash.JPEG",
        b"quote'\"`$(x)\\.JPEG",
        b"star*[a]?.JPEG",
        b"UPPER.JPEG",
        b"upper.JPEG",
        b"l" * 250 + b".JPEG",  # 255 bytes: the most that a name may have
    ]
    for number, name in enumerate(names):
        files[b"names/" + name] = encode(crop(path_photos[2], rng_for(seed, f"name {number}"), 10_000, 4 / 3), quality=90)
    files[b"links/file.JPEG"] = good
    files[b"links/folder/inside.JPEG"] = encode(small, quality=90)
    files[b"links/twin_a.JPEG"] = files[b"links/twin_b.JPEG"] = encode(small, quality=80)  # identical, not linked
    return files


def make_odd(pyramids, seed, out, quiet):
    root = os.path.join(os.fsencode(out), b"odd")
    files = odd_files(pyramids, seed)
    for path, data in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data)
    links = os.path.join(root, b"links")
    for name, target in [(b"symlink.JPEG", b"file.JPEG"), (b"symlink_up.JPEG", b"../formats/grey.JPEG"), (b"dangling.JPEG", b"nowhere.JPEG"),
                         (b"symlink_folder", b"folder"), (b"symlink_raw_bytes.JPEG", b"../names/latin1_\xe9t\xe9.JPEG")]:
        full = os.path.join(links, name)
        if os.path.lexists(full):
            os.unlink(full)
        os.symlink(target, full)
    hard = os.path.join(links, b"hard_link.JPEG")
    if os.path.lexists(hard):
        os.unlink(hard)
    os.link(os.path.join(links, b"file.JPEG"), hard)
    os.makedirs(os.path.join(root, b"empty_folder"), exist_ok=True)
    if not quiet:
        print(f"dataset.py: {os.path.join(out, 'odd')}: {len(files)} odd files, 6 links", file=sys.stderr)


def count(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def main():
    parser = argparse.ArgumentParser(description="Makes a folder of photographs that looks like ImageNet's training set.")
    parser.add_argument("out", metavar="OUT", help="folder to make; it must not exist, or be empty (without an odd/ for --files 0)")
    parser.add_argument("--files", type=count, default=1000, metavar="N", help="photographs to make (1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another seed gives other photographs (0)")
    parser.add_argument("--classes", type=count, metavar="N", help=f"folders (one for {FILES_PER_CLASS} files, at least 2, at most {CLASSES_MAX})")
    parser.add_argument("--odd", action="store_true", help="add OUT/odd: odd formats, broken files, odd names, links")
    parser.add_argument("--jobs", type=count, default=len(os.sched_getaffinity(0)), metavar="N", help="processes (one a core)")
    parser.add_argument("--photos", default=PHOTOS, metavar="DIR", help=f"where the photographs are ({PHOTOS})")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    args = parser.parse_args()
    if os.path.isdir(args.out) and (os.listdir(args.out) if args.files else os.path.exists(os.path.join(args.out, "odd"))):
        sys.exit(f"dataset.py: {args.out}: is there already, with files; give the name of a new folder")
    classes = args.classes or min(CLASSES_MAX, max(2, args.files // FILES_PER_CLASS))
    os.makedirs(args.out, exist_ok=True)
    pyramids = load_photos(args.photos)
    if args.files:
        make_photos(pyramids, args.seed, args.out, args.files, min(classes, args.files), max(1, args.jobs), args.quiet)
    if args.odd:
        make_odd(pyramids, args.seed, args.out, args.quiet)


if __name__ == "__main__":
    main()
