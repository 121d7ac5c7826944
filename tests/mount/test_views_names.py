# SPDX-License-Identifier: Apache-2.0
"""The names of views, and of the files in them: SEMANTICS.md, Views, W4, W5, W7, W8 and W12."""

import concurrent.futures
import errno
import os
import re
import stat
import subprocess
import sys

import pytest
from kernel_caches import drop_caches
from mounts import statistics
from patience import PATIENCE_S, wait_until
from program_runs import as_user, run
from skips import needs_root
from system_calls import errno_of

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

from view_fixtures import SPECS, array, mounted, view, view_store, view_tree  # noqa: E402, F401
from view_tree import MANY, NPY_NAMES, images, npy_path  # noqa: E402

pytestmark = needs_root

VIEWS_MAX = 2048  # ViewTable::kViewsMax
IMAGES = images()


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
    path, data = "photos/rgb.JPEG", IMAGES["photos/rgb.JPEG"]
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
    assert statistics(point)["mount"]["mountpoint"] == str(point)
    assert f"view {spec}" in (room / "log").read_text(encoding="utf-8")


def test_a_wrong_view_is_refused(room, mounts, point, view_store):
    """W12"""
    done = mounts.start(view_store, point, "view=npy+sise=3")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("augurfs: -o view 'npy+sise=3'") and "layout=hwc" in done.stderr, done.stderr
    assert not os.path.ismount(point)
