# SPDX-License-Identifier: Apache-2.0
"""What augurpack records of images, against what Pillow says of the same files."""

import io

import pytest
from pack_support import reader, run, store_entries, write

PIL = pytest.importorskip("PIL")
from PIL import Image  # noqa: E402

ORIENTATION = 0x0112
BIT_DEPTHS = {"1": 1, "L": 8, "P": 8, "LA": 8, "RGB": 8, "RGBA": 8, "CMYK": 8, "YCbCr": 8, "I;16": 16}


def encode(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def cases():
    """name -> (bytes, kind, channels, bit depth); the name lies about the kind for some."""
    made = {}
    for mode in ("L", "RGB", "CMYK", "YCbCr"):
        image = Image.new(mode, (41, 23))
        channels = {"L": 1, "RGB": 3, "CMYK": 4, "YCbCr": 3}[mode]
        for name, options in (("plain", {}), ("progressive", {"progressive": True}), ("optimized", {"optimize": True})):
            made[f"{mode}-{name}.JPEG"] = (encode(image, "JPEG", **options), 1, channels, 8)
    for mode, channels in (("1", 1), ("L", 1), ("I;16", 1), ("LA", 2), ("RGB", 3), ("P", 3), ("RGBA", 4)):
        image = Image.new(mode, (41, 23))
        if mode == "P":  # Pillow takes as few bits as the palette needs
            image.putpalette([i % 251 for i in range(768)])
        made[f"{mode}.png"] = (encode(image, "PNG"), 2, channels, BIT_DEPTHS[mode])
    few = Image.new("P", (41, 23))
    few.putpalette(list(range(3 * 16)))
    made["P4.png"] = (encode(few, "PNG"), 2, 3, 4)
    made["png named.JPEG"] = (encode(Image.new("RGB", (41, 23)), "PNG"), 2, 3, 8)
    made["jpeg named.png"] = (encode(Image.new("RGB", (41, 23)), "JPEG"), 1, 3, 8)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[ORIENTATION] = orientation
        exif[0x010F] = "a maker of cameras"
        for kind, number, extension in (("JPEG", 1, "JPEG"), ("PNG", 2, "png")):
            made[f"turned{orientation}.{extension}"] = (encode(Image.new("RGB", (41, 23)), kind, exif=exif), number, 3, 8)
    # An ICC profile of several segments, and a comment, before the picture.
    profile = encode(Image.new("RGB", (41, 23)), "JPEG", icc_profile=b"p" * 300_000, comment=b"c" * 60_000)
    made["profile.JPEG"] = (profile, 1, 3, 8)
    made["truncated.JPEG"] = (made["RGB-plain.JPEG"][0][:-8], 1, 3, 8)
    return made


def exif_bytes(image):
    """From the TIFF header on, of what Pillow found."""
    raw = image.info.get("exif", b"")
    return len(raw) - 6 if raw.startswith(b"Exif\0\0") else len(raw)


def test_images_are_described_as_pillow_sees_them(augurpack, tmp_path):
    made = cases()
    for name, (data, *_) in made.items():
        write(tmp_path / "s" / name, data)
    run(augurpack, "create", tmp_path / "s", tmp_path / "store")
    with reader.Store(tmp_path / "store") as store:
        entries = store_entries(store)
        for name, (data, kind, channels, bit_depth) in made.items():
            got = entries[name.encode()].image
            image = Image.open(io.BytesIO(data))
            assert (got.width, got.height) == image.size, name
            assert (got.kind, got.channels, got.bit_depth) == (kind, channels, bit_depth), name
            assert {1: "JPEG", 2: "PNG"}[got.kind] == image.format, name
            assert got.orientation == image.getexif().get(ORIENTATION, 0), name
            assert got.exif_bytes == exif_bytes(image), name
    reader.full_check(tmp_path / "store")


def test_what_is_no_image_has_no_fields(augurpack, tmp_path):
    jpeg = cases()["RGB-plain.JPEG"][0]
    for name, data in {
        "empty.JPEG": b"", "text.JPEG": b"not an image", "start.JPEG": jpeg[:3], "header.JPEG": jpeg[:100],
        "signature.png": b"\x89PNG\r\n\x1a\n", "gif.png": encode(Image.new("P", (4, 4)), "GIF"),
        "late.JPEG": b"\0" + jpeg,
    }.items():  # fmt: skip
        write(tmp_path / "s" / name, data)
    run(augurpack, "create", tmp_path / "s", tmp_path / "store")
    with reader.Store(tmp_path / "store") as store:
        for name, entry in store_entries(store).items():
            assert entry.image == reader.NO_IMAGE, name
