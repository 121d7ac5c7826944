# SPDX-License-Identifier: Apache-2.0
"""The tree seen through views: SEMANTICS.md, Views. What pixels should be says Pillow."""

import concurrent.futures
import errno
import io
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys

import pytest
from conftest import (
    PATIENCE_S,
    anonymous_bytes,
    as_user,
    drop_caches,
    errno_of,
    make_room,
    measures_memory,
    needs_root,
    pack,
    run,
    wait_until,
)

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")

from view_tree import MANY, NPY_NAMES, TIME_NS, TRUNCATED, images, make_view_tree, npy_path, others  # noqa: E402

pytestmark = needs_root

VIEWS_MAX = 2048  # ViewTable::kViewsMax
IMAGES = images()
OTHERS = others()
RENDERED_BY_PIXELS = {path: data for path, data in IMAGES.items() if data[:2] == b"\xff\xd8"}
SPECS = ["npy", "pt", "npy+size=16+crop=12+layout=chw+dtype=f32", "pixels", "pixels+as=ppm+all", "pixels+as=bmp+names=own"]


def pillow(data, mode="RGB"):
    return Image.open(io.BytesIO(data)).convert(mode)


def array(data):
    return numpy.asarray(pillow(data))


@pytest.fixture(scope="module")
def view_tree():
    room = make_room()
    try:
        (room / "tree").mkdir()
        make_view_tree(room / "tree")
        yield room / "tree"
    finally:
        shutil.rmtree(room)


@pytest.fixture(scope="module")
def view_store(augurpack, view_tree, session_room):
    return pack(augurpack, view_tree, session_room / "view-store")


@pytest.fixture(scope="module")
def mounted(view_store, module_mounts):
    """The store mounted, once for the tests that change nothing."""
    room = make_room()
    try:
        (room / "mount").mkdir()
        module_mounts.mount(view_store, room / "mount", f"log={room / 'log'}", "memory=128M")
        yield room / "mount"
    finally:
        subprocess.run(["umount", "-l", room / "mount"], check=True)
        shutil.rmtree(room)


def view(point, spec):
    return point / ".augur" / "views" / spec


def stats(point):
    return json.loads((point / ".augur" / "stats.json").read_text(encoding="utf-8"))


def decoded(point):
    return stats(point)["counters"]["images_decoded"]


def files_below(top):
    return sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names)


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


def test_names_of_npy(mounted):
    """W4"""
    for folder, names in NPY_NAMES.items():
        listed = sorted(row.name for row in os.scandir(view(mounted, "npy") / folder) if row.is_file(follow_symlinks=False))
        assert listed == sorted(names.values())
        for original in names:
            with pytest.raises(FileNotFoundError):
                (view(mounted, "npy") / folder / original).stat()
    assert sorted(os.listdir(view(mounted, "npy"))) == ["clash", "deep", "many", "photos", "top.npy"]


@pytest.mark.parametrize("spec", SPECS)
def test_listing_and_lookup_agree(mounted, spec):
    """W4, W5: every name that is listed is found, as the same inode and with the same attributes, also after the kernel has
    forgotten all; '..' is the folder above."""
    top = view(mounted, spec)
    for _ in range(2):
        drop_caches()
        for folder, _, _ in os.walk(top):
            rows = {row.name: row for row in os.scandir(folder)}
            assert len(rows) == len(os.listdir(folder))
            for name, row in rows.items():
                found = os.lstat(os.path.join(folder, name))
                assert (row.inode(), stat.S_ISDIR(found.st_mode)) == (found.st_ino, row.is_dir(follow_symlinks=False))
            if folder != str(top):
                assert os.stat(os.path.join(folder, "..")).st_ino == os.stat(os.path.dirname(folder)).st_ino


