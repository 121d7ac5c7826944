# SPDX-License-Identifier: Apache-2.0
"""Views are read ahead like any files: SEMANTICS.md, Views, W15 and W16. What pixels should be says Pillow."""

import errno
import hashlib
import io
import os
import random
import re
import shutil
import signal

import pytest
from conftest import drop_caches, is_running, needs_root, pack, run, wait_until
from prefetching import Foresight

numpy = pytest.importorskip("numpy")
PIL = pytest.importorskip("PIL")
Image = pytest.importorskip("PIL.Image")

from view_tree import coded, photo  # noqa: E402

pytestmark = needs_root

IMAGES = 240
SIDE = 96
PASSES = "passes=pillow13" if int(PIL.__version__.split(".")[0]) >= 13 else "passes=pillow12"
SPEC = f"npy+size={SIDE}x{SIDE}+{PASSES}"  # 27 KB each, 6.7 MB together
LARGE_SPEC = f"npy+size=192x192+{PASSES}"  # 110 KB each, 27 MB together
SMALL = "memory=64M"  # 8 MiB of it for files pushed ahead, some 28 for kept ones


def digest(data):
    return hashlib.blake2b(data).digest()


def npy_of(pixels):
    out = io.BytesIO()
    numpy.save(out, pixels)
    return out.getvalue()


class ViewData:
    """A packed tree of photographs, and what the files of a view of it must hold. Paths are those in the mount."""

    def __init__(self, store, images, spec, prefix):
        side = int(re.search(r"size=(\d+)x", spec)[1])
        self.store = store
        self.sums, self.sizes = {}, {}
        for name, data in images.items():
            pixels = numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((side, side), Image.BILINEAR))
            path = prefix + name.replace(".JPEG", ".npy")
            self.sums[path] = digest(pixels.tobytes())
            self.sizes[path] = len(npy_of(pixels))
        self.paths = list(self.sums)
        self.bytes = sum(self.sizes.values())

    def shuffled(self, seed):
        paths = list(self.paths)
        random.Random(f"order {seed}").shuffle(paths)
        return paths

    def check(self, point, path):
        assert digest(numpy.load(point / path).tobytes()) == self.sums[path], f"{path}: wrong pixels"


class ViewForesight(Foresight):
    """Of the view at `place` below the mount."""

    def __init__(self, augurctl, point, place):
        super().__init__(augurctl, point)
        self.place = place

    def assert_reads_ahead(self, data):
        """Most files are in the page cache when they are opened, in one of four epochs: on a machine that has no processor to
        spare, what must be decoded comes late."""
        requests = []  # a file, by epoch
        while len(requests) < 4 and not (requests and requests[-1] <= 0.3):
            order = data.shuffled(len(requests))
            self.hint(order)
            requests.append(self.follow(data, order)[1])
        assert requests[-1] <= 0.3, f"{requests}: {self.status()}"

    def scan(self):
        for folder in sorted((self.point / self.place).iterdir()):
            for file in sorted(folder.iterdir()):
                file.stat()


@pytest.fixture(scope="module")
def images(session_room):
    chance = random.Random(3)
    return {f"class{number // 60}/{number:04}.JPEG": coded(photo(chance.randrange(40, 200), chance.randrange(40, 200), number), "JPEG")
            for number in range(IMAGES)}


@pytest.fixture(scope="module")
def store(augurpack, images, session_room):
    tree = session_room / "ahead-tree"
    for name, data in images.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
    try:
        yield pack(augurpack, tree, session_room / "ahead-store")
    finally:
        shutil.rmtree(tree)


def extents(path):
    """Where a sparse file has memory."""
    with open(path, "rb") as file:
        end = 0
        while True:
            try:
                begin = os.lseek(file.fileno(), end, os.SEEK_DATA)
            except OSError as error:
                assert error.errno == errno.ENXIO
                return
            end = os.lseek(file.fileno(), begin, os.SEEK_HOLE)
            yield begin, end


def spoil(path, begin, end):
    """Changes a bit of the pixels of each array there. Returns the number of arrays."""
    count = 0
    with open(path, "r+b") as file:
        file.seek(begin)
        content = file.read(end - begin)
        for header in re.finditer(rb"\x93NUMPY", content):
            at = header.start() + 2000
            file.seek(begin + at)
            file.write(bytes([content[at] ^ 1]))
            count += 1
    return count


