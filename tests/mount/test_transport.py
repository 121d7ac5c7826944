# SPDX-License-Identifier: Apache-2.0
"""How requests come to the daemon, -o transport=: SEMANTICS.md, L15 and L16. What both transports do alike is in the other files, whose
mounts AUGUR_TRANSPORT=uring makes over io_uring."""

import concurrent.futures
import contextlib
import errno
import hashlib
import json
import mmap
import os
import pathlib
import signal
import subprocess

import pytest

from kernel_caches import drop_caches
from mounts import URING_SWITCH, daemons, holders, is_running, mount_rows
from patience import PATIENCE_S, wait_until
from prefetching import log_of
from processes import thread_names
from program_runs import assert_refused, run
from restart_fixtures import assert_served_again
from skips import dumps_core, needs_root
from stores import HELLO, pack, read_hello
from system_calls import errno_of
from transports import uring_switched_on

pytestmark = needs_root

READERS = 4
KILLS = 10

# ECANCELED: the kernel was just handing the request to a thread that ended.
ENDED = (errno.ENOTCONN, errno.ECONNABORTED, errno.ECANCELED)


@pytest.fixture
def transport():
    """Each test here says itself what its mounts use."""
    return "default"


@pytest.fixture
def switched_on():
    with uring_switched_on():
        yield


@pytest.fixture
def switched_off(switched_on):
    URING_SWITCH.write_text("N\n", encoding="ascii")


def transport_of(ctl, point):
    return json.loads(run([ctl, "status", "--json", point]).stdout)["mount"]["transport"]


def taken_from_device(pid):
    """Requests that the threads of /dev/fuse have taken: each is a read(2) that has returned."""
    taken = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            if (task / "comm").read_text(encoding="ascii").strip() == "augur-fuse":
                numbers = dict(line.split(": ") for line in (task / "io").read_text(encoding="ascii").splitlines())
                taken += int(numbers["syscr"])
    return taken


def waits(shell, seen):
    """Whether the shell's command is the same as at the last two looks."""
    seen.append(pathlib.Path(f"/proc/{shell.pid}/task/{shell.pid}/children").read_text(encoding="ascii"))
    return seen[-1] != "" and seen[-3:] == [seen[-1]] * 3


def rings(pid):
    return thread_names(pid).count("augur-ring")


def test_requests_come_over_io_uring(room, mounts, point, data, ctl, switched_on):
    pid = mounts.mount(data.store, point, "transport=uring", "predict=off", f"log={room}/log")
    wait_until(lambda: rings(pid) == os.sysconf("SC_NPROCESSORS_CONF"), lambda: thread_names(pid))
    assert transport_of(ctl, point).startswith("uring: io_uring: ")
    assert "transport  uring: " in run([ctl, "status", point]).stdout
    log = (room / "log").read_text(encoding="utf-8")
    assert "transport uring: io_uring: " in log
    before = taken_from_device(pid)
    for path in data.paths:
        data.check(point, path)
    assert json.loads((point / ".augur" / "stats.json").read_text(encoding="utf-8"))["counters"]["reads"] >= len(data.paths)
    assert taken_from_device(pid) - before < len(data.paths) // 2  # what the kernel forgets comes there still


def test_names_that_are_missing_or_too_long(room, mounts, point, small_store, switched_on):
    """Answers that have no payload."""
    mounts.mount(small_store, point, "transport=uring")
    assert errno_of(os.stat, point / "missing") == errno.ENOENT
    assert errno_of(os.stat, point / ("n" * 256)) == errno.ENAMETOOLONG
    assert errno_of(os.mkdir, point / "new") == errno.EROFS
    with open(point / "hello.txt", "rb") as file:
        assert not file.isatty() and file.read() == HELLO.encode()


def test_more_readers_than_a_queue_has_places(room, mounts, point, data, switched_on):
    """R1, R6: further requests wait in the kernel."""
    mounts.mount(data.store, point, "transport=uring", "predict=off")
    with concurrent.futures.ThreadPoolExecutor(64) as readers:
        list(readers.map(lambda path: data.check(point, path), data.paths))


def test_little_memory_makes_requests_smaller(room, mounts, point, augurpack, ctl, switched_on):
    """C4, R1: no budget is exceeded for the queues, and every byte is right."""
    (room / "tree").mkdir()
    content = os.urandom(5_000_003)
    (room / "tree" / "large").write_bytes(content)
    store = pack(augurpack, room / "tree", room / "large-store")
    queues = os.sysconf("SC_NPROCESSORS_CONF")
    least_mib = 16 * queues * 4 * (128 + 8) // 1024 + 1
    mounts.mount(store, point, "transport=uring", f"memory={max(32, least_mib)}M")
    assert transport_of(ctl, point).startswith(f"uring: io_uring: {queues} queue")
    assert "requests of 128.0 KiB" in transport_of(ctl, point)
    assert (point / "large").read_bytes() == content


