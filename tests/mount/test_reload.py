# SPDX-License-Identifier: Apache-2.0
"""A mount shows another generation of its store without being unmounted (augurctl reload): SEMANTICS.md, L17 and L18."""

import errno
import itertools
import os
import random
import signal
import subprocess

import pytest

from kernel_caches import drop_caches, unless_caches_are_dropped
from mounts import daemons, holders
from patience import PATIENCE_S, wait_until
from prefetching import Prediction, log_of
from processes import open_files
from program_runs import NOBODY, as_user, run
from reload_fixtures import bytes_of, changes, grown, reload  # noqa: F401
from restart_fixtures import assert_served_again, restart, script
from skips import needs_root
from system_calls import errno_of

pytestmark = needs_root


def indexes_of(pid):
    """The indexes of stores that a process has open."""
    names = {os.path.basename(target) for target in open_files(pid).values()}
    return {name for name in names if name.startswith("index-")}


def reads(point):
    return Prediction(None, point).counters()["reads"]


def test_names_and_bytes(room, mounts, point, ctl, grown):
    """L17: from the return of the command on, every look-up and listing is that of the new generation."""
    pid = mounts.mount(grown.path, point, f"log={room}/log")
    (holder,) = holders(point)
    assert indexes_of(holder) == {"index-00000001"}
    grown.check(point)
    for missing in ("new", "f0/new", "g", "g/h"):  # the kernel remembers it
        assert errno_of(os.stat, point / missing) == errno.ENOENT
    inodes = {path: (point / path).stat().st_ino for path in grown.files}
    changed = {path: bytes_of(path, 1, 30_000) for path in ("f0/000", "f1/001", "f1/118")}
    grown.add({**changed, "f0/new": b"new", "g/h/deep": b"deep", "000": b"first of all"})
    told = reload(ctl, point)
    assert (told["from_generation"], told["generation"], told["unchanged"]) == (1, 2, False)
    assert told["from_process"] == pid
    wait_until(lambda: daemons(mounts.program, point) == [told["process"]], "the one before is gone")
    assert (point / "f0" / "new").read_bytes() == b"new"
    assert sorted(os.listdir(point)) == ["000", "f0", "f1", "f2", "g"]
    grown.check(point)
    now = {path: (point / path).stat().st_ino for path in inodes}
    assert {path for path in inodes if now[path] != inodes[path]} == set(changed)
    assert len(set(now.values()) | set(inodes.values())) == len(inodes) + len(changed)
    wait_until(lambda: "from now on generation 2 is shown" in log_of(room), "the log says so")
    # The holder keeps it from 'augurpack gc' while a daemon is missing.
    wait_until(lambda: indexes_of(holder) == {"index-00000002"}, lambda: indexes_of(holder))
    # And back again: what was added is gone.
    told = reload(ctl, point, "-o", "generation=1")
    assert told["generation"] == 1
    assert errno_of(os.stat, point / "f0" / "new") == errno.ENOENT and errno_of(os.stat, point / "g" / "h") == errno.ENOENT
    assert (point / "f0" / "000").read_bytes() == bytes_of("f0/000", 0)
    # A restart is none: it keeps what is shown.
    restart(ctl, point)
    assert errno_of(os.stat, point / "f0" / "new") == errno.ENOENT
    assert reload(ctl, point)["generation"] == 2
    grown.check(point)


