# SPDX-License-Identifier: Apache-2.0
"""`augurctl doctor`: each cause is made, and must be found. What the sentences say is in tests/unit/diagnosis."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import cgroup
import pytest
from mounts import statistics
from patience import wait_until
from program_runs import as_user, run
from skips import needs_root
from stores import pack
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


def examine(ctl, point, seconds=1, prefix=()):
    """What it finds: names with weights. Its exit status must say whether one of them is a problem."""
    done = run([*prefix, ctl, "doctor", point, "--json", "--seconds", str(seconds)])
    assert done.stderr == "", done
    found = {one["name"]: one for one in json.loads(done.stdout)["findings"]}
    assert done.returncode == int(any(one["weight"] == "problem" for one in found.values())), done
    return found


def examine_until(ctl, point, *wanted, seconds=1):
    """What the first examination finds that finds all of these: not one of seconds in which the reader got no processor."""
    found = {}

    def are_found():
        found.clear()
        found.update(examine(ctl, point, seconds))
        return set(wanted) <= set(found)

    wait_until(are_found, lambda: f"{wanted}: {found}")
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
            found = examine_until(ctl, point, "waiting", "disk-iops", "predict-off", seconds=2)
        assert found["waiting"]["weight"] == found["disk-iops"]["weight"] == "problem", found
        assert found["predict-off"]["weight"] == "problem", found
        mounts.clear()


def test_a_disk_with_little_bandwidth(room, mounts, point, large, ctl):
    with slow_disk(room, bytes_per_s=6 << 20) as group:
        mounts.mount(large, point, "predict=off", prefix=group.prefix)
        with reader(point):
            wait_until(lambda: counters(point)["misses"] > 4, "the reader reads")
            found = examine_until(ctl, point, "waiting", "disk-bandwidth", seconds=2)
        assert found["waiting"]["weight"] == found["disk-bandwidth"]["weight"] == "problem", found
        mounts.clear()


def test_too_little_memory(room, mounts, point, large, ctl):
    mounts.mount(large, point, "memory=64M")
    with reader(point):
        wait_until(lambda: counters(point)["disk_bytes"] > 1.5 * LARGE_FILES * LARGE_BYTES, "all was read over again")
        found = examine_until(ctl, point, "memory-small")
    assert "would keep all of it" in found["memory-small"]["cure"], found


def test_an_order_that_cannot_be_found(room, mounts, point, data, ctl):
    mounts.mount(data.store, point, "cache=none")
    with reader(point):
        wait_until(lambda: counters(point)["reads"] > 400, "the reader reads")
        found = examine_until(ctl, point, "order-unknown")
    assert "augurctl hint" in found["order-unknown"]["cure"], found


@pytest.mark.parametrize("words", [["doctor"], ["top", "--once"]])
def test_interrupted_before_it_knows_something(room, mounts, point, small_store, ctl, words):
    mounts.mount(small_store, point)
    process = subprocess.Popen([ctl, *words, point, "--seconds", "600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        catches = re.compile(r"^SigCgt:\s+[0-9a-f]*[2367abef]$", re.MULTILINE)  # SIGINT
        wait_until(lambda: catches.search(pathlib.Path(f"/proc/{process.pid}/status").read_text()), "it waits")
    finally:
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=60)
    assert (process.returncode, said) == (2, ""), complaint
    assert complaint.startswith("augurctl: stopped by SIGINT: ") and "--seconds=N" in complaint


def test_a_stopped_reader(room, mounts, point, data, ctl):
    mounts.mount(data.store, point)
    with reader(point) as process:
        wait_until(lambda: counters(point)["reads"] > 10, "the reader reads")
        os.kill(process.pid, signal.SIGSTOP)
        # The daemon hears of its last reads a moment later.
        found = examine_until(ctl, point, "nothing-read")
    assert found["nothing-read"]["weight"] == "advice", found


def test_a_view_that_is_decoded_anew(room, mounts, point, photographs, ctl):
    # Of 98 MB of pixels, memory has room for half.
    mounts.mount(photographs, point, "view=pixels+size=640", "predict=off", "memory=96M")
    with reader(point):
        wait_until(lambda: counters(point)["images_decoded"] > 1.5 * PHOTOS, "all were decoded over again")
        found = examine_until(ctl, point, "decoded-anew")
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
        found = examine_until(ctl, point, "decodes-in-script")
    assert "view=pixels" in found["decodes-in-script"]["cure"] and "waiting" not in found, found


def test_processors_that_other_programs_fill(room, mounts, point, photographs, ctl):
    mounts.mount(photographs, point)
    with reader(point, "decode"):
        wait_until(lambda: counters(point)["retained_cache_hits"] > PHOTOS, "the reader reads from memory")
        with contextlib.ExitStack() as others:
            for _ in range(4 * os.cpu_count()):
                others.enter_context(program("-c", "while True: pass"))
            found = examine_until(ctl, point, "other-programs", seconds=2)
    assert found["other-programs"]["weight"] == "problem" and "processors" not in found, found


@contextlib.contextmanager
def told_busy(room, processors):
    """The words that run a program which reads in /proc/stat that so many processors of the machine are busy: other tests keep the
    real ones busy."""
    path, end = room / "stat", threading.Event()

    def tell():
        begin = time.monotonic()
        with open(path, "r+b", buffering=0) as file:
            while not end.wait(0.02):
                ticks = (time.monotonic() - begin) * os.sysconf("SC_CLK_TCK")
                busy, idle = int(ticks * processors), int(ticks * (os.cpu_count() - processors))
                os.pwrite(file.fileno(), b"cpu  %020d 0 0 %020d 0 0 0 0 0 0\n" % (busy, idle), 0)

    path.write_bytes(b"cpu  %020d 0 0 %020d 0 0 0 0 0 0\n" % (0, 0))
    teller = threading.Thread(target=tell)
    teller.start()
    try:
        yield ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/stat && exec "$@"', path]
    finally:
        end.set()
        teller.join()


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_one_worker_beside_idle_processors(room, mounts, point, photographs, ctl):
    """The script decodes in its own process, and fills one processor."""
    if os.cpu_count() < 2:
        pytest.skip("needs a second processor, which is idle")
    mounts.mount(photographs, point)
    with reader(point, "decode") as process, told_busy(room, 1.2) as prefix:
        os.setpriority(os.PRIO_PROCESS, process.pid, -20)
        wait_until(lambda: counters(point)["retained_cache_hits"] > PHOTOS, "the reader reads from memory")
        for _ in range(5):
            used, begin = processor_seconds(process.pid), time.monotonic()
            found = examine(ctl, point, prefix=prefix)
            part = (processor_seconds(process.pid) - used) / (time.monotonic() - begin)
            if "few-workers" in found:
                break
        else:
            if part < 0.75:
                pytest.skip(f"other programs leave the script only {part:.0%} of a processor")
    assert found["few-workers"]["weight"] == "problem" and "loads its data in its own process" in found["few-workers"]["text"], found
    assert "num_workers=" in found["few-workers"]["cure"] and "processors" not in found, found


def test_processors_that_the_script_fills(room, mounts, point, photographs, ctl):
    mounts.mount(photographs, point)
    with reader(point, "decode", str(6 * os.cpu_count())):
        wait_until(lambda: counters(point)["retained_cache_hits"] > PHOTOS, "the readers read from memory")
        for _ in range(5):
            found = examine(ctl, point)
            if "processors" in found:
                break
        else:
            if "other-programs" in found:
                pytest.skip("other programs use more of the processors than the script gets")
    assert found["processors"]["weight"] == "problem" and "More workers gain nothing." in found["processors"]["cure"], found
    assert "few-workers" not in found and "other-programs" not in found, found


def test_reads_one_after_the_other(room, mounts, point, augurpack, ctl):
    """One reader, and a disk that answers quickly. No buffer has room for all of the files."""
    tree = room / "tree"
    tree.mkdir()
    for number in range(1200):
        (tree / f"{number:04}").write_bytes(os.urandom(50_000))
    mounts.mount(pack(augurpack, tree, room / "store"), point, "predict=off", "cache=none", "memory=64M")
    with reader(point):
        wait_until(lambda: counters(point)["misses"] > 4, "the reader reads")
        found = examine_until(ctl, point, "waiting", "few-reads-in-flight")
    assert found["waiting"]["weight"] == found["few-reads-in-flight"]["weight"] == "problem", found
    assert "num_workers=" in found["few-reads-in-flight"]["cure"], found


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
