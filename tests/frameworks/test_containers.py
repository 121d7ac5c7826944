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
import pickletools
import random
import re
import subprocess
import sys
import zipfile

import pytest

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

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


def make_rng():
    seed = int(os.environ.get("AUGUR_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"AUGUR_TEST_SEED={seed}")
    return numpy.random.default_rng(seed)


@pytest.fixture
def rng():
    return make_rng()


def random_pixels(rng, *shape):
    return rng.integers(0, 256, shape, dtype=numpy.uint8)


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


# NPY

def test_npy_is_what_numpy_saves(container_dump, rng, tmp_path):
    for _ in range(60):
        pixels = random_pixels(rng, *map(int, rng.integers(1, 120, 2)), 3)
        for spec, array in (("npy", pixels), ("npy+layout=chw", pixels.transpose(2, 0, 1)),
                            ("npy+dtype=f32", pixels.astype(numpy.float32) / numpy.float32(255))):
            container_dump.render(spec, pixels, tmp_path / "x.npy")
            saved = io.BytesIO()
            numpy.save(saved, numpy.ascontiguousarray(array))
            assert (tmp_path / "x.npy").read_bytes() == saved.getvalue(), (spec, pixels.shape)


def test_npy_header_of_long_sides(container_dump, rng, tmp_path):
    for shape in ((1, 65535, 3), (65535, 1, 3), (100000, 1, 3)):
        pixels = random_pixels(rng, *shape)
        container_dump.render("npy", pixels, tmp_path / "x.npy")
        saved = io.BytesIO()
        numpy.save(saved, pixels)
        assert (tmp_path / "x.npy").read_bytes() == saved.getvalue()


def test_npy_is_mapped(container_dump, rng, tmp_path):
    pixels = random_pixels(rng, 30, 40, 3)
    container_dump.render("npy+layout=chw", pixels, tmp_path / "x.npy")
    mapped = numpy.load(tmp_path / "x.npy", mmap_mode="r")
    assert isinstance(mapped, numpy.memmap) and mapped.offset % 64 == 0
    assert numpy.array_equal(mapped, pixels.transpose(2, 0, 1))


def test_npy_from_numpy_of_torch(container_dump, rng, tmp_path):
    torch = pytest.importorskip("torch")
    pixels = random_pixels(rng, 30, 40, 3)
    container_dump.render("npy", pixels, tmp_path / "x.npy")
    assert torch.equal(torch.from_numpy(numpy.load(tmp_path / "x.npy")), torch.from_numpy(pixels))


def test_npy_of_tensorflow(container_dump, rng, tmp_path):
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("not installed: tensorflow")
    pixels = random_pixels(rng, 30, 40, 3)
    container_dump.render("npy", pixels, tmp_path / "x.npy")
    # The words of the page, in a process without torch.
    script = ("import sys, tensorflow as tf; f = sys.argv[1]; "
              "sys.stdout.buffer.write(tf.io.decode_raw(tf.strings.substr(tf.io.read_file(f), 128, -1), tf.uint8).numpy().tobytes())")
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "x.npy"], capture_output=True, timeout=300, check=True,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
    assert done.stdout == pixels.tobytes()
    assert "tf.io.decode_raw(tf.strings.substr(tf.io.read_file(f), 128, -1), tf.uint8)" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("spec", ["pt", "pt+layout=hwc", "pt+dtype=f32", "pt+dtype=f32+mean=0.5_0.4_0.3+std=0.2_0.3_0.4"])
def test_pt_is_a_tensor(container_dump, rng, tmp_path, spec):
    """By every way of torch.load, as the array of the npy view of the same words; and Python's zipfile, which checks the sums, accepts it."""
    torch = pytest.importorskip("torch")
    array_spec = spec.replace("pt", "npy+layout=chw" if "layout" not in spec else "npy", 1)
    shapes = [(1, 1), (1, 255), (256, 1), (85, 257), (1, 65535), (65535, 1)] + [tuple(map(int, rng.integers(1, 120, 2))) for _ in range(20)]
    for height, width in shapes:
        pixels = random_pixels(rng, height, width, 3)
        assert container_dump.render(spec, pixels, tmp_path / "x.pt") == ".pt"
        container_dump.render(array_spec, pixels, tmp_path / "x.npy")
        wanted = torch.from_numpy(numpy.load(tmp_path / "x.npy"))
        for options in ({}, {"weights_only": False}, {"mmap": True}):
            got = torch.load(tmp_path / "x.pt", **options)
            assert got.dtype == wanted.dtype and got.is_contiguous() and torch.equal(got, wanted), (pixels.shape, options)
        with open(tmp_path / "x.pt", "rb") as file:
            assert torch.equal(torch.load(file), wanted)
        with zipfile.ZipFile(tmp_path / "x.pt") as archive:
            assert archive.testzip() is None


def test_pt_is_laid_out_as_torch_saves(container_dump, rng, tmp_path):
    """What torch saves of the same tensor has the same pickle, as Python reads it, and its data at the same alignment."""
    torch = pytest.importorskip("torch")
    pixels = random_pixels(rng, 30, 40, 3)
    container_dump.render("pt", pixels, tmp_path / "x.pt")
    torch.save(torch.load(tmp_path / "x.pt"), tmp_path / "saved.pt")
    calls = {}
    for name in ("x.pt", "saved.pt"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            (path,) = [one for one in archive.namelist() if one.endswith("/data.pkl")]
            calls[name] = [(opcode.name, value) for opcode, value, _ in pickletools.genops(archive.read(path))
                           if opcode.name not in ("BINPUT", "LONG_BINPUT", "BINGET")]
            data = archive.getinfo(path.replace("data.pkl", "data/0"))
            with archive.open(data) as file:
                assert file._fileobj._pos % 64 == 0  # noqa: SLF001: where the data begin
    assert calls["x.pt"] == calls["saved.pt"]


def normalised(pixels, mean, std):
    from torchvision import transforms

    steps = [transforms.ToTensor()]
    if mean is not None:
        steps.append(transforms.Normalize([float(text) for text in mean], [float(text) for text in std]))
    return transforms.Compose(steps)(Image.fromarray(pixels)).numpy()


def random_number(rng, low):
    return f"{rng.uniform(low, 1):.{int(rng.integers(2, 20))}f}"


@pytest.mark.parametrize("layout", ["hwc", "chw"])
def test_f32_is_totensor_and_normalize_bit_for_bit(container_dump, rng, tmp_path, layout):
    pytest.importorskip("torchvision")
    every = numpy.repeat(numpy.arange(256, dtype=numpy.uint8), 3).reshape(16, 16, 3)  # each value in each channel
    cases = [(None, None), (("0.485", "0.456", "0.406"), ("0.229", "0.224", "0.225")), (("0.5",) * 3, ("0.5",) * 3),
             (("0", "0", "0"), ("1", "1", "1")), (("1", "0", "0.1"), ("0.000001", "1", "0.1")),
             (("0.5071", "0.4865", "0.4409"), ("0.2673", "0.2564", "0.2762"))]
    cases += [([random_number(rng, 0) for _ in range(3)], [random_number(rng, 0.01) for _ in range(3)]) for _ in range(100)]
    for mean, std in cases:
        spec = f"npy+dtype=f32+layout={layout}"
        if mean is not None:
            spec += f"+mean={'_'.join(mean)}+std={'_'.join(std)}"
        for spelling in (spec, container_dump.ask("canonical", spec)):
            container_dump.render(spelling, every, tmp_path / "x.npy")
            wanted = normalised(every, mean, std)
            wanted = wanted if layout == "chw" else numpy.ascontiguousarray(wanted.transpose(1, 2, 0))
            found = numpy.load(tmp_path / "x.npy")
            assert found.dtype == numpy.float32 and found.shape == wanted.shape
            assert (found.view(numpy.uint32) == wanted.view(numpy.uint32)).all(), spelling


def test_validation_transform_bit_for_bit(container_dump, rng, tmp_path):
    pytest.importorskip("torchvision")
    from torchvision import transforms

    transform = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
                                    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    passes = "pillow13" if int(Image.__version__.partition(".")[0]) >= 13 else "pillow12"
    spec = f"npy+size=256+crop=224+passes={passes}+layout=chw+dtype=f32+mean=0.485_0.456_0.406+std=0.229_0.224_0.225"
    shapes = [(256, 256), (224, 224), (100, 90), (500, 375), (375, 500), (257, 300), (1000, 150)]
    for height, width in shapes + [tuple(map(int, rng.integers(60, 700, 2))) for _ in range(10)]:
        pixels = random_pixels(rng, height, width, 3)
        container_dump.render(spec, pixels, tmp_path / "x.npy")
        wanted = transform(Image.fromarray(pixels)).numpy()
        found = numpy.load(tmp_path / "x.npy")
        assert (found.view(numpy.uint32) == wanted.view(numpy.uint32)).all(), (width, height)
