# SPDX-License-Identifier: Apache-2.0
"""The folder .augur: SEMANTICS.md, Virtual files."""

import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from kernel_caches import drop_caches
from patience import PATIENCE_S, wait_until
from program_runs import as_user, run
from skips import needs_root
from stores import HELLO, pack

pytestmark = needs_root

FILES = ["control", "metrics", "stats.json"]
LIVE_MAX = 256  # VirtualFolder::kLiveMax


def reads(point):
    """READ requests so far, by a fresh look."""
    return json.loads((point / ".augur" / "stats.json").read_text(encoding="utf-8"))["counters"]["reads"]


def test_found_by_name_and_not_listed(room, mounts, point, small_store):
    """V1"""
    mounts.mount(small_store, point)
    for _ in range(2):  # before it was looked up, and after
        assert sorted(os.listdir(point)) == ["folder", "hello.txt", "link"]
        assert ".augur" not in {name for _, folders, files in os.walk(point) for name in folders + files}
        assert sorted(os.listdir(point / ".augur")) == FILES
        drop_caches()
    assert sorted(row.name for row in os.scandir(point / ".augur") if row.is_file()) == FILES
    assert os.stat(point / ".augur").st_mode == 0o040555
    with pytest.raises(FileNotFoundError):
        (point / ".augur" / "missing").stat()
    with pytest.raises(FileNotFoundError):
        (point / "folder" / ".augur").stat()


@pytest.mark.parametrize("options", [("push=off",), ("push=off", "observe=open")], ids=["open-unseen", "open-seen"])
def test_each_open_is_fresh(room, mounts, point, small_store, options):
    """V2: the counter is the right one each time, by whatever program it is read."""
    mounts.mount(small_store, point, *options)
    path = point / ".augur" / "stats.json"
    for count in range(1, 6):
        drop_caches()
        assert (point / "hello.txt").read_text(encoding="ascii") == HELLO
        assert reads(point) == count
        assert json.loads(run(["cat", path]).stdout)["counters"]["reads"] == count
        text = (point / ".augur" / "metrics").read_text(encoding="utf-8")
        assert re.search(rf'^augurfs_reads_total{{mountpoint="{re.escape(str(point))}"}} {count}$', text, re.MULTILINE)
        assert reads(point) == count  # who looks moves nothing


def test_an_open_file_is_one_snapshot(room, mounts, point, small_store):
    """V2: size and bytes of a descriptor belong together and stay, read in any pieces, also while others look."""
    mounts.mount(small_store, point, "push=off")  # what is pushed would be read without a request
    fd = os.open(point / ".augur" / "stats.json", os.O_RDONLY)
    try:
        size = os.fstat(fd).st_size
        first = os.pread(fd, 100, 0)
        for _ in range(20):
            drop_caches()
            (point / "hello.txt").read_bytes()
            reads(point)
        rest = os.pread(fd, size, 100)
        assert len(first + rest) == size and os.pread(fd, 1, size) == b""
        assert json.loads(first + rest)["counters"]["reads"] == 0
        assert os.fstat(fd).st_size == size
    finally:
        os.close(fd)
    assert reads(point) == 20


def test_time_is_that_of_the_snapshot(room, mounts, point, small_store):
    """V2"""
    mounts.mount(small_store, point)
    first = os.stat(point / ".augur" / "metrics").st_mtime_ns
    second = os.stat(point / ".augur" / "metrics").st_mtime_ns
    assert os.stat(point / "hello.txt").st_mtime_ns < first < second


def test_snapshots_are_freed(room, mounts, point, small_store):
    """V3: any number of looks, one after the other or by many at once."""
    mounts.mount(small_store, point)
    for _ in range(20 * LIVE_MAX):
        assert all((point / ".augur" / name).read_bytes() for name in FILES)
    looks = [subprocess.Popen(["sh", "-c", 'for i in $(seq 50); do cat "$0"/* > /dev/null || exit 1; done', point / ".augur"])
             for _ in range(8)]
    assert [look.wait(60) for look in looks] == [0] * len(looks)


