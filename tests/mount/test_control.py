# SPDX-License-Identifier: Apache-2.0
"""The control socket of a mount, and augurctl: SEMANTICS.md, Control."""

import json
import os
import re
import signal
import socket
import subprocess

import pytest
from control_socket import listens, socket_of
from mounts import is_running
from patience import PATIENCE_S, wait_until
from program_runs import run
from skips import needs_root, not_over_uring

pytestmark = needs_root


def test_status_is_that_of_the_files(room, mounts, point, small_store, ctl):
    """K1"""
    mounts.mount(small_store, point)
    (point / "hello.txt").read_bytes()
    by_socket, by_file = {}, {}

    def are_the_same():  # not while the daemon hears of the open
        done = run([ctl, "status", point, "--json"])
        assert (done.returncode, done.stderr) == (0, "")
        by_socket.update(json.loads(done.stdout))
        by_file.update(json.loads((point / ".augur" / "stats.json").read_bytes()))
        return by_socket["mount"] == by_file["mount"] and by_socket["counters"] == by_file["counters"]

    wait_until(are_the_same, lambda: f"{by_socket} is {by_file}")
    assert by_socket["counters"]["reads"] == 1
    assert by_socket["mount"]["mountpoint"] == str(point) and by_socket["mount"]["store"] == str(small_store)
    table = run([ctl, "status", "--all", point])
    assert table.returncode == 0
    assert all(f"\n{name} " in table.stdout for name in [*by_file["counters"], *by_file["gauges"], *by_file["histograms"]])


def test_status_is_one_screen(room, mounts, point, small_store, ctl):
    """K1: its first line is about the order, the rest fits on a screen, in units that people read."""
    mounts.mount(small_store, point)
    (point / "folder" / "image.JPEG").read_bytes()
    done = run([ctl, "status", point])
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("order not known") and len(lines) <= 13, done.stdout
    assert f"mount      {point} shows {small_store}, generation 1" in lines and "1 read (125.0 KiB) that" in done.stdout
    assert re.search("^waits +.* in 1 read: ", done.stdout, re.MULTILINE), done.stdout
    text = done.stdout
    for named in (str(small_store), str(room), str(room).strip("/").replace("/", "-")):  # such a name may have many digits
        text = text.replace(named, "")
    assert not re.search(r"\d{5,}", text), done.stdout
    order = room / "order"
    order.write_text("hello.txt\nfolder/image.JPEG\n" * 50, encoding="ascii")
    assert run([ctl, "hint", point, "--order", order]).returncode == 0
    wait_until(lambda: run([ctl, "status", point]).stdout.startswith("order known: "), lambda: run([ctl, "status", point]).stdout)
    without = room / "without"
    without.mkdir()
    mounts.mount(small_store, without, "predict=off")
    assert run([ctl, "status", without]).stdout.startswith("order not worked out: ")


def test_found_wherever_the_mount_is_seen(room, mounts, point, small_store, ctl):
    """K1: by a relative path, by a link, by what lies below, through bind mounts and overlays."""
    mounts.mount(small_store, point)
    (room / "link").symlink_to(point)
    places = [point / "folder", point / "folder" / "image.JPEG", point / ".augur", room / "link" / "folder"]

    def found(place):
        done = run([ctl, "status", "--json", place])
        assert done.returncode == 0, (place, done.stderr)
        return json.loads(done.stdout)["mount"]["mountpoint"]

    assert [found(place) for place in places] == [str(point)] * len(places)
    for source, below in ((point, "folder"), (point / "folder", "image.JPEG")):
        bound = room / "bound"
        bound.mkdir()
        assert run(["mount", "--bind", source, bound]).returncode == 0
        try:
            assert [found(bound), found(bound / below)] == [str(point)] * 2
        finally:
            assert run(["umount", bound]).returncode == 0
            bound.rmdir()
    done = run([ctl, "status", room])
    assert done.returncode == 2 and "no AugurFS is mounted here" in done.stderr


def test_found_below_an_overlay(room, mounts, augurfs, small_store, ctl):
    """K1: the layers may have any name; the others are no mounts of ours."""
    point = room / "a:b,c"
    for folder in (point, room / "plain", room / "upper", room / "work", room / "over"):
        folder.mkdir()
    assert run(["mount", "-t", "tmpfs", "none", room / "upper"]).returncode == 0
    try:
        mounts.mount(small_store, point)
        for folder in ("top", "work"):
            (room / "upper" / folder).mkdir()
        lower = str(point).replace(":", "\\:").replace(",", "\\,")
        options = f"lowerdir={room / 'plain'}:{lower},upperdir={room / 'upper' / 'top'},workdir={room / 'upper' / 'work'}"
        done = run(["mount", "-t", "overlay", "none", "-o", options, room / "over"])
        if done.returncode != 0:
            pytest.skip(f"no overlay over FUSE here: {done.stderr}")
        try:
            (room / "over" / "folder" / "new").write_text("beside the data", encoding="ascii")
            for place in (room / "over", room / "over" / "folder"):
                done = run([ctl, "status", "--json", place])
                assert done.returncode == 0, done.stderr
                assert json.loads(done.stdout)["mount"]["mountpoint"] == str(point)
        finally:
            assert run(["umount", room / "over"]).returncode == 0
    finally:
        assert run(["umount", room / "upper"]).returncode == 0