@pytest.mark.parametrize("command", ["restart", "reload"])
def test_interrupted(room, mounts, point, ctl, grown, command):
    """L12: Ctrl-C while the command waits for the next daemon ends the command alone. The mount is served all the time."""
    begun, gate, log = room / "begun", room / "gate", room / "log"
    gate.touch()
    program = script(room / "slow", f'touch {begun}; until [ -e {gate} ]; do sleep 0.01; done; word=$1; shift; exec {mounts.program} "$word" "$@"')
    pid = mounts.mount(grown.path, point, f"log={log}")
    restart(ctl, point, "--binary", program)  # each later daemon is started by it
    assert_served_again(log, 1)
    if command == "reload":
        old = dict(grown.files)
        grown.add({"f0/000": bytes_of("f0/000", 1), "f1/new": b"new"})
    begun.unlink()
    gate.unlink()
    process = subprocess.Popen([ctl, command, point], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(begun.exists, "the next daemon is begun")
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=60)
        assert (process.returncode, said) == (2, "") and complaint.count("\n") == 1, complaint
        assert complaint.startswith(f"augurctl: stopped by SIGINT: the daemon of {point} goes on with what it was asked for; 'augurctl status' says"), complaint
        new, grown.files = grown.files, old if command == "reload" else grown.files
        grown.check(point)
        done = run([ctl, command, point])
        assert done.returncode == 2 and "is under way: wait for it" in done.stderr, done
    finally:
        gate.touch()
        process.kill()
        process.communicate()
    assert_served_again(log, 2)
    grown.files = new
    wait_until(lambda: len(daemons(mounts.program, point)) == 1, "the one before is gone")
    assert daemons(mounts.program, point) != [pid]
    if command == "reload":
        # The names of a reload change one after the other, until a command that waits would return.
        wait_until(lambda: (point / "f1" / "new").exists() and (point / "f0" / "000").read_bytes() == new["f0/000"], "the new generation")
    grown.check(point)
    told = restart(ctl, point)
    wait_until(lambda: daemons(mounts.program, point) == [told["process"]], "the one before is gone")
    grown.check(point)


@pytest.mark.parametrize("how", ["append", "create"])
def test_what_is_the_same_stays_in_the_page_cache(room, mounts, point, ctl, grown, how):
    """L17: no READ of it, also where the store was packed anew. Now and then the kernel takes a page by itself (kdamond, which reclaims
    what is cold, was seen at it), so this has five attempts. What a reload drops, each of them drops."""
    mounts.mount(grown.path, point, "push=off", f"log={room}/log")
    made = []
    for attempt in range(1, 6):
        grown.check(point)
        fresh = {"f1/001": bytes_of("f1/001", attempt), f"f0/new{attempt}": b"zero"}
        if how == "append":
            grown.add(fresh)
        else:
            files = {**grown.files, **fresh}
            del files[f"f2/{2 + 3 * attempt:03}"]
            grown.add(files, "create", "--force")
        reload(ctl, point)
        before = reads(point)
        grown.check(point)
        made.append(reads(point) - before)
        if made[-1] == len(fresh):
            return
    pytest.fail(f"READs after each reload: {made}, and two files were new")


def test_other_times_and_modes(room, mounts, point, ctl, grown):
    """L17: of a file whose bytes are the same; open descriptors see them, too, and its pages stay."""
    mounts.mount(grown.path, point, "push=off", f"log={room}/log")
    path, times = "f1/001", itertools.count(1_500_000_000)

    def change():
        time = next(times)
        with open(point / path, "rb") as file:
            data = file.read()
            source = room / "again"
            (source / "f1").mkdir(parents=True, exist_ok=True)
            (source / path).write_bytes(data)
            (source / path).chmod(0o600)
            os.utime(source / path, (time, time))
            done = run([grown.augurpack, "append", "--quiet", "--replace", source, grown.path])
            assert done.returncode == 0, done.stderr
            inode = os.fstat(file.fileno()).st_ino
            reload(ctl, point)
            before = reads(point)
            now = (point / path).stat()
            assert (now.st_mtime, now.st_mode & 0o777, now.st_ino) == (time, 0o600, inode)
            assert os.fstat(file.fileno()).st_mtime == time
            assert (point / path).read_bytes() == data
            assert reads(point) == before

    unless_caches_are_dropped(change)


