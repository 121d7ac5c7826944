# SPDX-License-Identifier: Apache-2.0
"""What views write is read by real readers under a .JPEG name, with equal pixels; src/views/VIEWS.md says by which.

The expectations are the table "Who reads which container" of that page: a row that is wrong fails here. Random numbers come from a
seed that is printed by a failure (AUGUR_TEST_SEED repeats it). A library that is not installed is skipped by name.
"""

import importlib.util
import io
import os
import pathlib
import pickle
import re
import subprocess
import sys

import pytest

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")
from random_pixels import make_rng, random_pixels, rng  # noqa: E402, F401

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "src" / "views" / "VIEWS.md"
CONTAINERS = ("png", "ppm", "bmp")
FAMILIES = {"PIL": "PIL", "cv2": "cv2", "torchvision": "torchvision", "tf": "tensorflow", "keras": "keras", "nvidia": "nvidia.dali"}
TURNED = {
    2: lambda image: image[:, ::-1],
    3: lambda image: image[::-1, ::-1],
    4: lambda image: image[::-1],
    5: lambda image: image.swapaxes(0, 1),
    6: lambda image: image[::-1].swapaxes(0, 1),
    7: lambda image: image[::-1, ::-1].swapaxes(0, 1),
    8: lambda image: image.swapaxes(0, 1)[::-1],
}


def table():
    """{reader: {"png": ..., "ppm": ..., "bmp": ..., "exif": ...}} of the page."""
    text = PAGE.read_text(encoding="utf-8").partition("## Who reads which container")[2]
    rows = re.findall(r"^\| `(.+)` \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$", text, re.MULTILINE)
    return {row[0]: dict(zip(("png", "ppm", "bmp", "exif"), row[1:])) for row in rows}


TABLE = table()


def family_of(reader):
    return FAMILIES[re.match(r"\w+", reader)[0]]


def exif_block(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "a maker"
    return exif.tobytes()[6:]


def jpeg_bytes(image, **options):
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


class Files:
    """Files named x.JPEG, each alone in its folder, with the pixels that a reader must find in it."""

    def __init__(self, folder):
        self.folder, self.paths, self.pixels, self.keys = folder, [], [], []

    def path(self):
        folder = self.folder / str(len(self.paths))
        folder.mkdir()
        return folder / "x.JPEG"

    def add(self, key, path, pixels=None):
        self.keys.append(key)
        self.paths.append(path)
        self.pixels.append(pixels)


@pytest.fixture(scope="session")
def files(container_dump, tmp_path_factory):
    """keys: ("container", its name), ("exif", orientation), ("jpeg", kind) and its ("view of", kind)."""
    rng = make_rng()
    made = Files(tmp_path_factory.mktemp("files"))
    # A row of 65,534 bytes and its filter byte are one deflate block: 21,844 and 21,845 RGB pixels are on both sides of it.
    shapes = [(1, 1), (1, 2), (2, 1), (3, 5), (64, 64), (1, 21844), (1, 21845), (2, 21845), (3, 32767), (257, 254), (21846, 1)]
    shapes += [tuple(map(int, rng.integers(1, 200, 2))) for _ in range(6)]
    for container in CONTAINERS:
        for height, width in shapes:
            for shape in ((height, width, 3), (height, width)):
                pixels, path = random_pixels(rng, *shape), made.path()
                assert container_dump.render(f"pixels+as={container}", pixels, path) == f".{container}"
                made.add(("container", container), path, pixels)
    for orientation in range(1, 9):
        pixels, path = random_pixels(rng, 31, 47, 3), made.path()
        exif = exif_block(orientation)
        assert container_dump.render("pixels", pixels, path, orientation=orientation, exif=exif) == ".png"
        made.add(("exif", orientation), path, pixels)
    smooth = Image.fromarray(random_pixels(rng, 9, 7, 3)).resize((157, 211), Image.Resampling.BICUBIC)
    exif = b"Exif\0\0" + exif_block(6)
    for kind, data in {
        "colour": jpeg_bytes(smooth, quality=85),
        "grey": jpeg_bytes(smooth.convert("L"), quality=85),
        "progressive": jpeg_bytes(smooth, quality=60, progressive=True, subsampling=0),
        "turned": jpeg_bytes(smooth, quality=90, exif=exif),
        "turned grey": jpeg_bytes(smooth.convert("L"), exif=exif),
    }.items():
        path = made.path()
        path.write_bytes(data)
        made.add(("jpeg", kind), path)
        view = made.path()
        assert container_dump.ask("convert", "pixels", path, view) == ".png"
        made.add(("view of", kind), view)
    return made


@pytest.fixture(scope="session")
def seen(files, tmp_path_factory):
    """seen(reader): what it makes of each of the files. Each library is run once, in a process of its own."""
    folder, known = tmp_path_factory.mktemp("seen"), {}

    def read(reader):
        family = family_of(reader)
        if importlib.util.find_spec(family.partition(".")[0]) is None:
            pytest.skip(f"not installed: {family}")
        if family not in known:
            (folder / "list").write_text("\n".join(map(str, files.paths)))
            words = [sys.executable, HERE / "scripts" / "read_images.py", family, folder / "list", folder / family]
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True, errors="replace", timeout=500,
                                  stdin=subprocess.DEVNULL, env=dict(os.environ, CUDA_VISIBLE_DEVICES="", KERAS_BACKEND="tensorflow"))
            assert done.returncode == 0, done.stderr[-4000:]
            known[family] = pickle.loads((folder / family).read_bytes())
        return known[family][reader]

    return read


