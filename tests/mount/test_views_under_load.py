# SPDX-License-Identifier: Apache-2.0
"""Many readers of views, and little memory for them: SEMANTICS.md, Views, W10, W11 and W13."""

import concurrent.futures
import errno
import re
import signal
import subprocess

import pytest
from kernel_caches import drop_caches
from mounts import statistics
from patience import wait_until
from processes import anonymous_bytes
from skips import measures_memory, needs_root
from system_calls import errno_of

numpy = pytest.importorskip("numpy")
pytest.importorskip("PIL.Image")

from view_fixtures import array, decoded, view, view_store, view_tree  # noqa: E402, F401
from view_tree import images, npy_path  # noqa: E402

pytestmark = needs_root

IMAGES = images()


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
    counters = statistics(point)["counters"]
    assert counters["images_decoded"] == len(paths) and counters["decode_errors"] == 0
    assert counters["rendered_hits"] > 0 and counters["rendered_bytes"] == sum(128 + want.size for want in wanted.values())
    assert statistics(point)["histograms"]["decode_time_us"]["count"] == len(paths)


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