@pytest.fixture(autouse=True)
def own_records(room, monkeypatch):
    """No test knows the runs of another one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(room / "cache"))


def place_of(spec):
    return f".augur/views/{spec}/"


@pytest.mark.parametrize("options", [[SMALL], [SMALL, "cache=none"], [SMALL, "observe=open"], [SMALL, "decode-threads=3"]],
                         ids=lambda options: ",".join(options))
@pytest.mark.parametrize("spec", [SPEC, LARGE_SPEC])
def test_hinted_images_are_there_before_they_are_opened(room, mounts, point, store, images, ctl, spec, options):
    """W15: decoded and in the page cache, whether they fit or not."""
    mounts.mount(store, point, *options)
    data = ViewData(store, images, spec, place_of(spec))
    ahead = ViewForesight(ctl, point, place_of(spec))
    ahead.scan()
    # The first reads say which view it is.
    for path in data.shuffled(0)[:8]:
        data.check(point, path)
    ahead.assert_reads_ahead(data)
    assert ahead.status()["mount"]["view"] == spec
    assert ahead.counters()["decode_errors"] == 0


def test_what_fits_is_decoded_once(room, mounts, point, store, images, ctl):
    """W16: what was made is kept as any file is."""
    mounts.mount(store, point, SMALL)
    data = ViewData(store, images, SPEC, place_of(SPEC))
    ahead = ViewForesight(ctl, point, place_of(SPEC))
    for path in data.shuffled(1):
        data.check(point, path)
    wait_until(lambda: ahead.gauges()["warehouse_blocks"] == len(data.paths), "all is kept")
    ahead.wait_idle()
    decoded = ahead.counters()["images_decoded"]
    for seed in (2, 3):
        drop_caches()
        for path in data.shuffled(seed):
            data.check(point, path)
    assert ahead.counters()["images_decoded"] == decoded, ahead.status()
    assert ahead.counters()["warehouse_hits"] > 0


@pytest.mark.parametrize("end", ["umount", "kill"])
def test_a_restarted_daemon_decodes_nothing(room, mounts, point, store, images, ctl, shared_memory, end):
    """W16: nor does another mount of the store on the same host."""
    pid = mounts.mount(store, point, SMALL, "cache=shm")
    data = ViewData(store, images, SPEC, place_of(SPEC))
    ahead = ViewForesight(ctl, point, place_of(SPEC))
    for path in data.shuffled(1):
        data.check(point, path)
    wait_until(lambda: ahead.gauges()["warehouse_blocks"] == len(data.paths), "all is kept")
    if end == "umount":
        assert run(["umount", point]).returncode == 0
    else:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    if end == "kill":
        assert run(["umount", "-l", point]).returncode == 0
    assert len(shared_memory()) == 1
    mounts.mount(store, point, SMALL, "cache=shm")
    drop_caches()
    for path in data.shuffled(2):
        data.check(point, path)
    assert ahead.counters()["images_decoded"] == 0
    assert ahead.counters()["disk_reads"] == 0


def test_wrong_bytes_in_shared_memory_are_not_delivered(room, mounts, point, store, images, ctl, shared_memory):
    """W16: what a former daemon has left is checked before it is handed out."""
    pid = mounts.mount(store, point, SMALL, "cache=shm")
    data = ViewData(store, images, SPEC, place_of(SPEC))
    ahead = ViewForesight(ctl, point, place_of(SPEC))
    for path in data.shuffled(1):
        data.check(point, path)
    wait_until(lambda: ahead.gauges()["warehouse_blocks"] == len(data.paths), "all is kept")
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not is_running(pid), "the daemon ends")
    (path,) = shared_memory()
    # One byte of each array's pixels: the beginning of an array is the header of NPY.
    spoilt = sum(spoil(path, begin, end) for begin, end in extents(path))
    assert spoilt == len(data.paths)
    mounts.mount(store, point, SMALL, "cache=shm")
    drop_caches()
    for path in data.shuffled(2):
        data.check(point, path)
    assert ahead.counters()["images_decoded"] >= len(data.paths)


def test_a_view_as_the_root(room, mounts, point, store, images, ctl):
    """W15: an order names the files as the mount does."""
    mounts.mount(store, point, SMALL, f"view={LARGE_SPEC}")
    data = ViewData(store, images, LARGE_SPEC, "")
    ahead = ViewForesight(ctl, point, "")
    ahead.scan()
    ahead.assert_reads_ahead(data)
    done = ahead.try_hint(["class0/0000.JPEG"])
    assert done.returncode == 2 and "line 1" in done.stderr


def test_one_view_after_another(room, mounts, point, store, images, ctl):
    """W15: the one that is read is read ahead; what is hinted meanwhile is for whatever is read then."""
    mounts.mount(store, point, SMALL)
    for spec in (SPEC, LARGE_SPEC, SPEC):
        data = ViewData(store, images, spec, place_of(spec))
        ahead = ViewForesight(ctl, point, place_of(spec))
        ahead.scan()
        for path in data.shuffled(0)[:80]:
            data.check(point, path)
        wait_until(lambda: ahead.status()["mount"].get("view") == spec, "it follows the view that is read")
        drop_caches()
        ahead.scan()
        ahead.assert_reads_ahead(data)
    for name, content in images.items():
        assert (point / name).read_bytes() == content
    wait_until(lambda: "view" not in ahead.status()["mount"], "it follows the original files")
