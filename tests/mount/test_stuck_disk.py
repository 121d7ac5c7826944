# SPDX-License-Identifier: Apache-2.0
"""The daemon is asked to end while its disk does not answer: SEMANTICS.md, L2. The disk is a mount whose daemon is stopped."""

import contextlib
import errno
import json
import os
import signal
import subprocess

import pytest

from kernel_caches import drop_caches
from mounts import daemons, is_running, mount_rows
from patience import PATIENCE_S, wait_until
from prefetching import DataSet
from processes import open_files
from program_runs import run
from skips import needs_root
from stores import pack

pytestmark = needs_root


@pytest.fixture(scope="module")
def data(augurpack, session_room):
    folder = session_room / "stuck"
    folder.mkdir()
    return DataSet(augurpack, folder, file_count=1000, bytes_max=200_000)


@pytest.fixture
def disk(room, mounts, augurpack, data):
    """A folder with the store, on a mount of its own, and the process that answers for it."""
    point = room / "disk"
    point.mkdir()
    store = pack(augurpack, data.store, room / "store-of-the-store")
    # A request that a stopped daemon holds in a queue of io_uring cannot be broken off: no disk is as deaf as that.
    pid = mounts.mount(store, point, "predict=off", "allow_other", "transport=dev")
    try:
        yield point, pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("options", [["io=uring"], ["io=pread"], ["predict=off"]])
def test_detaches_while_the_disk_does_not_answer(room, mounts, point, data, disk, options):
    """The mount point is free at once, and within the daemon's patience readers get an error; nothing waits for the disk."""
    folder, source = disk
    pid = mounts.mount(folder, point, "memory=32M", *options)  # less than the files
    paths = data.paths
    for path in paths[:40]:
        data.check(point, path)
    os.kill(source, signal.SIGSTOP)
    drop_caches()
    readers = []
    try:
        for path in reversed(paths):
            readers.append(subprocess.Popen(["cat", point / path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
            wait_until(lambda path=path: waits_for(readers[-1].pid, point / path) or readers[-1].poll() is not None,
                       "the reader waits or ends")
            if readers[-1].poll() is not None:  # the daemon had it in memory already
                assert readers.pop().returncode == 0
            if len(readers) == 3:
                break
        assert len(readers) == 3
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: mount_rows(point) == [], "the mount point is free")
        assert list(point.iterdir()) == []
        assert run(["rmdir", point]).returncode == 0
        point.mkdir()
        for reader in readers:
            _, errors = reader.communicate(timeout=PATIENCE_S)
            assert reader.returncode == 1, errors
            assert any(os.strerror(number) in errors.decode() for number in (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO)), errors
        assert state_of(source) == "T"
    finally:
        os.kill(source, signal.SIGCONT)
        for reader in readers:
            if reader.poll() is None:
                reader.kill()
                reader.wait()
    wait_until(lambda: not is_running(pid) and daemons(mounts.program, point) == [], "the daemon ends")


def test_doctor_says_that_no_read_is_answered(room, mounts, point, data, disk, ctl):
    folder, source = disk
    mounts.mount(folder, point, "predict=off", "cache=none")
    data.check(point, data.paths[0])
    os.kill(source, signal.SIGSTOP)
    drop_caches()
    reader = subprocess.Popen(["cat", point / data.paths[-1]], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: waits_for(reader.pid, point / data.paths[-1]), "the reader waits")
        done = run([ctl, "doctor", point, "--json", "--seconds", "1"])
        found = {one["name"]: one for one in json.loads(done.stdout)["findings"]}
        assert done.returncode == 1 and "for the mount, which has answered none" in found["reads-stuck"]["text"], done
    finally:
        os.kill(source, signal.SIGCONT)
        assert reader.wait() == 0


def waits_for(pid, path):
    """Whether the process waits for an answer to a request, or for a page of this file. Its own program may have to come from the disk
    first, and has pages, too."""
    with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
        wchan = file.read()
    if "folio" in wchan:
        return str(path) in open_files(pid).values()
    return "fuse" in wchan or "request_wait" in wchan


def state_of(pid):
    """The letter of the process's state: T is stopped."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]
