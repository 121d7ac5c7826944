# SPDX-License-Identifier: Apache-2.0
"""Images of any kind, made of photographs by a random generator, for pixels_compare.py."""

import io
import struct
import zlib

import dataset  # of bench/

# The photographs that are cropped: one with colour, one grey, one with fine detail.
SUBJECTS = ("ColorfulCups", "Grey", "Path")


def load_photos():
    dataset.SUBJECTS = {name: (0.35,) for name in SUBJECTS}
    return [pyramid[0] for pyramid in dataset.load_photos(dataset.PHOTOS)]


def random_crop(photos, rng, side_max=260):
    photo = rng.choice(photos)
    width = min(photo.width, max(1, int(2 ** rng.uniform(0, 8.02)))) if rng.random() < 0.3 else rng.randint(40, side_max)
    height = min(photo.height, max(1, int(2 ** rng.uniform(0, 8.02)))) if rng.random() < 0.3 else rng.randint(40, side_max)
    left, top = rng.randint(0, photo.width - width), rng.randint(0, photo.height - height)
    return photo.crop((left, top, left + width, top + height))


def make_jpeg(photos, rng, progressive=False):
    """As Pillow writes them."""
    image = random_crop(photos, rng).convert(rng.choice(("RGB", "RGB", "RGB", "L", "CMYK")))
    options = {"quality": rng.randint(1, 100), "progressive": rng.random() < 0.3 or progressive, "optimize": rng.random() < 0.2}
    if image.mode == "RGB":
        options["subsampling"] = rng.choice((0, 1, 2))
    if rng.random() < 0.2:
        options["restart_marker_rows"] = rng.randint(1, 3)
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


# Sampling factors of three components: 4:4:4, 4:2:2, 4:2:0, 4:1:1, 4:4:0, 4:1:0, and some that only libjpeg's tests know.
SAMPLINGS = ((11, 11, 11), (21, 11, 11), (22, 11, 11), (41, 11, 11), (12, 11, 11), (42, 11, 11), (14, 11, 11), (24, 11, 11),
             (22, 21, 12), (22, 12, 12), (22, 21, 21), (22, 22, 11), (31, 11, 11), (13, 11, 11), (44, 22, 11))


def make_odd_jpeg(photos, rng, dump, progressive=False):
    """As libjpeg can write them and Pillow does not."""
    space = rng.choice((1, 2, 3, 3, 3, 4, 5, 5))
    image = random_crop(photos, rng).convert({1: "L", 2: "RGB", 3: "RGB"}.get(space, "CMYK"))
    if space == 1:
        sampling = (rng.choice((11, 22, 31)),)
    elif space == 2:
        sampling = rng.choice(((11, 11, 11), (11, 11, 11), (22, 11, 11)))
    else:
        sampling = rng.choice([factors for factors in SAMPLINGS if space < 4 or factors[0] != 44])
        sampling = sampling if space == 3 else (*sampling, sampling[0])
    # An MCU has ten blocks at most.
    if sum(factor // 10 * (factor % 10) for factor in sampling) > 10:
        sampling = (22, 11, 11, 22)[: len(sampling)]
    return dump.encode(image.tobytes(), image.size, space, rng.randint(1, 100), rng.random() < 0.4 or progressive, rng.random() < 0.3,
                       rng.choice((0, 0, 1, 2)), rng.random() < 0.7, sampling)


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


PNG_KINDS = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8), (6, 16)]

PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def make_png(photos, rng):
    """Any kind of PNG: filters and samples that are a photograph's bytes, so that every filter meets every value."""
    color, depth = rng.choice(PNG_KINDS)
    width, height = random_crop(photos, rng, 90).size
    interlaced = rng.random() < 0.4
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    source = random_crop(photos, rng, 90).tobytes()
    rows = []
    for left, top, across, down in PASSES if interlaced else ((0, 0, 1, 1),):
        columns = (width - left + across - 1) // across
        for _ in range((height - top + down - 1) // down if columns > 0 else 0):
            size = (columns * samples * depth + 7) // 8
            start = rng.randrange(len(source))
            rows.append(bytes([rng.randrange(5)]) + (source[start : start + size] * (size // max(1, len(source) - start) + 1))[:size].ljust(size, b"\x55"))
    data = zlib.compress(b"".join(rows), rng.choice((0, 1, 6)))
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced))
    if rng.random() < 0.3:
        file += chunk(b"tEXt", b"Comment\0" + source[:20].replace(b"\0", b" "))
    if color == 3:
        entries = 1 << depth if rng.random() < 0.8 else rng.randint(1, 1 << depth)
        file += chunk(b"PLTE", rng.randbytes(3 * entries))
        if rng.random() < 0.4:
            file += chunk(b"tRNS", rng.randbytes(rng.randint(1, entries)))
    elif color in (0, 2) and rng.random() < 0.3:
        file += chunk(b"tRNS", rng.randbytes(2 if color == 0 else 6))
    if rng.random() < 0.05:
        file += chunk(b"DDAT", b"none of the pixels")
    pieces = rng.randint(1, 4)
    step = len(data) // pieces + 1
    for start in range(0, len(data), step):
        # A DDAT is pixels to Pillow, but for the first of them.
        file += chunk(b"DDAT" if start and rng.random() < 0.1 else b"IDAT", data[start : start + step])
    return file + chunk(b"IEND", b"")


def make_any(dump, photos, rng):
    return rng.choice((lambda: make_jpeg(photos, rng), lambda: make_odd_jpeg(photos, rng, dump), lambda: make_png(photos, rng)))()