@not_over_uring("a request that a queue of a stopped daemon holds cannot be broken off by a signal (kernel)")
def test_a_stopped_daemon(room, mounts, point, small_store, ctl):
    """K3: every command ends by itself and says what to do, wherever it finds the daemon silent: at the mount, or at the socket."""
    pid = mounts.mount(small_store, point)
    path = socket_of(point)
    assert (point / "folder").is_dir()
    order = room / "order"
    order.write_text("hello.txt\n", encoding="ascii")
    os.kill(pid, signal.SIGSTOP)
    try:
        words = [["status", point], ["drop", point], ["views", point], ["hint", point, "--order", order], ["status", point / "folder"]]
        asked = [subprocess.Popen([ctl, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for command in words]
        for command in asked:
            out, error = command.communicate(timeout=60)
            assert (command.returncode, out) == (2, "") and "has not answered for 5 s" in error and "kill -CONT" in error, error
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: run([ctl, "status", point]).returncode == 0, "the daemon goes on")
    # A daemon that takes connections and says nothing; and one that has no room for them.
    path.unlink()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(os.fspath(path))
        silent.listen(1)
        done = run([ctl, "drop", point])
        assert done.returncode == 2 and "has not answered for 5 s" in done.stderr
        clients = []
        for _ in range(2):
            clients.append(socket.socket(socket.AF_UNIX))
            clients[-1].setblocking(False)
            clients[-1].connect_ex(os.fspath(path))
        done = run([ctl, "status", point])
        assert done.returncode == 2 and "has not answered for 5 s" in done.stderr
        for client in clients:
            client.close()


def test_views_checks_a_spec(room, mounts, point, small_store, ctl):
    """W8: a mistyped view is a missing name; augurctl and the log say what is wrong with it."""
    log = room / "log"
    mounts.mount(small_store, point, f"log={log}")
    wrong = {"npy+sise=256": ["sise=256", "did you mean size=256?"], "npy+size=0": ["size=0"], "nppy": ["did you mean npy?"],
             "npy+size=8+filter=bicubik": ["filter=bicubik", "did you mean bicubic?"], "npy+crop": ["crop", "its value is missing"],
             "zebra": ["not a word of a view"]}
    for spec, words in wrong.items():
        with pytest.raises(FileNotFoundError):
            (point / ".augur" / "views" / spec).stat()
        done = run([ctl, "views", point, spec])
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
        assert all(word in done.stderr for word in words), done.stderr
        lines = [line for line in log.read_text(encoding="utf-8").splitlines() if f"'{spec}'" in line]
        assert len(lines) == 1 and "warning: no such view" in lines[0] and all(word in lines[0] for word in words), lines
    assert "did you mean" not in run([ctl, "views", point, "zebra"]).stderr
    spelled = "npy+crop=4+size=8"
    done = run([ctl, "views", point, spelled])
    assert done.returncode == 0 and ".augur/views/npy+size=8+crop=4" in done.stdout and "not used yet" in done.stdout
    assert (point / ".augur" / "views" / spelled).is_dir()
    (point / ".augur" / "views" / "pixels").stat()
    done = run([ctl, "views", point, spelled])
    assert done.returncode == 0 and "npy+size=8+crop=4" in done.stdout and "0 images" in done.stdout and "pixels" not in done.stdout


def test_two_mounts_do_not_mix(room, mounts, point, small_store, ctl):
    """K1"""
    other = room / "other"
    other.mkdir()
    mounts.mount(small_store, point)
    mounts.mount(small_store, other)
    (other / "hello.txt").read_bytes()
    counts = [json.loads(run([ctl, "status", "--json", place]).stdout)["counters"]["reads"] for place in (point, other)]
    assert counts == [0, 1] and socket_of(point) != socket_of(other)


def test_a_killed_daemon(room, mounts, point, small_store, ctl):
    """K3: what it leaves is told from a mount that works, and cleared by the next daemon."""
    pid = mounts.mount(small_store, point, "restart=no")
    path = socket_of(point)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    # Looked at before it is dead: each daemon of root clears sockets that are, and tests beside this one start some.
    assert path.exists()
    # Its last threads, which the kernel ends after the first, hold its descriptors.
    wait_until(lambda: not listens(path), "its socket is dead, too")
    done = run([ctl, "status", point])
    assert done.returncode == 2 and "has ended: unmount it" in done.stderr
    assert run(["umount", point]).returncode == 0
    done = run([ctl, "status", point])
    assert done.returncode == 2 and "no AugurFS is mounted here" in done.stderr
    mounts.mount(small_store, point)
    assert not path.exists() and socket_of(point) != path
    assert run([ctl, "status", point]).returncode == 0


def test_nothing_is_left_at_the_end(room, mounts, point, small_store):
    """K3"""
    pid = mounts.mount(small_store, point)
    path = socket_of(point)
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert not path.exists()


def test_results_into_a_broken_pipe(room, mounts, point, small_store, ctl):
    mounts.mount(small_store, point)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([ctl, "status", point], stdout=writer, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
