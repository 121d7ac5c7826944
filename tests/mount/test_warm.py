# SPDX-License-Identifier: Apache-2.0
"""augurctl warm on real mounts (SEMANTICS.md, K6): what is fetched before a job begins needs no disk in it."""

import json
import os
import pty
import subprocess
import threading

import pytest
from daemon_deaths import end_mount
from kernel_caches import drop_caches
from patience import wait_until
from prefetching import LARGE, log_of
from program_runs import run
from skips import needs_root

pytestmark = needs_root


def warm(ctl, point, *words, status=0):
    done = run([ctl, "warm", point, "--json", *words])
    assert (done.returncode, done.stderr) == (status, ""), done
    return json.loads(done.stdout)


def order_of(room, paths):
    order = room / "warm-order"
    order.write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    return order


def read_cold(data, point, ahead, paths, counter="disk_reads"):
    """Reads these, of which the kernel has none. Returns the reads of the disk meanwhile; `counter="misses"`: those that a reader
    waited for, not those of files that are read ahead."""
    drop_caches()
    before = ahead.counters()[counter]
    for path in paths:
        data.check(point, path)
    return ahead.counters()[counter] - before


@pytest.mark.parametrize("cache", ["ram", "shm"])
def test_a_cold_reader_reads_no_disk(room, mounts, point, data, ctl, ahead, shared_memory, cache):
    mounts.mount(data.store, point, LARGE, f"cache={cache}")
    answer = warm(ctl, point)
    count = len(data.paths)
    assert answer == {"files": count, "bytes": data.bytes, "kept_files": count, "kept_bytes": data.bytes, "did_not_fit_files": 0,
                      "too_long_files": 0, "unreadable_files": 0, "stopped": False}
    assert 0 < ahead.counters()["disk_reads"] < count / 2
    assert read_cold(data, point, ahead, data.shuffled(31)) == 0
    assert ahead.counters()["corrupt_blocks"] == 0
    # Nothing is left to do.
    done = run([ctl, "warm", point, "--all"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"kept: {count} of {count} files, ") and done.stdout.count("\n") == 1


def test_what_was_fetched_is_there_for_the_next_mount(room, mounts, point, data, ctl, ahead, shared_memory):
    pid = mounts.mount(data.store, point, LARGE, "cache=shm", "cache-outlives")
    warm(ctl, point)
    end_mount(pid, point, "umount")
    mounts.mount(data.store, point, LARGE, "cache=shm", "cache-outlives")
    assert warm(ctl, point)["kept_bytes"] == data.bytes
    assert read_cold(data, point, ahead, data.shuffled(32)) == 0
    assert ahead.counters()["disk_reads"] == 0


def test_only_the_files_of_an_order(room, mounts, point, data, ctl, ahead):
    mounts.mount(data.store, point, LARGE)
    paths = data.shuffled(33)
    answer = warm(ctl, point, "--order", order_of(room, paths[:100] + paths[:10]))
    assert (answer["files"], answer["kept_files"], answer["bytes"]) == (100, 100, sum(data.sizes[path] for path in paths[:100]))
    assert ahead.gauges()["retained_cache_blocks"] == 100
    assert read_cold(data, point, ahead, paths[:100], "misses") == 0
    done = subprocess.run([ctl, "warm", point, "--json", "--order", "-"], input="0\n1\n", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout)["kept_files"] == 2, done


def test_the_first_ones_that_fit(room, mounts, point, data, ctl, ahead):
    mounts.mount(data.store, point, LARGE, "cache-size=8M")
    paths = data.shuffled(34)
    done = run([ctl, "warm", point, "--order", order_of(room, paths)])
    assert done.returncode == 1 and done.stderr == "", done
    first, second = done.stdout.splitlines()
    assert first.startswith("kept: ") and "did not fit: mount with a larger cache-size=" in second
    kept = int(first.split()[1])
    room_bytes = ahead.gauges()["retained_cache_bytes_max"]  # less than cache-size=, by its tables
    assert room_bytes * 0.8 < sum(data.sizes[path] for path in paths[:kept]) <= room_bytes
    assert read_cold(data, point, ahead, paths[:kept], "misses") == 0
    assert warm(ctl, point, "--order", order_of(room, paths), status=1)["did_not_fit_files"] == len(paths) - kept


def test_refused_with_the_cure(room, mounts, point, data, ctl):
    mounts.mount(data.store, point, "cache=none")
    done = run([ctl, "warm", point])
    assert (done.returncode, done.stdout) == (2, "") and str(point) in done.stderr and "mount it with cache=ram or cache=shm" in done.stderr
    other = room / "other"
    other.mkdir()
    mounts.mount(data.store, other, "predict=off")
    done = run([ctl, "warm", other])
    assert (done.returncode, done.stdout) == (2, "") and "-o predict=off" in done.stderr


def test_names_that_are_not_there(room, mounts, point, data, ctl, ahead):
    mounts.mount(data.store, point, LARGE)
    order = order_of(room, [*data.paths[:5], "class00/missing.jpg"])
    done = run([ctl, "warm", point, "--order", order])
    assert (done.returncode, done.stdout) == (2, "") and f"{order}: line 6: 'class00/missing.jpg'" in done.stderr, done.stderr
    done = run([ctl, "warm", point, "--order", room / "no-such-file"])
    assert done.returncode == 2 and f"{room / 'no-such-file'}: No such file or directory" in done.stderr
    assert ahead.counters()["disk_reads"] == 0


def test_during_an_epoch_of_a_reader(room, mounts, point, data, ctl, ahead):
    """Both end, every byte is right, and then all is there."""
    mounts.mount(data.store, point, LARGE)
    order = data.shuffled(35)
    ahead.scan()
    ahead.hint(order)
    failures = []

    def epoch():
        try:
            for path in order:
                data.check(point, path)
        except BaseException as failure:  # noqa: BLE001 (raised in the test)
            failures.append(failure)
    reader = threading.Thread(target=epoch)
    reader.start()
    try:
        answer = warm(ctl, point)
    finally:
        reader.join()
    assert not failures, failures
    assert answer["kept_files"] == len(data.paths)
    assert read_cold(data, point, ahead, data.shuffled(36)) == 0


def test_a_line_that_moves_on_a_terminal(room, mounts, point, data, ctl):
    """The bar is on stderr, if that is a terminal; the result on stdout is the same."""
    mounts.mount(data.store, point, LARGE)
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run([ctl, "warm", point], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, text=True, timeout=60)
    finally:
        os.close(theirs)
        os.close(ours)
    assert done.returncode == 0 and done.stdout.startswith("kept: 600 of 600 files"), done


def test_the_log_says_nothing(room, mounts, point, data, ctl):
    mounts.mount(data.store, point, LARGE, f"log={room / 'log'}")
    warm(ctl, point)
    wait_until(lambda: (room / "log").exists(), "there is a log")
    assert "error" not in log_of(room) and "warning" not in log_of(room)
