# SPDX-License-Identifier: Apache-2.0
"""The decoded cache of a mount: SEMANTICS.md, Views, W17."""

import os
import shutil

import pytest
from daemon_deaths import end_mount
from kernel_caches import drop_caches
from patience import wait_until
from program_runs import NOBODY
from skips import needs_root
from stores import pack

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

from view_data import LARGE_SPEC, SMALL, SPEC, ViewData, ViewPrediction, place_of, spoil  # noqa: E402

pytestmark = needs_root

WITHOUT = [SMALL, "cache=none", "push=off"]  # so that all that is found again is in the decoded cache


@pytest.fixture
def data(view_images_store, view_images):
    return ViewData(view_images_store, view_images, SPEC, place_of(SPEC))


def read_all(point, data, seed):
    for path in data.shuffled(seed):
        data.check(point, path)


def fill(mounts, point, data, ahead, *options):
    """Mounts, and reads everything until it is on the disk: while the disk is busy with others, what is decoded faster than it
    writes is not kept, and kept when it is decoded again. Returns the daemon."""
    pid = mounts.mount(data.store, point, *WITHOUT, *options)

    def all_kept():
        read_all(point, data, 1)
        drop_caches()
        return ahead.gauges()["decoded_cache_files"] == len(data.paths)

    wait_until(all_kept, "all is on the disk")
    return pid


@pytest.mark.parametrize("how", ["umount", "kill"])
@pytest.mark.parametrize("options", [["io=pread"], ["predict=off"], ["decoded-cache-size=64M"]], ids=lambda options: options[0])
def test_a_later_run_decodes_nothing(room, mounts, point, data, ctl, how, options):
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    cache = f"decoded-cache={room / 'decoded'}"
    end_mount(fill(mounts, point, data, ahead, cache, *options), point, how)
    mounts.mount(data.store, point, *WITHOUT, cache, *options)
    drop_caches()
    for seed in (2, 3):
        read_all(point, data, seed)
        drop_caches()
    counters = ahead.counters()
    assert counters["images_decoded"] == 0 and counters["decoded_hits"] >= len(data.paths), counters


def test_a_large_image_is_kept_too(room, mounts, point, augurpack, ctl):
    """18 MiB, more than may wait to be written at one time."""
    pixels = numpy.random.default_rng(5).integers(0, 256, (2400, 2600, 3), dtype=numpy.uint8)
    (room / "tree").mkdir()
    Image.fromarray(pixels).save(room / "tree" / "large.png", compress_level=0)
    store = pack(augurpack, room / "tree", room / "large.augur")
    ahead = ViewPrediction(ctl, point, place_of("npy"))
    for run in range(2):
        pid = mounts.mount(store, point, "memory=2G", "cache=none", "push=off", f"decoded-cache={room / 'decoded'}")
        assert numpy.array_equal(numpy.load(point / place_of("npy") / "large.npy"), pixels)
        wait_until(lambda: ahead.gauges()["decoded_cache_files"] == 1, "it is on the disk")
        assert ahead.counters()["images_decoded"] == (1 if run == 0 else 0)
        end_mount(pid, point, "umount")
        drop_caches()


def test_the_default_size_leaves_room_for_others(room, mounts, point, data, ctl):
    """Half of what is free and what it has: files of others in the folder are not its own."""
    folder = room / "decoded"
    folder.mkdir(mode=0o700)
    (folder / "mine").write_bytes(b"")
    os.truncate(folder / "mine", 1 << 42)
    mounts.mount(data.store, point, *WITHOUT, f"decoded-cache={folder}")
    space = os.statvfs(folder)
    assert ViewPrediction(ctl, point, place_of(SPEC)).gauges()["decoded_cache_bytes_max"] <= space.f_bavail * space.f_frsize * 0.6


def test_what_is_hinted_comes_from_it(room, mounts, point, data, ctl):
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    cache = f"decoded-cache={room / 'decoded'}"
    end_mount(fill(mounts, point, data, ahead, cache), point, "umount")
    mounts.mount(data.store, point, SMALL, cache)
    drop_caches()
    ahead.scan()
    for path in data.shuffled(0)[:8]:
        data.check(point, path)
    ahead.assert_reads_ahead(data)
    counters = ahead.counters()
    # Records are of no use to what is made already.
    assert counters["images_decoded"] == 0 and counters["disk_reads"] == 0, counters


def test_wrong_bytes_are_not_delivered(room, mounts, point, data, ctl):
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    folder = room / "decoded"
    end_mount(fill(mounts, point, data, ahead, f"decoded-cache={folder}"), point, "umount")
    spoilt = sum(spoil(file, 0, file.stat().st_size) for file in folder.iterdir() if file.is_file())
    assert spoilt == len(data.paths)
    mounts.mount(data.store, point, *WITHOUT, f"decoded-cache={folder}", f"log={room / 'log'}")
    drop_caches()
    read_all(point, data, 2)
    assert ahead.counters()["images_decoded"] == len(data.paths)
    assert "not those that were written" in (room / "log").read_text(encoding="utf-8")


def test_a_bound_holds(room, mounts, point, view_images_store, view_images, ctl):
    """27 MB of arrays, of which 16 MiB may be kept."""
    data = ViewData(view_images_store, view_images, LARGE_SPEC, place_of(LARGE_SPEC))
    ahead = ViewPrediction(ctl, point, place_of(LARGE_SPEC))
    folder = room / "decoded"
    mounts.mount(data.store, point, *WITHOUT, f"decoded-cache={folder}", "decoded-cache-size=16M")
    for seed in (1, 2):
        read_all(point, data, seed)
        drop_caches()
    assert sum(file.stat().st_blocks * 512 for file in folder.iterdir()) <= 16 << 20
    assert ahead.counters()["decoded_hits"] > 0
    assert ahead.gauges()["decoded_cache_bytes"] <= ahead.gauges()["decoded_cache_bytes_max"] == 16 << 20


@pytest.mark.parametrize("wrong", ["link", "file", "others", "nowhere"])
def test_a_folder_that_cannot_be_used_is_said(room, mounts, point, data, ctl, wrong):
    """The mount is as good without."""
    folder = room / "decoded"
    if wrong == "link":
        (room / "elsewhere").mkdir()
        folder.symlink_to(room / "elsewhere")
    elif wrong == "file":
        folder.write_text("mine")
    elif wrong == "others":
        folder.mkdir()
        os.chown(folder, NOBODY, NOBODY)
    else:
        folder = folder / "below"
    mounts.mount(data.store, point, *WITHOUT, f"decoded-cache={folder}", f"log={room / 'log'}", says=f"decoded-cache: {folder}")
    for path in data.shuffled(1)[:20]:
        data.check(point, path)
    log = (room / "log").read_text(encoding="utf-8")
    assert "decoded images are not kept on the disk" in log and str(folder) in log
    assert wrong != "link" or not any((room / "elsewhere").iterdir())


def test_a_folder_that_is_removed_meanwhile(room, mounts, point, data, ctl):
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    folder = room / "decoded"
    fill(mounts, point, data, ahead, f"decoded-cache={folder}")
    shutil.rmtree(folder)
    for seed in (2, 3):
        drop_caches()
        read_all(point, data, seed)