def as_read(pixels, image):
    """The pixels in the shape that a reader chose for a grey image."""
    if pixels.ndim == 3 or image.ndim == 2:
        return pixels
    return numpy.repeat(pixels[:, :, None], image.shape[2], axis=2)


def same(pixels, image):
    wanted = as_read(pixels, image)
    return wanted.shape == image.shape and bool((wanted == image).all())


def test_the_page_has_every_reader(seen):
    assert len(TABLE) == 22
    for reader, row in TABLE.items():
        assert set(row.values()) <= {"yes", "no", "turned", "ignored", "-"}, reader


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("reader", TABLE)
def test_reader_takes_the_container_or_refuses_it(seen, files, reader, container):
    results = [(files.paths[i], files.pixels[i], result) for i, result in enumerate(seen(reader))
               if files.keys[i] == ("container", container)]
    assert len(results) == 34
    for path, pixels, result in results:
        if TABLE[reader][container] == "yes":
            assert not isinstance(result, str), f"{path} {pixels.shape}: {result}"
            assert same(pixels, result), f"{path} {pixels.shape}: other pixels"
        else:
            assert isinstance(result, str), f"{path} {pixels.shape}: read, and the page says that it is not"


@pytest.mark.parametrize("reader", [reader for reader in TABLE if TABLE[reader]["png"] == "yes"])
def test_exif_of_a_png_turns_the_picture_or_not(seen, files, reader):
    results = [(files.keys[i][1], files.pixels[i], result) for i, result in enumerate(seen(reader)) if files.keys[i][0] == "exif"]
    assert len(results) == 8
    for orientation, pixels, result in results:
        assert not isinstance(result, str), result
        turns = TABLE[reader]["exif"] == "turned" and orientation in TURNED
        assert same(TURNED[orientation](pixels) if turns else pixels, result), f"orientation {orientation}"


# The others of the table decode JPEGs with a fast DCT, of which no one else has the pixels.
@pytest.mark.parametrize("reader", [reader for reader in TABLE if TABLE[reader]["png"] == "yes" and not (
    reader in ("tf.io.decode_png", "tf.io.decode_jpeg", "keras.utils.image_dataset_from_directory")
    or reader.startswith("tf.io.decode_image"))])
def test_view_of_a_jpeg_is_read_as_the_jpeg_is(seen, files, reader):
    results = dict(zip(files.keys, seen(reader)))
    for (what, kind), jpeg in results.items():
        if what != "jpeg":
            continue
        view = results["view of", kind]
        assert not isinstance(jpeg, str) and not isinstance(view, str), f"{kind}: {jpeg}, {view}"
        assert jpeg.shape == view.shape and (jpeg == view).all(), kind


def test_exif_of_a_view_is_that_of_the_jpeg(files):
    paths = dict(zip(files.keys, files.paths))
    with Image.open(paths["jpeg", "turned"]) as jpeg, Image.open(paths["view of", "turned"]) as view:
        assert dict(jpeg.getexif()) == dict(view.getexif()) == {0x0112: 6, 0x010F: "a maker"}
        assert jpeg.info["exif"] == view.info["exif"]


def test_an_orientation_in_xmp_alone_does_not_go_along(container_dump, tmp_path):
    """What the page says is lost. When Pillow turns no more by it, the page can say less."""
    from PIL import ImageOps

    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    (tmp_path / "x.JPEG").write_bytes(jpeg_bytes(Image.new("RGB", (8, 4)), xmp=xmp))
    container_dump.ask("convert", "pixels", tmp_path / "x.JPEG", tmp_path / "y.JPEG")
    with Image.open(tmp_path / "x.JPEG") as jpeg, Image.open(tmp_path / "y.JPEG") as view:
        assert ImageOps.exif_transpose(jpeg).size == (4, 8)
        assert ImageOps.exif_transpose(view).size == (8, 4)


@pytest.mark.parametrize("container", ["ppm", "bmp"])
def test_a_turned_image_is_a_png_whatever_the_view_says(container_dump, rng, tmp_path, container):
    for orientation in range(9):
        ending = container_dump.render(f"pixels+as={container}", random_pixels(rng, 4, 6, 3), tmp_path / "x.JPEG",
                                       orientation=orientation, exif=exif_block(orientation) if orientation else None)
        assert ending == (".png" if orientation > 1 else f".{container}")


