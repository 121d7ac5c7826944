# SPDX-License-Identifier: Apache-2.0
"""The tree seen through views: SEMANTICS.md, Views. What pixels should be says Pillow."""

import errno
import io
import os
import pathlib
import stat

import pytest
from kernel_caches import drop_caches
from mounts import statistics
from program_runs import run
from skips import needs_root
from system_calls import errno_of

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")

from view_fixtures import SPECS, array, decoded, files_below, mounted, pillow, view, view_store, view_tree  # noqa: E402, F401
from view_tree import MANY, NPY_NAMES, TIME_NS, TRUNCATED, images, npy_path, others  # noqa: E402

pytestmark = needs_root

IMAGES = images()
OTHERS = others()
RENDERED_BY_PIXELS = {path: data for path, data in IMAGES.items() if data[:2] == b"\xff\xd8"}


@pytest.mark.parametrize("path", IMAGES)
def test_npy_is_what_pillow_decodes(mounted, path):
    """W1"""
    got = numpy.load(view(mounted, "npy") / npy_path(path))
    assert got.dtype == numpy.uint8 and numpy.array_equal(got, array(IMAGES[path]))
    mapped = numpy.load(view(mounted, "npy") / npy_path(path), mmap_mode="r")
    assert numpy.array_equal(mapped, got)


def test_npy_as_torch_has_it(mounted):
    """W1: resized to the shorter side, cropped, in float32 and with the channels first."""
    got = numpy.load(view(mounted, "npy+size=16+crop=12+layout=chw+dtype=f32") / "photos" / "rgb.npy")
    left, top = (24 - 12) // 2, (16 - 12) // 2
    wanted = pillow(IMAGES["photos/rgb.JPEG"]).resize((24, 16), Image.BILINEAR).crop((left, top, left + 12, top + 12))
    assert numpy.array_equal(got, numpy.asarray(wanted).transpose(2, 0, 1).astype(numpy.float32) / numpy.float32(255))


@pytest.mark.parametrize("path", RENDERED_BY_PIXELS)
@pytest.mark.parametrize("spec", ["pixels", "pixels+as=ppm", "pixels+as=bmp"])
def test_pixels_under_the_same_name(mounted, spec, path):
    """W1: a script that opens the JPEG opens them; grey stays grey, and a turned photograph is turned by who turns it."""
    original = Image.open(io.BytesIO(IMAGES[path]))
    with Image.open(view(mounted, spec) / path) as got:
        turned = path == "photos/turned.JPEG"
        assert got.format == ("PNG" if spec == "pixels" or turned else spec[-3:].upper())
        assert got.mode == ("L" if original.mode == "L" else "RGB")
        assert numpy.array_equal(numpy.asarray(got.convert("RGB")), array(IMAGES[path]))
        upright = numpy.asarray(ImageOps.exif_transpose(got).convert("RGB"))
    exif_turned = array(IMAGES[path])[::-1].swapaxes(0, 1) if turned else array(IMAGES[path])
    assert numpy.array_equal(upright, exif_turned)


def test_what_is_no_image_passes_through(mounted, view_tree):
    """W2: in pixel views, byte for byte; a PNG, too, unless all are asked for. In npy views it is absent."""
    through = [*OTHERS, *(path for path in IMAGES if path not in RENDERED_BY_PIXELS)]
    for path in through:
        assert (view(mounted, "pixels") / path).read_bytes() == (view_tree / path).read_bytes()
    with Image.open(view(mounted, "pixels+all+as=ppm") / "photos" / "mask.png") as mask:
        assert mask.format == "PPM" and mask.mode == "L"
    for path in OTHERS:
        with pytest.raises(FileNotFoundError):
            (view(mounted, "npy") / path).stat()
    for spec in ("npy", "pixels"):
        assert os.readlink(view(mounted, spec) / "photos" / "link") == "rgb.JPEG"
    assert (view(mounted, "pixels") / "photos" / "link").read_bytes()[:4] == b"\x89PNG"