def test_a_long_listing_is_whole(mounted):
    """W5: what is left out makes no gap that a listing stops at, and a place in it can be gone back to."""
    many = view(mounted, "npy") / "many"
    wanted = [f"{number:05d}.npy" for number in range(MANY)]
    assert os.listdir(many) == wanted
    drop_caches()
    assert os.listdir(many) == wanted
    fd = os.open(many, os.O_RDONLY)
    try:
        for _ in range(3):
            assert sorted(os.listdir(fd)) == wanted
    finally:
        os.close(fd)


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


def test_two_spellings_are_one_view(mounted):
    """W7"""
    for one, other in (("npy+size=32", "size=32+npy"), ("npy+size=32", "npy+fit=short+size=32x32"), ("pixels", "as=png+pixels")):
        for _ in range(3):
            for path in ("", "photos", "clash"):
                assert os.path.samefile(view(mounted, one) / path, view(mounted, other) / path)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        spellings = ["npy+size=32", "size=32+npy", "npy+fit=short+size=32"] * 100
        inodes = list(pool.map(lambda spec: os.stat(view(mounted, spec) / "photos" / "rgb.npy").st_ino, spellings))
    assert len(set(inodes)) == 1
    others_inode = os.stat(view(mounted, "npy+size=33") / "photos" / "rgb.npy").st_ino
    assert len({inodes[0], others_inode, os.stat(mounted / "photos" / "rgb.JPEG").st_ino}) == 3


def test_found_by_name_alone(mounted):
    """W8"""
    assert "views" not in os.listdir(mounted / ".augur")
    assert (view(mounted, "npy")).is_dir()
    assert os.listdir(mounted / ".augur" / "views") == []
    assert ".augur" not in os.listdir(view(mounted, "npy"))
    assert os.stat(view(mounted, "npy") / "..").st_ino == os.stat(mounted / ".augur" / "views").st_ino


@pytest.mark.parametrize("spec",
                         ["nonsense", "npy+size=0", "npy+nosuch=1", "pixels+as=jpeg", "npy+npy", "x" * 255, "size=3", "npy+"])
def test_a_wrong_spec_is_a_missing_name(mounted, spec):
    """W8"""
    for _ in range(2):
        assert errno_of(os.stat, view(mounted, spec)) == errno.ENOENT
        assert errno_of(os.listdir, view(mounted, spec)) == errno.ENOENT


