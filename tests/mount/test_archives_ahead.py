# SPDX-License-Identifier: Apache-2.0
"""Samples of archives are read ahead: SEMANTICS.md, Views, W22. A DataLoader that takes members of tar files by their offsets, or
images of an HDF5 file by h5py, as it is."""

import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile

import pytest
from patience import wait_until
from skips import needs_root
from stores import pack

pytest.importorskip("torch")
pytest.importorskip("numpy")
pytest.importorskip("PIL")

from view_tree import coded, photo  # noqa: E402

pytestmark = needs_root

SCRIPT = pathlib.Path(__file__).with_name("archive_epoch.py")
SPECS = ("tar+shards=2", "tar+shards=2+shuffle=7", "tar+shards=1")
IMAGES = 240
PARTS = ("train", "val")


def index_of(folder, part):
    """[file, offset, bytes, SHA-256] of the images, in the order of the archives."""
    index = []
    for path in sorted(path for path in folder.iterdir() if path.name.startswith(f"{part}-")):
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                if member.name.endswith(".jpg"):
                    data = archive.extractfile(member).read()
                    index.append([path.name, member.offset_data, member.size, hashlib.sha256(data).hexdigest()])
    return index


@pytest.fixture(scope="module")
def archives(augurpack, module_mounts, session_room):
    """(a store of images of 20 to 60 KB, the index of its archives by view and folder). Read by a mount of its own: the others know
    nothing of it, and no page is there."""
    room = session_room / "archives-ahead"
    chance = random.Random(5)
    picture = coded(photo(24, 24, 1), "JPEG")
    for number in range(IMAGES):
        path = room / "tree" / PARTS[number % 8 == 0] / f"class{number % 4}" / f"{number:04}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture + chance.randbytes(chance.randrange(20_000, 60_000)))
    store = pack(augurpack, room / "tree", room / "store")
    shutil.rmtree(room / "tree")
    (room / "mount").mkdir()
    module_mounts.mount(store, room / "mount", "predict=off")
    views = room / "mount" / ".augur" / "views"
    index = {spec: {part: index_of(views / spec, part) for part in PARTS} for spec in SPECS}
    subprocess.run(["umount", room / "mount"], check=True)
    assert sum(map(len, index[SPECS[0]].values())) == IMAGES
    return store, index


