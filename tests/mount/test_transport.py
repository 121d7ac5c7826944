# SPDX-License-Identifier: Apache-2.0
"""How requests come to the daemon, -o transport=: SEMANTICS.md, L14. What both transports do alike is in the other files, whose
mounts AUGUR_TRANSPORT=uring makes over io_uring."""

import concurrent.futures
import contextlib
import errno
import hashlib
import json
import os
import pathlib
import signal

import pytest

from conftest import (
    HELLO,
    URING_SWITCH,
    assert_refused,
    daemons,
    drop_caches,
    errno_of,
    holders,
    is_running,
    mount_rows,
    needs_root,
    pack,
    read_hello,
    run,
    uring_switched_on,
    wait_until,
)

pytestmark = needs_root

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
        if (task / "comm").read_text(encoding="ascii").strip() == "augur-fuse":
            numbers = dict(line.split(": ") for line in (task / "io").read_text(encoding="ascii").splitlines())
            taken += int(numbers["syscr"])
    return taken


def rings(pid):
    names = [path.read_text(encoding="ascii").strip() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/comm")]
    return names.count("augur-ring")


def test_requests_come_over_io_uring(room, mounts, point, data, ctl, switched_on):
    pid = mounts.mount(data.store, point, "transport=uring", "predict=off", f"log={room}/log")
    assert rings(pid) == os.sysconf("SC_NPROCESSORS_CONF")
    assert transport_of(ctl, point).startswith("uring: io_uring: ")
    assert "transport  uring: " in run([ctl, "status", point]).stdout
    log = (room / "log").read_text(encoding="utf-8")
    assert "transport uring: io_uring: " in log and "when the daemon dies the mount ends with it" in log
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
    """L8, L14"""
    pid = mounts.mount(small_store, point)
    assert transport_of(ctl, point).startswith("dev: over io_uring no other daemon goes on")
    os.kill(pid, signal.SIGKILL)
    assert read_hello(point) == HELLO


def test_auto_takes_uring_where_nothing_is_lost_by_it(room, mounts, point, small_store, ctl, switched_on):
    mounts.mount(small_store, point, "restart=no")
    assert transport_of(ctl, point).startswith("uring: ")
    assert read_hello(point) == HELLO


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
@pytest.mark.parametrize("restart", ["yes", "no"])
def test_a_daemon_that_dies_ends_the_mount(room, mounts, point, data, switched_on, number, restart):
    """L14: readers get an error, those that wait at that moment too, and no other daemon is started."""
    pid = mounts.mount(data.store, point, "transport=uring", f"restart={restart}", "predict=off")

    def read_until_it_fails():
        while True:
            for path in data.paths:
                try:
                    descriptor = os.open(point / path, os.O_RDONLY | os.O_DIRECT)
                    try:
                        os.preadv(descriptor, [memoryview(bytearray(1 << 16))], 0)
                    finally:
                        os.close(descriptor)
                except OSError as error:
                    return error.errno

    with concurrent.futures.ThreadPoolExecutor(4) as readers:
        failures = [readers.submit(read_until_it_fails) for _ in range(4)]
        os.kill(pid, number)
        assert {failure.result(30) for failure in failures} <= set(ENDED)
    wait_until(lambda: not is_running(pid) and not daemons(mounts.program, point) and not holders(point), "all processes are gone")
    assert errno_of(os.stat, point / "missing") in ENDED


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
        assert process.wait(30) == 0
    finally:
        for file in files:
            with contextlib.suppress(OSError):  # its FLUSH
                file.close()


def sum_or_error(file):
    try:
        return hashlib.blake2b(file.read()).digest()
    except OSError as error:
        return error.errno
