# SPDX-License-Identifier: Apache-2.0
"""The copy of a store's records on the local disk, -o disk-cache=: what is there is not asked of the server again, whatever happens
to the copy, every byte is right, and the mount is as good without it."""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import faults
import mounts
import pytest
from bucket_support import asked_for, daemon_of, drop_pages, wait_until

pytestmark = pytest.mark.usefixtures("aws_environment")

NOBODY = 65534
PATIENCE_S = 60
SEGMENT = "augurfs-decoded-*"


class Copied:
    """A store that is mounted with a copy; `server` is a FaultProxy."""

    def __init__(self, store, point, server, cache):
        self.store, self.point, self.server, self.cache = store, pathlib.Path(point), server, pathlib.Path(cache)
        self.paths = sorted(path.relative_to(store.tree) for path in store.tree.rglob("*") if path.is_file())

    def mounted(self, *options, point=None):
        """Without what would bring a file a second time from memory: all that does not come from the server is from the copy."""
        words = mounts.augurfs_words(mounts.program("augurfs"), self.store.url, point or self.point,
                                     [f"endpoint-url={self.server.endpoint}", f"disk-cache={self.cache}", "memory=512M", "cache=none",
                                      *options])
        return mounts.fuse([*words, "-f"], point or self.point)

    def read_all(self, point=None, paths=None):
        for path in paths or self.paths:
            assert ((point or self.point) / path).read_bytes() == (self.store.tree / path).read_bytes(), path

    def statistics(self, point=None):
        stats = json.loads(((point or self.point) / ".augur" / "stats.json").read_bytes())
        return {**stats["counters"], **stats["gauges"]}

    def wait_for(self, blocks, point=None):
        end = time.monotonic() + PATIENCE_S
        while (found := self.statistics(point)["disk_cache_blocks"]) < blocks:
            assert time.monotonic() < end, f"{found} of {blocks} blocks are on the disk"
            time.sleep(0.02)

    def fill(self):
        with self.mounted():
            self.read_all()
            self.wait_for(len(self.paths))

    def asked_for(self):
        """Ranges of shards."""
        return asked_for(self.server.requests("GET", "shard-"))

    def segments(self):
        return sorted(self.cache.glob(SEGMENT))


@pytest.fixture
def copied(remote_store, folder, proxy):
    return Copied(remote_store, pathlib.Path(folder) / "mount", proxy, pathlib.Path(folder) / "copy")


@pytest.fixture
def larger(remote_store, augurpack, folder, proxy):
    """As `copied`, with 30 files of 24 MB together."""
    tree, store = pathlib.Path(folder) / "large-tree", pathlib.Path(folder) / "large"
    tree.mkdir()
    for number in range(30):
        (tree / f"{number:02}").write_bytes(random.Random(number).randbytes(800_000))
    mounts.run(augurpack, "create", "--quiet", tree, store)
    for path in store.iterdir():
        remote_store.bucket.put(f"large.augur/{path.name}", path.read_bytes())
    large = dataclasses.replace(remote_store, prefix="large.augur", tree=tree, store=store)
    return Copied(large, pathlib.Path(folder) / "mount", proxy, pathlib.Path(folder) / "copy")


