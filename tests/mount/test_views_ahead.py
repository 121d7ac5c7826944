# SPDX-License-Identifier: Apache-2.0
"""Views are read ahead like any files: SEMANTICS.md, Views, W15 and W16."""

import pytest
from daemon_deaths import end_mount
from kernel_caches import drop_caches, unless_caches_are_dropped
from patience import wait_until
from skips import needs_root

pytest.importorskip("numpy")
pytest.importorskip("PIL")

from view_data import LARGE_SPEC, SMALL, SPEC, ViewData, ViewPrediction, extents, place_of, spoil  # noqa: E402

pytestmark = needs_root


@pytest.mark.parametrize("options", [[SMALL], [SMALL, "cache=none"], [SMALL, "observe=open"], [SMALL, "decode-threads=3"]],
                         ids=lambda options: ",".join(options))
@pytest.mark.parametrize("spec", [SPEC, LARGE_SPEC])
def test_hinted_images_are_there_before_they_are_opened(room, mounts, point, view_images_store, view_images, ctl, spec, options):
    """W15: decoded and in the page cache, whether they fit or not."""
    mounts.mount(view_images_store, point, *options)
    data = ViewData(view_images_store, view_images, spec, place_of(spec))
    ahead = ViewPrediction(ctl, point, place_of(spec))
    ahead.scan()
    # The first reads say which view it is.
    for path in data.shuffled(0)[:8]:
        data.check(point, path)
    ahead.assert_reads_ahead(data)
    assert ahead.status()["mount"]["view"] == spec
    assert ahead.counters()["decode_errors"] == 0


def read_all(point, data, seed):
    for path in data.shuffled(seed):
        data.check(point, path)


def read_until_kept(point, data, ahead):
    read_all(point, data, 1)
    wait_until(lambda: ahead.gauges()["retained_cache_blocks"] == len(data.paths), "all is kept")


def test_what_fits_is_decoded_until_it_is_kept(room, mounts, point, view_images_store, view_images, ctl):
    """W16: what was made is kept as any file is, when the page cache has lost it."""
    mounts.mount(view_images_store, point, SMALL)
    data = ViewData(view_images_store, view_images, SPEC, place_of(SPEC))
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    read_all(point, data, 0)
    ahead.wait_idle()
    # Some are taken for others that were made before.
    assert ahead.gauges()["retained_cache_blocks"] < len(data.paths) / 8
    drop_caches()
    read_all(point, data, 1)
    ahead.wait_idle()
    decoded = ahead.counters()["images_decoded"]
    for seed in (2, 3):
        drop_caches()
        read_all(point, data, seed)
    assert ahead.counters()["images_decoded"] == decoded, ahead.status()
    assert ahead.counters()["retained_cache_hits"] > 0


@pytest.mark.parametrize("end", ["umount", "kill"])
def test_a_restarted_daemon_decodes_nothing(room, mounts, point, view_images_store, view_images, ctl, shared_memory, end):
    """W16: nor does another mount of the store on the same host."""
    pid = mounts.mount(view_images_store, point, SMALL, "cache=shm", "cache-outlives")
    data = ViewData(view_images_store, view_images, SPEC, place_of(SPEC))
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    read_until_kept(point, data, ahead)
    end_mount(pid, point, end)
    assert len(shared_memory()) == 1
    mounts.mount(view_images_store, point, SMALL, "cache=shm", "cache-outlives")
    drop_caches()
    for path in data.shuffled(2):
        data.check(point, path)
    assert ahead.counters()["images_decoded"] == 0
    assert ahead.counters()["disk_reads"] == 0