def test_modes_are_those_of_the_jpeg(container_dump, rng, tmp_path):
    for container in CONTAINERS:
        for pixels, mode in ((random_pixels(rng, 5, 7, 3), "RGB"), (random_pixels(rng, 5, 7), "L")):
            container_dump.render(f"pixels+as={container}", pixels, tmp_path / "x.JPEG")
            with Image.open(tmp_path / "x.JPEG") as image:
                assert image.mode == mode, container
                image.verify()


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_jpeg_of_each_mode_is_what_pillow_makes_of_it(container_dump, rng, tmp_path, mode):
    image = Image.fromarray(random_pixels(rng, 6, 8, 3)).resize((61, 83), Image.Resampling.BICUBIC).convert(mode)
    (tmp_path / "x.JPEG").write_bytes(jpeg_bytes(image))
    with Image.open(tmp_path / "x.JPEG") as jpeg:
        wanted = numpy.array(jpeg.convert("RGB"))
    assert container_dump.ask("convert", "npy", tmp_path / "x.JPEG", tmp_path / "x.npy") == ".npy"
    assert numpy.array_equal(numpy.load(tmp_path / "x.npy"), wanted)
    for container in CONTAINERS:
        container_dump.ask("convert", f"pixels+as={container}", tmp_path / "x.JPEG", tmp_path / "y.JPEG")
        with Image.open(tmp_path / "y.JPEG") as view:
            assert view.mode == ("L" if mode == "L" else "RGB")
            assert numpy.array_equal(numpy.array(view.convert("RGB")), wanted)


def test_only_jpegs_become_pixels_unless_all(container_dump, rng, tmp_path):
    for pixels in (random_pixels(rng, 5, 7, 3), random_pixels(rng, 5, 7), random_pixels(rng, 5, 7, 4)):
        Image.fromarray(pixels).save(tmp_path / "x.png")
        assert container_dump.ask("convert", "pixels", tmp_path / "x.png", tmp_path / "y") == "original"
        assert container_dump.ask("convert", "pixels+all", tmp_path / "x.png", tmp_path / "y") == ".png"
        with Image.open(tmp_path / "y") as view:
            assert numpy.array_equal(numpy.array(view), pixels[:, :, :3] if pixels.ndim == 3 else pixels)
    colour = Image.fromarray(random_pixels(rng, 11, 13, 3))
    grey = colour.convert("L")
    for image, mode in ((colour.convert("1"), "L"), (grey, "L"), (grey.convert("LA"), "RGB"), (colour.convert("P"), "RGB"),
                        (colour.convert("RGBA"), "RGB"), (Image.fromarray(rng.integers(0, 65536, (11, 13), numpy.uint16)), "L")):
        image.save(tmp_path / "x.png")
        with Image.open(tmp_path / "x.png") as png:
            wanted = numpy.array(png.convert("RGB"))
        container_dump.ask("convert", "pixels+all", tmp_path / "x.png", tmp_path / "y")
        with Image.open(tmp_path / "y") as view:
            assert view.mode == mode
            assert numpy.array_equal(numpy.array(view.convert("RGB")), wanted), image.mode
        container_dump.ask("convert", "npy", tmp_path / "x.png", tmp_path / "y")
        assert numpy.array_equal(numpy.load(tmp_path / "y"), wanted), image.mode
    (tmp_path / "x.txt").write_text("no image")
    assert container_dump.ask("convert", "pixels", tmp_path / "x.txt", tmp_path / "y") == "original"
    assert container_dump.ask("convert", "npy", tmp_path / "x.txt", tmp_path / "y") == "absent"


def test_truncated_jpeg_is_an_error_or_what_pillow_tolerates(container_dump, rng, tmp_path):
    ImageFile = pytest.importorskip("PIL.ImageFile")
    image = Image.fromarray(random_pixels(rng, 9, 7, 3)).resize((157, 211), Image.Resampling.BICUBIC)
    data = jpeg_bytes(image)
    (tmp_path / "x.JPEG").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="truncated"):
        container_dump.ask("convert", "npy", tmp_path / "x.JPEG", tmp_path / "x.npy")
    container_dump.ask("convert", "npy+tolerant", tmp_path / "x.JPEG", tmp_path / "x.npy")
    kept, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, True
    try:
        with Image.open(tmp_path / "x.JPEG") as jpeg:
            wanted = numpy.array(jpeg.convert("RGB"))
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = kept
    assert numpy.array_equal(numpy.load(tmp_path / "x.npy"), wanted)


def test_fast_is_near_and_of_the_same_size(container_dump, rng, tmp_path):
    image = Image.fromarray(random_pixels(rng, 12, 10, 3)).resize((1000, 1200), Image.Resampling.BICUBIC)
    (tmp_path / "x.JPEG").write_bytes(jpeg_bytes(image, quality=95))
    arrays = []
    for spec in ("npy+size=100", "npy+size=100+fast"):
        container_dump.ask("convert", spec, tmp_path / "x.JPEG", tmp_path / "x.npy")
        arrays.append(numpy.load(tmp_path / "x.npy").astype(int))
    exact, fast = arrays
    assert exact.shape == fast.shape == (120, 100, 3)
    assert 0 < numpy.abs(exact - fast).max() and numpy.abs(exact - fast).mean() < 3
