# SPDX-License-Identifier: Apache-2.0
"""`augurctl doctor`: each cause is made, and must be found. What the sentences say is in tests/unit/diagnosis."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import cgroup
import pytest
from conftest import as_user, needs_root, pack, run, statistics, wait_until
from view_tree import coded, photo

pytestmark = needs_root

PHOTOS = 60
LARGE_FILES, LARGE_BYTES = 24, 2 << 20

READER = pathlib.Path(__file__).parents[1] / "tools" / "endless_reader.py"


@contextlib.contextmanager
def program(*words):
    """A Python program that runs until the context ends."""
    process = subprocess.Popen([sys.executable, *words], stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def reader(point, *words):
    return program(READER, point, *words)


def examine(ctl, point, seconds=1):
    """What it finds: names with weights. Its exit status must say whether one of them is a problem."""
    done = run([ctl, "doctor", point, "--json", "--seconds", str(seconds)])
    assert done.stderr == "", done
    found = {one["name"]: one for one in json.loads(done.stdout)["findings"]}
    assert done.returncode == int(any(one["weight"] == "problem" for one in found.values())), done
    return found


def counters(point):
    return statistics(point)["counters"]


@pytest.fixture(scope="module")
def photographs(augurpack, session_room):
    tree = session_room / "doctor-photos"
    tree.mkdir()
    for number in range(PHOTOS):
        (tree / f"{number:03}.jpg").write_bytes(coded(photo(320, 240, number), "JPEG", quality=90))
    return pack(augurpack, tree, session_room / "doctor-photos.store")


@pytest.fixture(scope="module")
def large(augurpack, session_room):
    tree = session_room / "doctor-large"
    tree.mkdir()
    for number in range(LARGE_FILES):
        (tree / f"{number:02}").write_bytes(os.urandom(LARGE_BYTES))
    return pack(augurpack, tree, session_room / "doctor-large.store")


@contextlib.contextmanager
def slow_disk(room, **limits):
    if cgroup.missing_for_disk(room):
        pytest.skip(cgroup.missing_for_disk(room))
    with cgroup.group(device=cgroup.device_of(room), **limits) as made:
        try:
            yield made
        finally:
            made.kill()


def test_a_disk_with_few_reads_a_second(room, mounts, point, data, ctl):
    with slow_disk(room, reads_per_s=40) as group:
        mounts.mount(data.store, point, "predict=off", prefix=group.prefix)
        with reader(point):
            wait_until(lambda: counters(point)["misses"] > 10, "the reader reads")
            found = examine(ctl, point, 2)
        assert found["waiting"]["weight"] == found["disk-iops"]["weight"] == "problem", found
        assert found["predict-off"]["weight"] == "problem", found
        mounts.clear()


def test_a_disk_with_little_bandwidth(room, mounts, point, large, ctl):
    with slow_disk(room, bytes_per_s=6 << 20) as group:
        mounts.mount(large, point, "predict=off", prefix=group.prefix)
        with reader(point):
            wait_until(lambda: counters(point)["misses"] > 4, "the reader reads")
            found = examine(ctl, point, 2)
        assert found["waiting"]["weight"] == found["disk-bandwidth"]["weight"] == "problem", found
        mounts.clear()


def test_too_little_memory(room, mounts, point, large, ctl):
    mounts.mount(large, point, "memory=64M")
    with reader(point):
        wait_until(lambda: counters(point)["disk_bytes"] > 1.5 * LARGE_FILES * LARGE_BYTES, "all was read over again")
        found = examine(ctl, point)
    assert "memory-small" in found and "would keep all of it" in found["memory-small"]["cure"], found


def test_an_order_that_cannot_be_found(room, mounts, point, data, ctl):
    mounts.mount(data.store, point, "cache=none")
    with reader(point):
        wait_until(lambda: counters(point)["reads"] > 400, "the reader reads")
        found = examine(ctl, point)
    assert "augurctl hint" in found["order-unknown"]["cure"], found


def test_a_stopped_reader(room, mounts, point, data, ctl):
    mounts.mount(data.store, point)
    with reader(point) as process:
        wait_until(lambda: counters(point)["reads"] > 10, "the reader reads")
        os.kill(process.pid, signal.SIGSTOP)
        # The daemon hears of its last reads a moment later.
        found = {}
        wait_until(lambda: found.update(examine(ctl, point)) or "nothing-read" in found, lambda: found)
    assert found["nothing-read"]["weight"] == "advice", found


def test_a_view_that_is_decoded_anew(room, mounts, point, photographs, ctl):
    # Of 98 MB of pixels, memory has room for half.
    mounts.mount(photographs, point, "view=pixels+size=640", "predict=off", "memory=96M")
    with reader(point):
        wait_until(lambda: counters(point)["images_decoded"] > 1.5 * PHOTOS, "all were decoded over again")
        found = examine(ctl, point)
    assert "decoded-cache=DIR" in found["decoded-anew"]["cure"], found
    mounts.clear()
    options = ("view=pixels+size=640", "predict=off", "memory=96M", f"decoded-cache={room / 'decoded'}")
    mounts.mount(photographs, point, *options)
    with reader(point):
        wait_until(lambda: counters(point)["decoded_hits"] > PHOTOS, "the decoded cache is used")
        assert "decoded-anew" not in examine(ctl, point)


def test_a_script_that_decodes_itself(room, mounts, point, photographs, ctl):
    """The mount is not what it waits for: all its files are in the daemon's memory."""
    mounts.mount(photographs, point)
    with reader(point, "decode"):
        wait_until(lambda: counters(point)["retained_cache_hits"] > PHOTOS, "the reader reads from memory")
        found = examine(ctl, point)
    assert "view=pixels" in found["decodes-in-script"]["cure"] and "waiting" not in found, found


def test_processors_that_other_programs_fill(room, mounts, point, photographs, ctl):
    mounts.mount(photographs, point)
    with reader(point, "decode"):
        wait_until(lambda: counters(point)["retained_cache_hits"] > PHOTOS, "the reader reads from memory")
        with contextlib.ExitStack() as others:
            for _ in range(4 * os.cpu_count()):
                others.enter_context(program("-c", "while True: pass"))
            found = examine(ctl, point, 2)
    assert found["other-programs"]["weight"] == "problem" and "processors" not in found, found


def test_a_damaged_store(room, mounts, point, own_store, ctl):
    mounts.mount(own_store, point, "predict=off")
    for shard in own_store.glob("shard-*"):
        os.truncate(shard, 4096)
    with contextlib.suppress(OSError):
        (point / "folder" / "image.JPEG").read_bytes()
    assert examine(ctl, point)["errors"]["weight"] == "advice"


def test_sentences_for_people(room, mounts, point, small_store, ctl):
    mounts.mount(small_store, point, "predict=off")
    done = run([ctl, "doctor", point / "folder", "--seconds", "1"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("advice   No program has read from the mount in 1."), done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_a_machine_before_the_first_mount(room, ctl):
    done = run([ctl, "doctor", "--json"])
    found = {one["name"]: one for one in json.loads(done.stdout)["findings"]}
    assert {"fuse-device", "fusermount", "kernel", "io-uring", "dev-shm"} <= set(found) and done.returncode == 0, done
    # Without /dev/fuse, and as a user who has no fusermount3.
    done = run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs none /dev && exec {ctl} doctor"])
    assert done.returncode == 1 and done.stdout.startswith("problem  There is no /dev/fuse"), done
    done = run([*as_user(), "/usr/bin/env", f"PATH={room}", ctl, "doctor"])
    assert done.returncode == 1 and "There is no fusermount3, by which users other than root mount." in done.stdout, done