def test_wrong_bytes_in_shared_memory_are_not_delivered(room, mounts, point, view_images_store, view_images, ctl, shared_memory):
    """W16: what a former daemon has left is checked before it is handed out."""
    pid = mounts.mount(view_images_store, point, SMALL, "cache=shm", "cache-outlives")
    data = ViewData(view_images_store, view_images, SPEC, place_of(SPEC))
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    read_until_kept(point, data, ahead)
    end_mount(pid, point, "umount")
    (path,) = shared_memory()
    # One byte of each array's pixels: the beginning of an array is the header of NPY.
    spoilt = sum(spoil(path, begin, end) for begin, end in extents(path))
    assert spoilt == len(data.paths)
    mounts.mount(view_images_store, point, SMALL, "cache=shm", "cache-outlives")
    drop_caches()
    for path in data.shuffled(2):
        data.check(point, path)
    assert ahead.counters()["images_decoded"] >= len(data.paths)


def test_what_was_read_before_its_order_was_known_is_not_brought_again(room, mounts, point, view_images_store, view_images, ctl):
    """W15: it lies in the page cache; but what the kernel has given away is."""
    mounts.mount(view_images_store, point, SMALL)
    data = ViewData(view_images_store, view_images, SPEC, place_of(SPEC))
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    read_all(point, data, 0)
    ahead.wait_idle()
    before = ahead.counters()
    order = data.shuffled(1)
    ahead.hint(order)
    ahead.follow(data, order)
    after = ahead.counters()
    pushes, reads = (after[name] - before[name] for name in ("pushes", "reads"))
    assert pushes <= reads + len(order) / 8, ahead.status()


def test_a_view_as_the_root(room, mounts, point, view_images_store, view_images, ctl):
    """W15: an order names the files as the mount does."""
    mounts.mount(view_images_store, point, SMALL, f"view={LARGE_SPEC}")
    data = ViewData(view_images_store, view_images, LARGE_SPEC, "")
    ahead = ViewPrediction(ctl, point, "")
    ahead.scan()
    ahead.assert_reads_ahead(data)
    done = ahead.try_hint(["class0/0000.JPEG"])
    assert done.returncode == 2 and "line 1" in done.stderr


def test_two_views_in_turn(room, mounts, point, view_images_store, view_images, ctl):
    """W15: training in one and validation in another: where there is room for both, neither is dropped for the other."""
    views = [ViewData(view_images_store, view_images, spec, place_of(spec)) for spec in (SPEC, LARGE_SPEC)]
    ahead = ViewPrediction(ctl, point, place_of(SPEC))

    def read_in_turn():
        pid = mounts.mount(view_images_store, point, SMALL)
        try:
            for _ in range(4):
                for data in views:
                    for path in sorted(data.paths):
                        data.check(point, path)
            ahead.wait_idle()
            counters = ahead.counters()
            # In the window of one view a file that comes late may take the place of one behind it. A view that gives way loses all of its
            # files.
            assert counters["dropped_files"] <= len(view_images) / 8, ahead.status()
            # Each of them once; the kernel may have taken some pages back.
            assert counters["images_decoded"] <= 1.5 * len(views) * len(view_images), ahead.status()
        finally:
            end_mount(pid, point, "umount")

    unless_caches_are_dropped(read_in_turn)


def test_one_view_after_another(room, mounts, point, view_images_store, view_images, ctl):
    """W15: the one that is read is read ahead; what is hinted meanwhile is for whatever is read then."""
    mounts.mount(view_images_store, point, SMALL)
    for spec in (SPEC, LARGE_SPEC, SPEC):
        data = ViewData(view_images_store, view_images, spec, place_of(spec))
        ahead = ViewPrediction(ctl, point, place_of(spec))
        ahead.scan()
        for path in data.shuffled(0)[:80]:
            data.check(point, path)
        wait_until(lambda: ahead.status()["mount"].get("view") == spec, "it follows the view that is read")
        drop_caches()
        ahead.scan()
        ahead.assert_reads_ahead(data)
    for name, content in view_images.items():
        assert (point / name).read_bytes() == content
    wait_until(lambda: "view" not in ahead.status()["mount"], "it follows the original files")