def test_links(room, mounts, point, ctl, augurpack):
    """L17, T8: each name of a file with several is one of its own."""
    tree = room / "tree"
    tree.mkdir()
    (tree / "a").write_bytes(b"first")
    os.link(tree / "a", tree / "b")
    (tree / "link").symlink_to("a")
    assert run([augurpack, "create", "--quiet", tree, room / "store"]).returncode == 0
    mounts.mount(room / "store", point, f"log={room}/log")
    assert [(point / name).read_bytes() for name in ("a", "b", "link")] == [b"first"] * 3
    opened = os.open(point / "b", os.O_RDONLY)
    try:
        for name in ("a", "link"):
            (tree / name).unlink()
        (tree / "a").write_bytes(b"second!")
        (tree / "link").symlink_to("b")
        assert run([augurpack, "append", "--quiet", "--replace", tree, room / "store"]).returncode == 0
        reload(ctl, point)
        drop_caches()
        assert [(point / name).read_bytes() for name in ("a", "b", "link")] == [b"second!", b"first", b"first"]
        assert os.readlink(point / "link") == "b"
        assert os.pread(opened, 10, 0) == b"first"
    finally:
        os.close(opened)


def test_an_order_is_followed_in_the_new_generation(room, mounts, point, ctl, grown):
    """L17: what is read ahead and pushed goes to the right nodes."""
    mounts.mount(grown.path, point, "memory=64M", f"log={room}/log")
    grown.check(point)
    grown.add({"000": b"first", **{path: bytes_of(path, 1) for path in grown.files if changes(path)}})
    reload(ctl, point)
    drop_caches()
    order = [path for path in grown.files if path != "000"]
    random.Random(3).shuffle(order)
    (room / "order").write_text("".join(f"{path}\n" for path in order), encoding="ascii")
    ahead = Prediction(ctl, point)
    before = ahead.counters()
    assert run([ctl, "hint", point, "--order", room / "order"]).returncode == 0
    wait_until(lambda: ahead.counters()["pushes"] > before["pushes"], lambda: f"files are pushed: {ahead.status()}")
    for path in order:
        assert (point / path).read_bytes() == grown.files[path], path


def test_nothing_to_do(room, mounts, point, ctl, grown):
    """L18: exit status 0, and the same daemon."""
    pid = mounts.mount(grown.path, point, f"log={room}/log")
    done = run([ctl, "reload", point])
    assert (done.returncode, done.stdout, done.stderr) == (0, "generation 1 is shown already: nothing to do\n", "")
    assert mounts.pid(point) == pid
    # With an option it is a restart.
    told = reload(ctl, point, "-o", "memory=96M")
    assert (told["from_process"], told["generation"], told["unchanged"]) == (pid, 1, False)
    assert Prediction(ctl, point).gauges()["memory_bytes_max"] == 96 << 20


def test_an_ordinary_user(room, mounts, point, ctl, grown, users_may_mount):
    """L17, K2"""
    os.chown(point, NOBODY, NOBODY)
    (room / "own").mkdir()
    os.chown(room / "own", NOBODY, NOBODY)
    mounts.mount(grown.path, point, f"log={room}/own/log", prefix=as_user())
    path = "f0/000"
    reader = subprocess.Popen([*as_user(), "sh", "-c", f"exec 3< {point}/{path}; echo; read go; cat <&3"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert reader.stdout.readline() == b"\n"
        old = grown.files[path]
        grown.add({path: bytes_of(path, 1), "new": b"new"})
        done = run([*as_user(1234), ctl, "reload", point])
        assert done.returncode == 2 and "run augurctl as the user who mounted" in done.stderr, done
        assert reload(ctl, point, prefix=as_user())["generation"] == 2
        drop_caches()
        assert run([*as_user(), "cat", point / "new"]).stdout == "new"
        assert subprocess.run([*as_user(), "cat", point / path], stdout=subprocess.PIPE).stdout == bytes_of(path, 1)
        assert reader.communicate(b"go\n", timeout=PATIENCE_S)[0] == old
    finally:
        reader.kill()
        reader.communicate()