class Epoch:
    """A script that reads an epoch, a batch whenever it is told to."""

    def __init__(self, room, point, index, spec, part="train", workers=0, seed=42, size=8):
        self.index = index[spec][part]
        name = room / f"index-{spec}-{part}.json"
        name.write_text(json.dumps(self.index), encoding="utf-8")
        folder = point / ".augur" / "views" / spec
        self.process = subprocess.Popen([sys.executable, SCRIPT, name, folder, str(workers), str(seed), str(size)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.read = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def batch(self):
        """The next batch is read. False: there is none."""
        if self.read > 0:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            assert self.process.wait(timeout=60) == 0, self.process.stderr.read()
            assert self.read == len(self.index)
            return False
        self.read = int(line)
        return True

    def until_found(self, ahead, orders=1):
        """Batches until so many orders are known. The daemon may need a moment for what was read."""
        while ahead.counters()["orders_found"] < orders:
            assert self.batch(), ahead.status()
            settle(ahead, 0.2)  # a trial of all samplers takes a busy machine longer than a read
        return self.read


def settle(ahead, quiet_s=0.05):
    ahead.wait_settled(quiet_s)


def followed_to_the_end(epoch, ahead, spec):
    """Reads the epoch, whose order is found in its first half and kept. Returns after how many samples it was found, the counters then
    and at the end, and the status at the end."""
    until = epoch.until_found(ahead)
    assert until <= len(epoch.index) / 2, ahead.status()
    wait_until(lambda: ahead.status()["mount"].get("view") == spec, "the view is followed")
    settle(ahead)
    before = ahead.counters()
    while epoch.batch():
        settle(ahead)
    told = ahead.status()
    after = told["counters"]
    assert after["orders_lost"] == 0 and after["orders_found"] == 1, told
    return until, before, after, told


@pytest.mark.parametrize("spec, options, workers", [(SPECS[0], ("cache=none",), 0), (SPECS[0], ("cache-size=16M",), 2),
                                                    (SPECS[1], ("cache-size=16M",), 0),
                                                    (SPECS[2], ("cache-size=16M", "observe=open", "read-ahead=128K"), 0)])
def test_a_data_loader_is_foreseen(room, mounts, point, archives, ahead, spec, options, workers):
    """The order is found, and the samples that follow are in memory when they are asked for."""
    store, index = archives
    mounts.mount(store, point, "memory=256M", *options)
    with Epoch(room, point, index, spec, workers=workers) as epoch:
        until, before, after, told = followed_to_the_end(epoch, ahead, spec)
    # What was asked for on the way to the order may have been under way in the workers.
    left = len(epoch.index) - until - 2 * 8 * workers
    assert after["misses"] - before["misses"] <= left / 10, told
    assert after["stalls"] - before["stalls"] <= left / 10 + 2 * 8 * workers, told
    # Of a file as small as these the kernel's readahead brings many samples, and others are near the last one.
    assert len(epoch.index) / 4 <= after["archive_samples"] <= 1.1 * len(epoch.index), told
    assert after["read_failures"] == after["corrupt_blocks"] == 0


def test_two_views_at_the_same_time(room, mounts, point, archives, ahead):
    """Both orders are found; one view is read ahead, and the bytes of both are right."""
    store, index = archives
    mounts.mount(store, point, "memory=256M", "cache-size=16M")
    with (Epoch(room, point, index, SPECS[0], seed=42) as first,
          Epoch(room, point, index, SPECS[1], seed=1234) as second):
        epochs = [first, second]
        while epochs:
            epochs = [epoch for epoch in epochs if epoch.batch()]
            settle(ahead)
    assert ahead.counters()["orders_found"] == 2, ahead.status()
    assert ahead.counters()["read_failures"] == 0


@pytest.mark.parametrize("spec", SPECS[:2])
def test_who_reads_from_begin_to_end_is_not_disturbed(room, mounts, point, archives, ahead, spec):
    """No more is read than there is, and the daemon is told of no more than there is."""
    store, index = archives
    mounts.mount(store, point, "memory=256M", "cache-size=16M")
    folder = point / ".augur" / "views" / spec
    for part in PARTS:
        assert index_of(folder, part) == index[spec][part]
    settle(ahead)
    now = ahead.counters()
    stored = sum(one[2] for part in PARTS for one in index[spec][part])
    assert now["archive_samples"] <= IMAGES + 16, ahead.status()
    assert now["disk_bytes"] - now["gap_bytes"] <= 1.5 * stored, ahead.status()
    assert now["orders_lost"] == now["read_failures"] == 0


LARGE = "h5+size=224x224"


@pytest.fixture(scope="module")
def large(augurpack, module_mounts, session_room):
    """(a store of 250 MB, the index of its HDF5 file, the bytes of its images), read by a mount of its own."""
    h5py = pytest.importorskip("h5py")
    room = session_room / "archives-ahead-large"
    chance = random.Random(6)
    pictures = [coded(photo(24, 24, seed), "JPEG") for seed in range(40)]
    stored = 0
    for number in range(1400):
        path = room / "tree" / "train" / f"class{number % 4}" / f"{number:04}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        stored += path.write_bytes(pictures[number % 40] + chance.randbytes(chance.randrange(170_000, 190_000)))
    store = pack(augurpack, room / "tree", room / "store")
    shutil.rmtree(room / "tree")
    (room / "mount").mkdir()
    module_mounts.mount(store, room / "mount", "predict=off")
    with h5py.File(room / "mount" / ".augur" / "views" / LARGE / "train.h5", "r") as file:
        images = file["images"]
        index = [["train.h5", number, hashlib.sha256(images[number].tobytes()).hexdigest()] for number in range(len(images))]
    subprocess.run(["umount", room / "mount"], check=True)
    assert len(index) == 1400
    return store, {LARGE: {"train": index}}, stored


@pytest.mark.parametrize("workers", [0, 2])
def test_a_small_memory_reads_each_image_once(room, mounts, point, large, ahead, workers):
    """The order is found, arrays are made before they are asked for, and little is read twice: neither what the kernel reads ahead, nor
    what the daemon does."""
    store, index, stored = large
    mounts.mount(store, point, "memory=64M")
    with Epoch(room, point, index, LARGE, workers=workers, size=64) as epoch:
        until, before, after, told = followed_to_the_end(epoch, ahead, LARGE)
    assert after["read_failures"] == after["corrupt_blocks"] == 0
    left = len(epoch.index) - until
    assert after["images_decoded"] - before["images_decoded"] <= 1.3 * left, told
    if "AUGUR_SANITIZER" not in os.environ:  # with one the daemon decodes more slowly than this script reads
        assert after["stalls"] - before["stalls"] <= left / 4, told
    assert after["disk_bytes"] <= 1.3 * stored, told