def test_refused_where_root_has_not_switched_it_on(room, mounts, point, small_store, switched_off):
    assert_refused(mounts.start(small_store, point, "transport=uring"), "transport=uring", f"echo Y > {URING_SWITCH}")
    assert not mount_rows(point)


def test_auto_takes_dev_where_it_is_off(room, mounts, point, small_store, ctl, switched_off):
    mounts.mount(small_store, point, "restart=no")
    assert transport_of(ctl, point).startswith("dev: ") and str(URING_SWITCH) in transport_of(ctl, point)
    assert rings(mounts.pid(point)) == 0


def test_auto_prefers_a_mount_that_survives(room, mounts, point, small_store, ctl, switched_on):
    """L8, L16"""
    pid = mounts.mount(small_store, point)
    assert transport_of(ctl, point).startswith("dev: over io_uring a crash costs readers an error")
    os.kill(pid, signal.SIGKILL)
    assert read_hello(point) == HELLO


def test_auto_takes_uring_where_nothing_is_lost_by_it(room, mounts, point, small_store, ctl, switched_on):
    mounts.mount(small_store, point, "restart=no")
    assert transport_of(ctl, point).startswith("uring: ")
    assert read_hello(point) == HELLO


def read_until(data, point, ends):
    """Cold reads and look-ups, each byte compared. Returns the errors, and ends at the first for which `ends` holds."""
    errors = []
    while not ends(errors):
        for path in data.paths:
            try:
                errno_of(os.stat, point / f"{path} is missing")
                descriptor = os.open(point / path, os.O_RDONLY | os.O_DIRECT)
                try:
                    piece = memoryview(mmap.mmap(-1, 1 << 20))
                    assert hashlib.blake2b(piece[: os.preadv(descriptor, [piece], 0)]).digest() == data.sums[path], path
                finally:
                    os.close(descriptor)
            except OSError as error:
                errors.append(error.errno)
                if ends(errors):
                    break
    return errors


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_daemon_that_dies_ends_the_mount(room, mounts, point, data, switched_on, number):
    """L3: readers get an error, those that wait at that moment too."""
    pid = mounts.mount(data.store, point, "transport=uring", "restart=no", "predict=off")
    with concurrent.futures.ThreadPoolExecutor(4) as readers:
        failures = [readers.submit(read_until, data, point, bool) for _ in range(4)]
        os.kill(pid, number)
        assert {error for failure in failures for error in failure.result(PATIENCE_S)} <= set(ENDED)
    wait_until(lambda: not is_running(pid) and not daemons(mounts.program, point), "all processes are gone")
    assert errno_of(os.stat, point / "missing") in ENDED


def test_another_daemon_goes_on_over_io_uring(room, mounts, point, data, ctl, switched_on):
    """L16: requests that a dead daemon had taken are answered by the next one, those that wait in the kernel too. The kernel ends with
    ECANCELED what it was just handing to a thread that died, and nothing else fails."""
    pid = mounts.mount(data.store, point, "transport=uring", "predict=off", f"log={room}/log")
    kills = []
    with concurrent.futures.ThreadPoolExecutor(READERS) as readers:
        found = [readers.submit(read_until, data, point, lambda _: len(kills) == KILLS) for _ in range(READERS)]
        for _ in range(KILLS):
            os.kill(pid, signal.SIGKILL)
            kills.append(pid)
            assert_served_again(room / "log", len(kills))
            pid = mounts.pid(point)
        assert {error for one in found for error in one.result(PATIENCE_S)} <= {errno.ECANCELED}
    assert transport_of(ctl, point).startswith("uring: ") and transport_of(ctl, point).endswith("as the mount was made")
    for path in data.paths:
        data.check(point, path)


def test_a_lone_reader_waits_for_the_next_daemon(room, mounts, point, small_store, switched_on):
    """L16: its request comes while there is no daemon, and no other one makes the kernel hand it out."""
    pid = mounts.mount(small_store, point, "transport=uring", "predict=off", f"log={room}/log")
    (holder,) = holders(point)
    for _ in range(3):
        drop_caches()
        os.kill(holder, signal.SIGSTOP)
        try:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: not is_running(pid), "the daemon is gone")
            # ECANCELED as long as the kernel has not seen the end of the dead one's ring.
            reader = subprocess.Popen(["sh", "-c", 'until cat "$0" 2>/dev/null; do :; done', point / "hello.txt"], stdout=subprocess.PIPE,
                                      text=True)
            seen = ["", ""]
            wait_until(lambda seen=seen, reader=reader: waits(reader, seen), "it waits")
        finally:
            os.kill(holder, signal.SIGCONT)
        assert reader.communicate(timeout=PATIENCE_S)[0] == HELLO
        pid = mounts.pid(point)