def test_any_number_of_views_can_be_looked_up(room, mounts, point, view_store):
    """W8: the kernel is asked to forget those used longest ago. What a program has open stays, and nobody loses what is his."""
    mounts.mount(view_store, point, "allow_other")
    views = point / ".augur" / "views"
    path, data = next(iter(RENDERED_BY_PIXELS.items()))
    inode = (views / "npy").stat().st_ino
    folder = os.open(views / "npy+size=12", os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Who is faster than the kernel forgets is told so, and gets on once it has forgotten.
        sweep = f"""if True:
            import os, sys, time
            end = time.monotonic() + 60
            for side in range(1, {3 * VIEWS_MAX}):
                while True:
                    try:
                        os.stat(f"{{sys.argv[1]}}/npy+crop={{side}}")
                        break
                    except OSError as error:
                        assert error.errno == {errno.EBUSY} and time.monotonic() < end, error
                        time.sleep(0.001)
            """
        many = subprocess.Popen([*as_user(), sys.executable, "-c", sweep, views])
        while many.poll() is None:
            assert numpy.array_equal(numpy.load(views / "npy" / npy_path(path)), array(data))
        assert many.returncode == 0
        assert (views / "npy").stat().st_ino == inode
        assert run([sys.executable, "-c", sweep.replace("crop", "size"), views]).returncode == 0  # by one who is trusted
        fd = os.open(npy_path(path), os.O_RDONLY, dir_fd=folder)
        os.close(fd)
    finally:
        os.close(folder)


def test_a_user_who_holds_many_views_shuts_out_nobody_else(room, mounts, point, view_store):
    """W8: each user has a share of the places for views in use."""
    log = room / "log"
    mounts.mount(view_store, point, "allow_other", f"log={log}")
    views = point / ".augur" / "views"
    program = f"""if True:
        import errno, os, resource, sys
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        held = []
        for side in range(1, {VIEWS_MAX}):
            try:
                held.append(os.open(f"{{sys.argv[1]}}/npy+crop={{side}}", os.O_PATH))
            except OSError as error:
                assert error.errno == errno.EBUSY
                break
        print(len(held), flush=True)
        sys.stdin.read()
        """
    many = subprocess.Popen([*as_user(), sys.executable, "-c", program, views], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert int(many.stdout.readline()) == VIEWS_MAX // 4
        assert errno_of(os.listdir, views / "nonsense") == errno.ENOENT
        for user in (0, 4242):
            for side in range(1, 100):
                assert run([*as_user(user), "stat", views / f"pixels+size={side}"]).returncode == 0
    finally:
        many.communicate(timeout=PATIENCE_S)
    wait_until(lambda: run([*as_user(), "stat", views / "npy+crop=9999"]).returncode == 0, "his own places are free again")
    assert "user 65534 has 512 views in use" in log.read_text(encoding="utf-8")


def test_wrong_specs_do_not_fill_the_log(room, mounts, point, view_store):
    """W8: the first ones of a minute are written, the others are counted; a long name is cut."""
    log = room / "log"
    pid = mounts.mount(view_store, point, f"log={log}")
    size = log.stat().st_size
    wrong = 3000
    for number in range(wrong):
        assert not (point / ".augur" / "views" / f"npy+{number}{'x' * 200}").exists()
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the daemon ends")
    text = log.read_text(encoding="utf-8")
    written = text.count("warning: no such view")
    counted = [int(count.replace(",", "")) for count in re.findall(r"views: and ([\d,]+) more in the last \d+ s, the last one: ", text)]
    assert 20 <= written + len(counted) <= 21 * (1 + len(counted)) and written + sum(counted) == wrong, (written, counted)
    assert log.stat().st_size - size < 50_000 * (1 + len(counted))


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
    assert stats(point)["counters"]["decode_errors"] >= 2
    tolerated = numpy.load(view(point, "npy+tolerant") / npy_path(TRUNCATED))
    assert tolerated.shape == (64, 64, 3) and tolerated[:16].any()


def test_many_readers_at_once(room, mounts, point, view_store):
    """W10: all get the same bytes, and what many want at the same time is decoded once for them."""
    mounts.mount(view_store, point, "memory=64M", "decode-threads=3", "predict=off")
    paths = [path for path in IMAGES if path != "photos/large.JPEG"]
    wanted = {path: array(IMAGES[path]) for path in paths}

    def look(number):
        path = paths[number % len(paths)]
        return numpy.array_equal(numpy.load(view(point, "npy") / npy_path(path)), wanted[path])

    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        for _ in range(5):
            assert all(pool.map(look, range(20 * len(paths))))
            drop_caches()
    counters = stats(point)["counters"]
    assert counters["images_decoded"] == len(paths) and counters["decode_errors"] == 0
    assert counters["rendered_hits"] > 0 and counters["rendered_bytes"] == sum(128 + want.size for want in wanted.values())
    assert stats(point)["histograms"]["decode_time_us"]["count"] == len(paths)


@measures_memory
def test_memory_stays_within_the_budget(room, mounts, point, view_store):
    """W11: RssAnon and RssShmem, while many decode large images and read what was made."""
    pid = mounts.mount(view_store, point, "memory=128M", "decode-threads=4")

    def look(number):
        spec = f"npy+crop={600 + number % 97}"
        shape = numpy.load(view(point, spec) / "photos" / ("large.npy" if number % 3 else "progressive.npy")).shape
        return shape[2], anonymous_bytes(pid)

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        seen = list(pool.map(look, range(300)))
    assert {channels for channels, _ in seen} == {3} and max(used for _, used in seen) <= 128 << 20


def test_little_memory(room, mounts, point, view_store):
    """W11: what does not fit is EIO with the cure in the log; what fits is served."""
    log = room / "log"
    mounts.mount(view_store, point, f"log={log}", "memory=32M", "predict=on")
    assert errno_of((view(point, "npy+size=3000") / "top.npy").read_bytes) == errno.EIO
    assert re.search(r"error: .*top\.jpg.*mount with memory= of about", log.read_text(encoding="utf-8"))
    assert numpy.array_equal(numpy.load(view(point, "npy") / "top.npy"), array(IMAGES["top.jpg"]))


def test_less_memory_than_all_files_need(room, mounts, point, view_store, transport):
    """W11: readers of many files, together larger than the budget, all come to their end."""
    mounts.mount(view_store, point, "memory=48M", "decode-threads=4",
                 says="decode-threads: 3 instead of 4" if transport == "uring" else "")  # the rings take memory, too

    def look(number):
        return numpy.load(view(point, f"npy+size={400 + number % 40}+crop=300") / "photos" / "rgb.npy").shape

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert set(pool.map(look, range(120))) == {(300, 300, 3)}


@pytest.mark.parametrize("spec, names", [("npy", ["clash", "deep", "many", "photos", "top.npy"]),
                                         ("pixels+as=ppm", ["clash", "deep", "labels.csv", "many", "photos", "top.jpg"])])
def test_a_view_as_the_root(room, mounts, point, view_store, spec, names):
    """W12: the whole mount is the view; other views are found as ever, and that one, too."""
    mounts.mount(view_store, point, f"view={spec}", f"log={room / 'log'}")
    assert sorted(os.listdir(point)) == names
    for path in ("top.jpg", "photos/rgb.JPEG", "clash/a.jpg"):
        if spec == "npy":
            assert numpy.array_equal(numpy.load(point / npy_path(path)), array(IMAGES[path]))
        else:
            assert numpy.array_equal(numpy.asarray(Image.open(point / path).convert("RGB")), array(IMAGES[path]))
    assert os.stat(point).st_ino == 1
    assert os.stat(point / "photos" / "..").st_ino == 1
    for other in ("npy", "pixels+as=ppm", "pixels"):
        assert view(point, other).is_dir() and os.stat(view(point, other)).st_ino != 1
    assert numpy.array_equal(numpy.load(view(point, "npy") / "top.npy"), array(IMAGES["top.jpg"]))
    assert stats(point)["mount"]["mountpoint"] == str(point)
    assert f"view {spec}" in (room / "log").read_text(encoding="utf-8")


def test_a_wrong_view_is_refused(room, mounts, point, view_store):
    """W12"""
    done = mounts.start(view_store, point, "view=npy+sise=3")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("augurfs: -o view 'npy+sise=3'") and "layout=hwc" in done.stderr, done.stderr
    assert not os.path.ismount(point)


@pytest.mark.parametrize("how", ["signal", "umount"])
def test_the_end_in_the_midst_of_decoding(room, mounts, point, view_store, how):
    """W13: SIGTERM or umount(8) while many files are being decoded: the daemon ends with status 0."""
    process = mounts.foreground(view_store, point, "decode-threads=2")
    words = 'for i in $(seq 200 240); do cat "$0/npy+size=$i/photos/large.npy" > /dev/null 2>&1; done'
    readers = [subprocess.Popen(["sh", "-c", words, point / ".augur" / "views"], stderr=subprocess.DEVNULL) for _ in range(6)]
    try:
        wait_until(lambda: decoded(point) >= 3, "images are decoded")
        if how == "signal":
            process.send_signal(signal.SIGTERM)
        else:
            subprocess.run(["umount", "-l", point], check=True)
            for reader in readers:
                reader.kill()
        assert process.wait(60) == 0
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()


def test_augurctl_lists_views(room, mounts, point, view_store, augurctl):
    """W14"""
    mounts.mount(view_store, point, "memory=64M")
    done = run([augurctl, "views", point])
    assert (done.returncode, done.stderr) == (0, "") and "no view was used" in done.stdout
    assert view(point, "npy").is_dir() and view(point, "npy+size=100+crop=100").is_dir()
    listed = json.loads(run([augurctl, "views", point, "--json"]).stdout)
    by_name = {row["view"]: row for row in listed["views"]}
    sizes = [os.stat(view(point, "npy") / path).st_size for path in files_below(view(point, "npy")) if path.endswith(".npy")]
    assert by_name["npy"] == {"view": "npy", "place": ".augur/views/npy", "images": len(sizes), "bytes": sum(sizes),
                              "largest_bytes": by_name["npy"]["largest_bytes"], "fits": sum(sizes) <= listed["bytes_max"], "reads": 0, "hits": 0,
                              "images_decoded": 0, "decode_errors": 0, "rendered_bytes": 0, "decode_us": 0}
    for _ in range(3):
        assert (view(point, "npy") / npy_path("top.jpg")).read_bytes()
        drop_caches()
    npy = {row["view"]: row for row in json.loads(run([augurctl, "views", point, "--json"]).stdout)["views"]}["npy"]
    assert 3 <= npy["reads"] and 2 <= npy["hits"] < npy["reads"]
    assert "made already" in run([augurctl, "views", point]).stdout
    assert by_name["npy+size=100+crop=100"]["fits"] is False  # 36 MB of arrays
    table = run([augurctl, "views", point]).stdout
    assert re.search(r"^\.augur/views/npy\+size=100\+crop=100 +\d+ images, .*does not fit.*will lose against the JPEGs", table, re.MULTILINE)
    assert max(sizes) < by_name["npy"]["largest_bytes"] < listed["making_bytes_max"] <= listed["bytes_max"]
    assert "takes" not in table
    assert view(point, "npy+crop=3000").is_dir()  # 27 MB each
    table = run([augurctl, "views", point]).stdout
    assert re.search(r"crop=3000 .*its largest image takes .* to make.* mount with memory= of about", table)


def test_what_a_view_cost_is_counted_for_it_alone(room, mounts, point, view_store, augurctl):
    """W14"""
    mounts.mount(view_store, point, "memory=128M")
    top, truncated = (view(point, "npy") / npy_path(name) for name in ("top.jpg", TRUNCATED))
    assert top.read_bytes() and (view(point, "pixels") / "top.jpg").read_bytes()
    for _ in range(2):
        assert errno_of(truncated.read_bytes) == errno.EIO
    rows = {row["view"]: row for row in json.loads(run([augurctl, "views", point, "--json"]).stdout)["views"]}
    cost = {name: [row[key] for key in ("images_decoded", "decode_errors", "rendered_bytes")] for name, row in rows.items()}
    pixels_size = os.stat(view(point, "pixels") / "top.jpg").st_size
    assert cost["npy"] == [1, cost["npy"][1], os.stat(top).st_size] and cost["npy"][1] >= 2
    assert cost["pixels"] == [1, 0, pixels_size]
    counters = stats(point)["counters"]
    assert [sum(numbers) for numbers in zip(*cost.values(), strict=True)] == \
        [counters["images_decoded"], counters["decode_errors"], counters["rendered_bytes"]]
    assert sum(row["decode_us"] for row in rows.values()) == stats(point)["histograms"]["decode_time_us"]["sum"]
    table = run([augurctl, "views", point]).stdout
    assert re.search(r"views/npy .*; decoded 1 images to .* us each; could not decode one \d+ times, see the log", table)


def test_augurctl_lists_the_root(room, mounts, point, view_store, augurctl):
    """W14"""
    mounts.mount(view_store, point, "view=npy")
    assert run([augurctl, "views", point]).stdout.startswith("the root  ")


def test_a_copy_of_a_view(room, mounted):
    """W4, W6: a whole view can be copied by cp, but for what cannot be decoded."""
    done = run(["cp", "-r", view(mounted, "npy") / "clash", room / "copy"])
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(os.listdir(room / "copy")) == sorted(NPY_NAMES["clash"].values())
    assert pathlib.Path(room / "copy" / "a.png.npy").read_bytes() == (view(mounted, "npy") / "clash" / "a.png.npy").read_bytes()
