# SPDX-License-Identifier: Apache-2.0
"""What turns an image when its JPEG or PNG is read turns it when the view is read, whatever type the EXIF field has.

PPM and BMP carry no EXIF, so the view must be a PNG wherever one of the readers turns the original.
"""

import io
import struct
import zlib

import pytest

Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")
cv2 = pytest.importorskip("cv2")
numpy = pytest.importorskip("numpy")

SIZE = (20, 10)
# TIFF's types and a value of 6 in each: numbers of every kind, one that has no type, and text.
FIELDS = {
    "BYTE": (1, "B", 6), "ASCII": (2, "2s", b"6\0"), "SHORT": (3, "H", 6), "LONG": (4, "I", 6), "RATIONAL": (5, "II", 12, 2),
    "SBYTE": (6, "b", 6), "UNDEFINED": (7, "B", 6), "SSHORT": (8, "h", 6), "SLONG": (9, "i", 6), "SRATIONAL": (10, "ii", -6, -1),
    "FLOAT": (11, "f", 6.0), "DOUBLE": (12, "d", 6.0), "IFD": (13, "I", 6), "LONG8": (16, "Q", 6), "unknown": (99, "H", 6),
    "6.5": (5, "II", 13, 2), "upright": (3, "H", 1), "upright LONG": (4, "I", 1), "nine": (3, "H", 9),
}
CASES = [(name, order) for name in FIELDS for order in ("<", ">")]


def block(name, order):
    """An EXIF block whose only field is the orientation."""
    kind, form, *values = FIELDS[name]
    value = struct.pack(order + form, *values)
    field = struct.pack(order + "HHHI", 1, 0x0112, kind, 1)
    behind = struct.pack(order + "I", 26) if len(value) > 4 else value.ljust(4, b"\0")
    return {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HI", 42, 8) + field + behind + bytes(4) + (value if len(value) > 4 else b"")


def jpeg(exif):
    out = io.BytesIO()
    Image.new("RGB", SIZE, (200, 30, 90)).save(out, "JPEG", exif=b"Exif\0\0" + exif)
    return out.getvalue()


def png(exif):
    out = io.BytesIO()
    Image.new("RGB", SIZE, (200, 30, 90)).save(out, "PNG")
    file, chunk = out.getvalue(), b"eXIf" + exif
    return file[:33] + struct.pack(">I", len(exif)) + chunk + struct.pack(">I", zlib.crc32(chunk)) + file[33:]


def turned(file):
    """[whether Pillow turns it, whether OpenCV does]."""
    with Image.open(io.BytesIO(file)) as image:
        by_pillow = ImageOps.exif_transpose(image).size
    height, width = cv2.imdecode(numpy.frombuffer(file, numpy.uint8), cv2.IMREAD_COLOR).shape[:2]
    assert {by_pillow, (width, height)} <= {SIZE, SIZE[::-1]}
    return [by_pillow != SIZE, (width, height) != SIZE]


@pytest.fixture
def convert(container_dump, tmp_path):
    def run(spec, file):
        (tmp_path / "in").write_bytes(file)
        ending = container_dump.ask("convert", spec, tmp_path / "in", tmp_path / "out")
        return ending, (tmp_path / "out").read_bytes()

    return run


@pytest.mark.filterwarnings("ignore")  # of Pillow, at fields that are no good
@pytest.mark.parametrize("container", ["ppm", "bmp", "png"])
@pytest.mark.parametrize(("name", "order"), CASES)
def test_the_view_is_turned_as_the_original(convert, container, name, order):
    for make in (jpeg, png):
        original = make(block(name, order))
        ending, view = convert(f"pixels+all+as={container}", original)
        assert turned(view) == turned(original), f"{make.__name__}: {ending}"


@pytest.mark.parametrize("container", ["ppm", "bmp"])
@pytest.mark.parametrize("name", ["upright", "upright LONG", "nine", "6.5"])
def test_what_no_reader_turns_keeps_its_container(convert, container, name):
    original = jpeg(block(name, "<"))
    assert turned(original) == [False, False]
    assert convert(f"pixels+as={container}", original)[0] == f".{container}"


def test_a_block_with_its_name_in_front_is_found_in_a_png(convert):
    original = png(b"Exif\0\0" + block("SHORT", ">"))
    assert turned(original)[0]
    ending, view = convert("pixels+all+as=ppm", original)
    assert ending == ".png"
    assert turned(view)[0]