@pytest.fixture
def small_disk(folder):
    """The folder of a copy that is a disk of 2 MiB."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a file system")
    path = pathlib.Path(folder) / "copy"
    path.mkdir(mode=0o700)
    mounts.run("mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", path)
    try:
        yield path
    finally:
        mounts.run("umount", path)


# ---- what is there is not asked for ----


@pytest.mark.parametrize("predict", ["predict=on", "predict=off"])
def test_a_second_run_asks_for_nothing(copied, predict):
    copied.fill()
    assert copied.asked_for()
    copied.server.forget()
    with copied.mounted(predict):
        copied.read_all()
        assert copied.statistics()["disk_cache_hits"] >= len(copied.paths)
    assert not copied.asked_for()


def test_a_umount_behind_the_last_read_loses_nothing(larger):
    """What has come faster than the disk copy is written waits when the mount ends; the daemon writes it before its end. All of it
    fits into the memory for what waits."""
    kept = 0
    for _ in range(10):
        with larger.mounted("predict=off"):
            with concurrent.futures.ThreadPoolExecutor(8) as readers:
                list(readers.map(lambda path: larger.read_all(paths=[path]), larger.paths))
            begin = time.monotonic()
        took_s = time.monotonic() - begin
        larger.server.forget()
        with larger.mounted():
            larger.read_all()
        shutil.rmtree(larger.cache)
        # The end writes for two seconds at most, which a busy disk or machine may use up.
        assert took_s >= 2 or not larger.asked_for(), took_s
        kept += not larger.asked_for()
        if kept == 2:
            return
    pytest.fail("it was never written in time")


def test_what_is_read_ahead_comes_from_it(copied, augurctl, folder):
    copied.fill()
    copied.server.forget()
    order = random.Random(1).sample(copied.paths, len(copied.paths))
    with copied.mounted():
        hint = pathlib.Path(folder) / "order.txt"
        hint.write_text("".join(f"{path}\n" for path in order))
        subprocess.run([augurctl, "hint", copied.point, "--order", hint], check=True, stdin=subprocess.DEVNULL)
        wait_until(lambda: copied.statistics()["pushes"] > len(order) * 3 / 4)
        copied.read_all(paths=order)
        statistics = copied.statistics()
        assert statistics["misses"] < len(order) / 2 and statistics["disk_cache_hits"] >= len(order), statistics
    assert not copied.asked_for()


def test_only_what_is_missing_is_asked_for(copied, augurctl, folder):
    """Half of the files are there; the order has them all, and neighbours are read together."""
    with copied.mounted("predict=off"):
        copied.read_all(paths=copied.paths[::2])
        copied.wait_for(len(copied.paths[::2]))
    with copied.mounted():
        hint = pathlib.Path(folder) / "order.txt"
        hint.write_text("".join(f"{path}\n" for path in copied.paths))
        subprocess.run([augurctl, "hint", copied.point, "--order", hint], check=True, stdin=subprocess.DEVNULL)
        copied.read_all()
        copied.wait_for(len(copied.paths))
    copied.server.forget()
    with copied.mounted():
        copied.read_all()
    assert not copied.asked_for()


def test_the_server_may_be_away(copied):
    copied.fill()
    with copied.mounted("io-timeout=2"):
        copied.server.refuse_connections()
        try:
            copied.read_all()
        finally:
            copied.server.accept_connections()


def test_a_daemon_that_was_killed_leaves_its_copy(copied):
    with copied.mounted() as process:
        copied.read_all()
        copied.wait_for(len(copied.paths))
        process.kill()
        process.wait()
    copied.server.forget()
    with copied.mounted():
        copied.read_all()
    assert not copied.asked_for()


def test_the_next_daemon_of_a_mount_has_it(copied):
    """One that goes on when the first was killed: it asks for nothing again."""
    with copied.mounted():
        copied.read_all()
        copied.wait_for(len(copied.paths))
        hits = copied.statistics()["disk_cache_hits"]
        copied.server.forget()
        os.kill(daemon_of(copied.point), signal.SIGKILL)
        drop_pages(*(copied.point / path for path in copied.paths))
        copied.read_all()
        statistics = copied.statistics()
        assert statistics["restarts"] == 1 and statistics["disk_cache_hits"] - hits >= len(copied.paths), statistics
    assert not copied.asked_for()


def test_a_daemon_that_is_killed_while_it_writes(copied):
    with copied.mounted() as process:
        copied.read_all(paths=copied.paths[:60])
        process.kill()
        process.wait()
    copied.fill()
    copied.server.forget()
    with copied.mounted():
        copied.read_all()
    assert not copied.asked_for()


def test_two_mounts_share_it(copied, folder):
    other = pathlib.Path(folder) / "other"
    half = len(copied.paths) // 2
    with copied.mounted("predict=off"), copied.mounted("predict=off", point=other):
        copied.read_all(paths=copied.paths[:half])
        copied.read_all(other, paths=copied.paths[half:])
        copied.wait_for(len(copied.paths))
        copied.wait_for(len(copied.paths), other)
        copied.server.forget()
        copied.read_all(paths=copied.paths[half:])
        copied.read_all(other, paths=copied.paths[:half])
        assert not copied.asked_for()


# ---- what happens to it is not seen ----


def damage(copied):
    """A bit of each file's bytes in the copy. Not of the file of one byte: that byte is also in a segment's header by chance, without
    which the whole segment is left alone."""
    records = [record for path in copied.paths if len(record := (copied.store.tree / path).read_bytes()) > 1]
    found = 0
    for segment in copied.segments():
        content = bytearray(segment.read_bytes())
        for record in records:
            at = content.find(record)
            if at >= 0:
                content[at] ^= 1
                found += 1
        with open(segment, "r+b") as file:
            file.write(content)
    assert found >= len(records)


@pytest.mark.parametrize("options", [[], ["predict=off"]], ids=["predict", "demand"])
def test_a_damaged_copy_is_not_believed(copied, folder, options):
    copied.fill()
    damage(copied)
    copied.server.forget()
    log = pathlib.Path(folder) / "log"
    with copied.mounted(f"log={log}", *options):
        copied.read_all()
        copied.wait_for(len(copied.paths))  # and made anew
    assert copied.asked_for()
    assert "are not those that were written; the record is asked of the server" in log.read_text()
    copied.server.forget()
    with copied.mounted(*options):
        copied.read_all()
    assert not copied.asked_for()


@pytest.mark.parametrize("what", ["removed", "cut", "emptied"])
def test_a_copy_that_goes_while_it_is_used(copied, what):
    copied.fill()
    with copied.mounted("predict=off"):
        copied.read_all(paths=copied.paths[:20])
        for segment in copied.segments():
            if what == "cut":
                os.truncate(segment, segment.stat().st_size // 2)
            elif what == "emptied":
                os.truncate(segment, 0)
        if what == "removed":
            shutil.rmtree(copied.cache)
        copied.read_all()


def test_wrong_bytes_of_the_server_are_not_kept(copied, folder):
    fault = faults.WrongBytes(times=3, at=3, only=lambda request: "shard-" in request.path)
    with copied.mounted("predict=off"), copied.server.playing(fault):
        copied.read_all()
        copied.wait_for(len(copied.paths) - 3)  # the wrong ones waited to be checked when the right ones came
    assert fault.count == 3
    copied.server.forget()
    log = pathlib.Path(folder) / "log"
    with copied.mounted(f"log={log}", "predict=off"):
        kept = copied.statistics()["disk_cache_blocks"]
        copied.read_all()
    # A wrong one that was kept would be asked for beside those that are missing.
    assert len(copied.asked_for()) == len(copied.paths) - kept and "are not those" not in log.read_text()


# ---- where there is no room, or no right ----


def test_a_bound_holds(larger):
    """Of 24 MB of files 16 MiB may be kept."""
    for run in range(2):
        larger.server.forget()
        with larger.mounted("disk-cache-size=16M", "predict=off"):
            larger.read_all()
            larger.wait_for(1)
            statistics = larger.statistics()
            assert statistics["disk_cache_bytes"] <= statistics["disk_cache_bytes_max"] == 16 << 20
            assert (statistics["disk_cache_hits"] > 0) == (run == 1)
        assert larger.asked_for()
        assert sum(segment.stat().st_size for segment in larger.segments()) <= 16 << 20


def test_a_full_disk(remote_store, folder, proxy, small_disk):
    copied = Copied(remote_store, pathlib.Path(folder) / "mount", proxy, small_disk)
    for _ in range(2):
        with copied.mounted("predict=off"):
            copied.read_all()
            copied.read_all()


def test_the_default_size_leaves_a_twentieth_free(copied):
    copied.cache.mkdir(mode=0o700)
    with copied.mounted():
        space = os.statvfs(copied.cache)
        most = copied.statistics()["disk_cache_bytes_max"]
    # Others write to the disk, too: about a tenth of it, not more, may differ.
    wanted = (space.f_bavail - space.f_blocks / 20) * space.f_frsize
    assert abs(most - max(wanted, 16 << 20)) < space.f_blocks * space.f_frsize / 10


@pytest.mark.parametrize("wrong", ["link", "file", "others", "nowhere"])
def test_a_folder_that_cannot_be_used_is_said(copied, folder, wrong):
    if wrong == "link":
        (pathlib.Path(folder) / "elsewhere").mkdir()
        copied.cache.symlink_to(pathlib.Path(folder) / "elsewhere")
    elif wrong == "file":
        copied.cache.write_text("mine")
    elif wrong == "others":
        if os.geteuid() != 0:
            pytest.skip("needs root to give a folder away")
        copied.cache.mkdir(mode=0o700)
        os.chown(copied.cache, NOBODY, NOBODY)
    else:
        copied.cache = copied.cache / "below" / "nothing"
    log = pathlib.Path(folder) / "log"
    with copied.mounted(f"log={log}"):
        copied.read_all()
    text = log.read_text()
    assert "no records are kept on the disk: disk-cache:" in text and str(copied.cache) in text
    if wrong == "others":
        assert "belongs to another user" in text and not copied.segments()


def test_a_store_in_a_folder_needs_none(copied, folder):
    log = pathlib.Path(folder) / "log"
    with mounts.augurfs(copied.store.store, copied.point, f"disk-cache={copied.cache}", f"log={log}"):
        copied.read_all()
    assert "disk-cache: not used: nothing of the store is on a server" in log.read_text() and not copied.cache.exists()