def test_the_original_files_stay(mounted, view_tree):
    """W3"""
    for path in [*IMAGES, *OTHERS, TRUNCATED]:
        assert (view(mounted, "npy") / "photos").is_dir()
        assert (mounted / path).read_bytes() == (view_tree / path).read_bytes()


@pytest.mark.parametrize("spec", SPECS)
def test_sizes_need_no_pixels_and_are_right(room, mounts, point, view_store, spec):
    """W6: a scan with stat decodes nothing; then each file has as many bytes as was said."""
    mounts.mount(view_store, point)
    top = view(point, spec)
    sizes = {path: os.lstat(top / path).st_size for path in files_below(top) if not (top / path).is_symlink()}
    assert len(sizes) > MANY and decoded(point) == 0
    for path, size in sizes.items():
        if not path.startswith("many/0") and "truncated" not in path:
            assert len((top / path).read_bytes()) == size, path
    assert decoded(point) > 0


def test_other_attributes_are_the_files_own(mounted, view_tree):
    """W6"""
    for path in ("npy/photos/rgb.npy", "pixels/photos/rgb.JPEG"):
        got = os.stat(view(mounted, path))
        assert (got.st_mtime_ns, got.st_mode, got.st_nlink) == (TIME_NS, stat.S_IFREG | 0o640, 1)
    assert os.stat(view(mounted, "npy/photos")).st_mtime_ns == os.stat(view_tree / "photos").st_mtime_ns


def test_nothing_can_be_changed(mounted):
    """W6"""
    file = view(mounted, "npy") / "top.npy"
    assert errno_of(os.truncate, file, 0) == errno.EROFS
    assert errno_of(os.unlink, file) == errno.EROFS
    assert errno_of(os.mkdir, view(mounted, "npy") / "new") == errno.EROFS
    assert errno_of(os.getxattr, file, "user.x") == errno.EOPNOTSUPP
    assert errno_of(os.listdir, file) == errno.ENOTDIR


def test_any_piece_of_a_file(mounted):
    """W6: read in any order and beyond the end."""
    path = view(mounted, "npy") / "photos" / "large.npy"
    whole = path.read_bytes()
    assert len(whole) == 128 + 900 * 900 * 3
    drop_caches()
    fd = os.open(path, os.O_RDONLY)
    try:
        for begin, size in ((len(whole) - 10, 100), (1_000_001, 1 << 20), (0, 1), (127, 3), (len(whole), 1)):
            assert os.pread(fd, size, begin) == whole[begin:begin + size]
    finally:
        os.close(fd)


def test_an_image_that_cannot_be_decoded(room, mounts, point, view_store):
    """W9: it has a size, reading it is EIO and said once with its path, and nothing else suffers."""
    log = room / "log"
    mounts.mount(view_store, point, f"log={log}")
    path = view(point, "npy") / npy_path(TRUNCATED)
    for _ in range(3):
        assert os.stat(path).st_size == 128 + 64 * 64 * 3
        assert errno_of(path.read_bytes) == errno.EIO
        assert errno_of((view(point, "pixels") / TRUNCATED).read_bytes) == errno.EIO
    assert numpy.array_equal(numpy.load(view(point, "npy") / "top.npy"), array(IMAGES["top.jpg"]))
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if TRUNCATED in line]
    assert len(lines) == 2 and all("truncated" in line and "record" in line and "error" in line for line in lines)
    assert statistics(point)["counters"]["decode_errors"] >= 2
    tolerated = numpy.load(view(point, "npy+tolerant") / npy_path(TRUNCATED))
    assert tolerated.shape == (64, 64, 3) and tolerated[:16].any()


def test_a_copy_of_a_view(room, mounted):
    """W4, W6: a whole view can be copied by cp, but for what cannot be decoded."""
    done = run(["cp", "-r", view(mounted, "npy") / "clash", room / "copy"])
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(os.listdir(room / "copy")) == sorted(NPY_NAMES["clash"].values())
    assert pathlib.Path(room / "copy" / "a.png.npy").read_bytes() == (view(mounted, "npy") / "clash" / "a.png.npy").read_bytes()