def test_too_many_open_snapshots(room, mounts, point, small_store):
    """V4: who keeps many open loses the oldest of his own; everybody else reads on."""
    mounts.mount(small_store, point, "allow_other")
    held = []
    other = os.open(point / ".augur" / "metrics", os.O_RDONLY)
    program = f"""if True:
        import os, sys
        held = [os.open(sys.argv[1], os.O_RDONLY) for _ in range({2 * LIVE_MAX})]
        try:
            os.read(held[0], 100)
        except OSError as error:
            assert error.errno == {errno.ENOENT}
        else:
            raise AssertionError("the oldest is still there")
        assert os.read(held[-1], 100)
        print("held", flush=True)
        sys.stdin.read()
        """
    many = subprocess.Popen([*as_user(), sys.executable, "-c", program, point / ".augur" / "metrics"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert many.stdout.readline() == "held\n"
        assert os.pread(other, 10, 0) and len(held) == 0
        for _ in range(LIVE_MAX):
            assert (point / ".augur" / "metrics").read_bytes()
        for _ in range(LIVE_MAX // 2 - 4):
            held.append(os.open(point / ".augur" / "metrics", os.O_RDONLY))
        assert all(os.pread(fd, 10, 0) for fd in [other, *held])
        counters = json.loads((point / ".augur" / "stats.json").read_text(encoding="utf-8"))["counters"]
        assert counters["reads"] == counters["read_failures"] > 0  # those of the one that was gone
        assert (point / "hello.txt").read_text(encoding="ascii") == HELLO
    finally:
        for fd in [other, *held]:
            os.close(fd)
        many.communicate(timeout=PATIENCE_S)
    assert many.returncode == 0


def test_the_stores_own_is_hidden(room, mounts, point, augurpack):
    """V5: in the root, with a warning; elsewhere the name is one like any other."""
    tree = room / "tree"
    (tree / ".augur").mkdir(parents=True)
    (tree / ".augur" / "own").write_text("own", encoding="ascii")
    (tree / "folder" / ".augur").mkdir(parents=True)
    (tree / "folder" / ".augur" / "own").write_text("kept", encoding="ascii")
    log = room / "log"
    mounts.mount(pack(augurpack, tree, room / "store"), point, f"log={log}")
    assert os.listdir(point) == ["folder"]
    assert sorted(os.listdir(point / ".augur")) == FILES
    with pytest.raises(FileNotFoundError):
        (point / ".augur" / "own").stat()
    assert (point / "folder" / ".augur" / "own").read_text(encoding="ascii") == "kept"
    assert re.search(r"warning: .* has a '\.augur': the mount hides it", log.read_text(encoding="utf-8"))


def test_a_usual_store_gives_no_warning(room, mounts, point, small_store):
    """V5"""
    log = room / "log"
    mounts.mount(small_store, point, f"log={log}")
    assert "warning" not in log.read_text(encoding="utf-8")


def test_nothing_can_be_changed(room, mounts, point, small_store):
    """V6"""
    mounts.mount(small_store, point)
    file = point / ".augur" / "metrics"
    changes = [lambda: open(file, "a", encoding="ascii"), lambda: open(file, "w", encoding="ascii"),
               lambda: (point / ".augur" / "new").touch(), file.unlink, lambda: file.chmod(0o600), lambda: os.truncate(file, 0),
               lambda: os.rename(file, point / "x"), lambda: os.rename(point / "hello.txt", point / ".augur" / "hello"),
               lambda: os.mkdir(point / ".augur" / "folder"), lambda: os.rmdir(point / ".augur"), lambda: os.utime(file)]
    for number, change in enumerate(changes):
        with pytest.raises(OSError) as caught:
            change()
        assert caught.value.errno == errno.EROFS, number


def test_permissions(room, mounts, point, small_store):
    """V7: who may look into the mount may read them; nobody may write."""
    mounts.mount(small_store, point, "allow_other", "uid=12", "gid=34", "umask=007")
    for name in FILES:
        status = os.stat(point / ".augur" / name)
        assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (12, 34, 0o440)
    assert "Permission denied" in run([*as_user(), "cat", point / ".augur" / "metrics"]).stderr
    assert run([*as_user(12), "cat", point / ".augur" / "metrics"]).returncode == 0


def test_metrics_are_taken_as_prometheus_takes_them(room, mounts, point, small_store):
    """V8: copied into the folder of node_exporter's textfile collector, every line is a sample or a comment of the format."""
    mounts.mount(small_store, point)
    shutil.copyfile(point / ".augur" / "metrics", room / "augurfs.prom")
    sample = re.compile(r'(augurfs_[a-z_]+)\{mountpoint="[^"]*"(?:,le="(\d+|\+Inf)")?\} (\d+)')
    comment = re.compile(r"# (HELP|TYPE) (augurfs_[a-z_]+) .+")
    kinds = {}
    families = set()
    for line in (room / "augurfs.prom").read_text(encoding="utf-8").splitlines():
        if found := comment.fullmatch(line):
            if found[1] == "TYPE":
                kinds[found[2]] = line.split()[-1]
            continue
        found = sample.fullmatch(line)
        assert found, line
        family = re.sub("_(bucket|sum|count)$", "", found[1])
        families.add(found[1] if found[1] in kinds else family)
        assert found[1] in kinds or kinds.get(family) == "histogram", line
    assert families == set(kinds) and set(kinds.values()) == {"counter", "gauge", "histogram"}


def test_json_and_metrics_have_the_same_numbers(room, mounts, point, small_store):
    """V8"""
    mounts.mount(small_store, point)
    stats = json.loads((point / ".augur" / "stats.json").read_bytes())
    metrics = (point / ".augur" / "metrics").read_text(encoding="utf-8")
    names = set(re.findall(r"^# TYPE augurfs_(\w+)", metrics, re.MULTILINE))
    assert names == ({f"{name}_total" for name in stats["counters"]} | set(stats["gauges"]) | set(stats["histograms"]))
    assert stats["mount"]["mountpoint"] == str(point)


def test_what_the_kernel_holds_for_a_mount(room, mounts, point, store, tree):
    """V8, C4: the inodes that it knows, until it forgets them, and the blocks of the index that the daemon holds."""
    mounts.mount(store, point, "predict=off")

    def gauges():
        return json.loads((point / ".augur" / "stats.json").read_bytes())["gauges"]

    before = gauges()
    assert before["kernel_inodes"] <= len(FILES) + 1
    names = len(run(["find", point, "-mindepth", "1", "-printf", "."]).stdout)
    after = gauges()
    assert names > len(list(tree.iterdir()))
    assert names <= after["kernel_inodes"] <= names + len(FILES) + 1
    index_bytes = sum(path.stat().st_size for path in store.glob("index-*"))
    assert 0 < before["index_bytes"] <= after["index_bytes"] <= after["index_bytes_max"] == index_bytes
    run(["find", point])  # listed and found by the kernel alone
    assert gauges()["kernel_inodes"] <= names + len(FILES) + 1
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("2\n")
    wait_until(lambda: gauges()["kernel_inodes"] <= len(FILES) + 1, gauges)


def test_forgotten_inodes_come_back(room, mounts, point, small_store):
    """V3: the kernel forgets everything, also while a file is open."""
    mounts.mount(small_store, point)
    with open(point / ".augur" / "metrics", "rb") as file:
        size = os.fstat(file.fileno()).st_size
        drop_caches()
        assert len(file.read()) == size
    drop_caches()
    assert pathlib.Path(point / ".augur" / "control").read_text(encoding="utf-8").startswith("/")