@pytest.mark.parametrize("to_switch", ["Y", "N"])
def test_an_upgrade_keeps_the_transport(room, mounts, point, data, ctl, switched_on, to_switch):
    """L16: whatever the switch is by then, and with another memory=. Readers see no error."""
    mounts.mount(data.store, point, "transport=uring", "predict=off", f"log={room}/log")
    URING_SWITCH.write_text(to_switch, encoding="ascii")
    done = []
    with concurrent.futures.ThreadPoolExecutor(READERS) as readers:
        found = [readers.submit(read_until, data, point, lambda _: bool(done)) for _ in range(READERS)]
        for memory in ("96M", "512M", "128M"):
            assert run([ctl, "restart", point, "-o", f"memory={memory}"]).returncode == 0
        done.append(True)
        assert [one.result(PATIENCE_S) for one in found] == [[]] * READERS
    assert transport_of(ctl, point).startswith("uring: ")
    assert "could be held back" not in log_of(room)
    refused = run([ctl, "restart", point, "-o", "transport=dev"])
    assert refused.returncode == 2 and "-o transport: cannot change" in refused.stderr


@pytest.fixture
def connections(room):
    """The kernel's list of FUSE connections."""
    folder = room / "connections"
    folder.mkdir()
    if run(["mount", "-t", "fusectl", "none", folder]).returncode != 0:
        pytest.skip("needs the file system fusectl")
    try:
        yield folder
    finally:
        assert run(["umount", folder]).returncode == 0


def test_an_aborted_connection_ends_the_daemon(room, connections, mounts, point, data, switched_on):
    pid = mounts.mount(data.store, point, "transport=uring", "predict=off")
    drop_caches()
    data.check(point, data.paths[0])
    minor = mount_rows(point)[0]["device"].split(":")[1]
    (connections / minor / "abort").write_text("1", encoding="ascii")
    wait_until(lambda: not is_running(pid) and not holders(point), "the daemon ends")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_by_a_signal_while_files_are_read(room, mounts, point, data, switched_on, number):
    """L2: every READ that was taken is answered, with the right bytes, or fails."""
    process = mounts.foreground(data.store, point, "transport=uring", "predict=off")
    files = [open(point / path, "rb") for path in data.paths]  # noqa: SIM115: closed below
    try:
        with concurrent.futures.ThreadPoolExecutor(8) as readers:
            sums = readers.map(sum_or_error, files)
            process.send_signal(number)
            for path, found in zip(data.paths, sums):
                assert found in (data.sums[path], *ENDED), path
        assert process.wait(PATIENCE_S) == 0
    finally:
        for file in files:
            with contextlib.suppress(OSError):  # its FLUSH
                file.close()


def sum_or_error(file):
    try:
        return hashlib.blake2b(file.read()).digest()
    except OSError as error:
        return error.errno


@pytest.fixture
def long_core(room):
    """Cores of this machine go to a program that takes that of process `write(pid)` only after `end()`."""
    pattern, taker, chosen, gate = pathlib.Path("/proc/sys/kernel/core_pattern"), room / "core", room / "chosen", room / "gate"
    os.mkfifo(gate)
    taker.write_text(f'#!/bin/sh\n[ "$1" = "$(cat {chosen})" ] && : <{gate}\nexec cat >/dev/null\n', encoding="ascii")
    taker.chmod(0o755)
    before = pattern.read_text(encoding="ascii")

    class LongCore:
        pid, gate = None, None

        def write(self, pid):
            self.pid = pid
            chosen.write_text(str(pid), encoding="ascii")
            pattern.write_text(f"|{taker} %P", encoding="ascii")
            os.kill(pid, signal.SIGSEGV)

        def end(self):
            """From now on the gate is open, also to a program that has not come there yet."""
            pattern.write_text(before, encoding="ascii")
            self.gate = self.gate or os.open(gate, os.O_RDWR)
            wait_until(lambda: self.pid is None or not is_running(self.pid), "the core is written")

    core = LongCore()
    try:
        yield core
    finally:
        core.end()
        os.close(core.gate)


@dumps_core
def test_a_signal_while_the_core_of_the_daemon_before_is_written(room, mounts, point, small_store, switched_on, long_core):
    """L10: the next daemon waits for its threads to end."""
    pid = mounts.mount(small_store, point, "transport=uring", f"log={room}/log")
    (holder,) = holders(point)
    long_core.write(pid)
    wait_until(lambda: "going on in its place" in log_of(room), "the next daemon is there")
    os.kill(holder, signal.SIGTERM)
    wait_until(lambda: not is_running(holder), lambda: f"the holder ends:\n{log_of(room)}")
    assert mount_rows(point) == []
    wait_until(lambda: daemons(mounts.program, point) == [pid], "the next daemon has ended, and the one before has not")
    long_core.end()
