# SPDX-License-Identifier: Apache-2.0
"""The arrays and tensors that views write are those of NumPy, torch and torchvision, byte for byte.

Random numbers come from a seed that is printed by a failure (AUGUR_TEST_SEED repeats it). A library that is not installed is skipped
by name.
"""

import importlib.util
import io
import os
import pathlib
import pickletools
import subprocess
import sys
import zipfile

import pytest

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")
from random_pixels import random_pixels, rng  # noqa: E402, F401

PAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "views" / "VIEWS.md"


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
