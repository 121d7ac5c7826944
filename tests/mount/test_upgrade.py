# SPDX-License-Identifier: Apache-2.0
"""Another daemon takes a mount over from one that serves it (augurctl restart): SEMANTICS.md, L12 and L13."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest

from daemon_deaths import kill_all
from kernel_caches import drop_caches
from mounts import daemons, holders, is_running, mount_rows
from patience import PATIENCE_S, wait_until
from prefetching import Prediction, log_of
from program_runs import NOBODY, as_user, run
from restart_fixtures import (
    assert_goes_on,
    assert_open_stays_usable,
    assert_served_again,
    mount_handed_down,
    restart,
    script,
    shared_state,
)
from skips import needs_root, no_error_at_a_crash
from stores import HELLO, read_hello
from test_privileges import CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID, assert_holds, threads_status

pytestmark = needs_root

UPGRADES = 10
READERS = 3
ASKERS = 3
LEAST_DESCRIPTORS, MOST_DESCRIPTORS = 12, 120


class Reader(threading.Thread):
    """Reads a data set in a shuffled order, pass after pass, and compares all bytes, until it is told to stop."""

    def __init__(self, data, point, seed):
        super().__init__(daemon=True)
        self.data, self.point, self.chance = data, point, random.Random(seed)
        self.stop = threading.Event()
        self.files, self.longest_s, self.failures = 0, 0.0, []

    def run(self):
        while not self.stop.is_set():
            paths = self.data.paths
            self.chance.shuffle(paths)
            for path in paths:
                if self.stop.is_set():
                    return
                begun = time.monotonic()
                try:
                    self.data.check(self.point, path)
                except (OSError, AssertionError) as failure:
                    self.failures.append(f"{path}: {failure}")
                self.longest_s = max(self.longest_s, time.monotonic() - begun)
                self.files += 1


def test_readers_see_nothing_of_it(room, mounts, point, ctl, data):
    """L12, R1: no error and no wrong byte; statistics go on, and the order of the versions is told."""
    first = mounts.mount(data.store, point, "memory=64M", f"log={room}/log")
    readers = [Reader(data, point, seed) for seed in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        before, gaps = first, []
        for _ in range(UPGRADES):
            files = sum(reader.files for reader in readers)
            drop_caches()
            told = restart(ctl, point)
            assert told["from_process"] == before and told["version"] == told["from_version"]
            before = told["process"]
            gaps.append(told["gap_us"] // 1000)
            wait_until(lambda files=files: sum(reader.files for reader in readers) > files, "the readers go on")
    finally:
        for reader in readers:
            reader.stop.set()
        for reader in readers:
            reader.join()
    print(f"gaps {gaps} ms; longest read of a file {max(reader.longest_s for reader in readers) * 1000:.0f} ms; "
          f"{sum(reader.files for reader in readers)} files")
    assert [reader.failures for reader in readers] == [[]] * READERS
    wait_until(lambda: daemons(mounts.program, point) == [before], "those before are gone")
    now = Prediction(ctl, point).status()
    # read_failures may count augurctl's own reads of .augur, which ends with its daemon (L8).
    counters = ("restarts", "corrupt_blocks", "disk_errors", "index_errors")
    assert {name: now["counters"][name] for name in counters} == dict.fromkeys(counters, 0), log_of(room)
    assert now["counters"]["reads"] >= len(data.paths)  # those of all daemons
    assert f"handed over to process {before}" in run([ctl, "status", point]).stdout


def test_what_is_open_stays_usable(room, mounts, point, ctl, view_images, view_images_store):
    """L12"""
    mounts.mount(view_images_store, point, f"log={room}/log")
    assert_open_stays_usable(point, view_images, lambda: restart(ctl, point))


def test_other_options(room, mounts, point, ctl, small_store):
    """L12: they hold from then on, also for the daemon that follows one that dies."""
    mounts.mount(small_store, point, "memory=64M,umask=022", f"log={room}/log")
    restart(ctl, point, "-o", "memory=96M", "-o", f"cache-size=8M,log={room}/other log")
    ahead = Prediction(ctl, point)
    assert ahead.gauges()["memory_bytes_max"] == 96 << 20
    # As mount(8) writes a comma in a value.
    told = restart(ctl, point, "-o", f"predict=off,log={room}/a\\,b")
    assert ahead.gauges()["memory_bytes_max"] == 96 << 20
    assert ahead.status()["mount"]["prefetch"] == "off"
    log = room / "a,b"
    assert_served_again(log, 1)
    assert "hands the mount over" in (room / "other log").read_text(encoding="utf-8")
    os.kill(told["process"], signal.SIGKILL)
    assert_served_again(log, 2)
    drop_caches()
    assert read_hello(point) == HELLO
    assert ahead.gauges()["memory_bytes_max"] == 96 << 20
    assert (point / "hello.txt").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("option, words", [
    ("uid=3", ["-o uid: cannot change", "memory, cache-size, predict and log can"]),
    ("memry=3G", ["-o memry: cannot change"]),
    ("ro", ["-o ro: cannot change"]),
    ("memory=much", ["-o memory", "'much'"]),
    ("memory=1M", ["-o memory", "too small"]),
    ("predict=perhaps", ["-o predict", "'perhaps'"]),
    ("log=/not/there/log", ["/not/there"]),
])
def test_refused_options(room, mounts, point, ctl, small_store, option, words):
    """L12: named, and nothing happens."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    assert_goes_on(mounts, ctl, pid, point, ["-o", option], *words)
    assert read_hello(point) == HELLO


def test_programs_that_cannot_serve(room, mounts, point, ctl, small_store):
    """L13: the command says why, and the daemon that serves goes on, with its log and its socket."""
    pid = mounts.mount(small_store, point, f"log={room}/log")

    def refused(program, *words):
        assert_goes_on(mounts, ctl, pid, point, ["--binary", program], *words, f"process {pid} of version")
        drop_caches()
        assert read_hello(point) == HELLO

    refused(room / "missing", f"{room}/missing: No such file or directory")
    refused(room, f"{room}: is no file")
    text = room / "text"
    text.write_text("no program\n", encoding="ascii")
    refused(text, "chmod +x")
    text.chmod(0o755)
    refused(text, "no program for this machine")
    refused("/bin/false", "has ended with status 1")
    refused("/bin/true", "has ended with status 0")
    refused(script(room / "three", "echo this is why >&2; exit 3"), "has ended with status 3: this is why")
    refused(script(room / "crash", "kill -SEGV $$"), "was killed by signal 11 (SEGV)")
    # Another version, that does not know an option of the mount.
    refused(script(room / "other", f'word=$1; shift; exec {mounts.program} "$word" -o no-such "$@"'), "-o no-such: no such mount option")


def test_counters_of_another_version(room, mounts, point, ctl, data):
    """L12: one that the old version does not have begins at zero, and one that the new version does not have is no obstacle."""
    mounts.mount(data.store, point, "predict=off", f"log={room}/log")
    for path in data.paths:
        data.check(point, path)
    ahead = Prediction(ctl, point)
    before = ahead.counters()
    assert before["misses"] > 0
    # As if the old version had another counter in the place of this one.
    with open(shared_state(point), "r+b") as file:
        place = file.read().index(b"\0misses\0") + 1
        file.seek(place)
        file.write(b"of_another_version")
    restart(ctl, point)
    now = ahead.counters()
    assert now["misses"] == 0 and now["reads"] >= before["reads"]
    drop_caches()
    for path in data.paths[:10]:
        data.check(point, path)
    restart(ctl, point)
    assert 0 < ahead.counters()["misses"] < before["misses"]


def test_another_layout(room, mounts, point, ctl, small_store):
    """L13: a program that keeps the state of a mount in another way refuses it. Here the state says so, and not the program."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    with open(shared_state(point), "r+b") as file:
        file.seek(8)
        layout = file.read(4)
        file.seek(8)
        file.write((999_999).to_bytes(4, "little"))
        file.flush()
        assert_goes_on(mounts, ctl, pid, point, [], "layout 999999-", "has ended with status 2")
        file.seek(8)
        file.write(layout)
    restart(ctl, point)


def test_others_may_write_the_program(room, mounts, point, ctl, small_store):
    """L13: what another user could replace is not run by root."""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    folder = room / "programs"
    folder.mkdir()
    program = folder / "augurfs"
    shutil.copy(mounts.program, program)
    os.chown(program, NOBODY, NOBODY)
    assert_goes_on(mounts, ctl, pid, point, ["--binary", program], f"{program}: belongs to user {NOBODY}")
    os.chown(program, 0, 0)
    program.chmod(0o775)
    assert_goes_on(mounts, ctl, pid, point, ["--binary", program], f"{program}: other users may write to it")
    program.chmod(0o755)
    folder.chmod(0o777)
    assert_goes_on(mounts, ctl, pid, point, ["--binary", program], f"{folder}: other users may write to it")
    os.chown(folder, NOBODY, NOBODY)
    folder.chmod(0o755)
    assert_goes_on(mounts, ctl, pid, point, ["--binary", program], f"{folder}: belongs to user {NOBODY}")
    os.chown(folder, 0, 0)
    link = room / "link"
    link.symlink_to(program)
    assert restart(ctl, point, "--binary", link)["from_process"] == pid


def test_the_retained_cache_is_found_again(room, mounts, point, ctl, own_data, shared_memory):
    """L12: records in shared memory are there for the next daemon."""
    mounts.mount(own_data.store, point, "cache=shm", "memory=256M", f"log={room}/log")
    done = run([ctl, "warm", point])
    assert done.returncode == 0, done.stderr
    kept = Prediction(ctl, point).gauges()["retained_cache_bytes"]
    told = restart(ctl, point)
    wait_until(lambda: daemons(mounts.program, point) == [told["process"]], "the one before is gone")
    assert Prediction(ctl, point).gauges()["retained_cache_bytes"] == kept > 0
    drop_caches()
    for path in own_data.paths:
        own_data.check(point, path)


def test_the_new_program_is_started_again(room, mounts, point, ctl, small_store):
    """L13: when its daemon dies, also when its file is gone by then; and it is what the next upgrade starts."""
    mounts.mount(small_store, point, f"log={room}/log")
    program = room / "new" / "augurfs"
    program.parent.mkdir()
    shutil.copy(mounts.program, program)

    def runs():
        found = []
        for pid in daemons(mounts.program, point):
            with contextlib.suppress(FileNotFoundError):  # it has just ended
                found.append(os.readlink(f"/proc/{pid}/exe"))
        return found

    restart(ctl, point, "--binary", program)
    wait_until(lambda: runs() == [str(program)], runs)
    pid = restart(ctl, point)["process"]
    wait_until(lambda: runs() == [str(program)], runs)
    assert_served_again(room / "log", 2)
    program.unlink()
    os.kill(pid, signal.SIGKILL)
    assert_served_again(room / "log", 3)
    wait_until(lambda: runs() == [f"{program} (deleted)"], runs)
    drop_caches()
    assert read_hello(point) == HELLO
    assert Prediction(ctl, point).counters()["restarts"] == 1
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not daemons(mounts.program, point) and not holders(point), "daemon and holder end")


def test_a_program_that_dies_at_its_turn(room, mounts, point, ctl, small_store):
    """L13: the program before goes on, when the new one was prepared and never served."""
    mounts.mount(small_store, point, f"log={room}/log")
    # It may write to no file, and so dies of its first line in the log: when it is its turn.
    program = script(room / "wrapper", f'ulimit -f 0\nexec {mounts.program} "$@"')
    done = run([ctl, "restart", point, "--binary", program])
    assert done.returncode == 2 and "the new daemon has ended before it served, and process" in done.stderr, done
    drop_caches()
    assert read_hello(point) == HELLO
    # Between the two, the place of a core is told where the daemon has not yet ended.
    assert re.search(r"was killed by signal 25 \(XFSZ\);.* going on in its place", log_of(room)), log_of(room)
    restart(ctl, point)


def short_of_descriptors(room, program):
    """A program that has only as many descriptors as the file `few` says, at its next start."""
    return script(room / "short", f'''if [ -e "{room}/few" ]; then
  count=$(cat "{room}/few")
  rm "{room}/few"
  ulimit -n "$count"
fi
exec "{program}" "$@"''')


def test_a_program_that_runs_short_wherever_it_may(room, mounts, point, ctl, small_store):
    """L12, L13: with more and more descriptors, until it has its log at its turn and cannot begin to serve. Then another daemon goes
    on, the mount stays, and no upgrade is told."""
    mounts.mount(small_store, point, f"log={room}/log")
    program = short_of_descriptors(room, mounts.program)
    for count in range(LEAST_DESCRIPTORS, MOST_DESCRIPTORS):
        (room / "few").write_text(str(count), encoding="ascii")
        done = run([ctl, "restart", point, "--binary", program])
        assert done.returncode == 2, done
        drop_caches()
        assert read_hello(point) == HELLO, (count, done, log_of(room))
        # With a few more it serves, and may have none for augurctl.
        if "error: eventfd: Too many open files" in log_of(room):
            break
    assert "the new daemon has ended before it served, and process" in done.stderr, done
    restart(ctl, point)


@no_error_at_a_crash
def test_killed_while_it_hands_over(room, mounts, point, ctl, data):
    """L12: whichever of the two daemons is killed, and when, readers see no error."""
    mounts.mount(data.store, point, "memory=64M", f"log={room}/log")
    reader = Reader(data, point, 1)
    reader.start()
    chance = random.Random(5)
    try:
        for _ in range(UPGRADES):
            upgrade = subprocess.Popen([ctl, "restart", point], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.08))
            kill_all(daemons(mounts.program, point)[chance.randrange(2):][:1])
            upgrade.wait()
            files = reader.files
            wait_until(lambda files=files: reader.files > files, "the reader goes on")
    finally:
        reader.stop.set()
        reader.join()
    assert reader.failures[:3] == [], log_of(room)
    wait_until(lambda: len(daemons(mounts.program, point)) == 1, "one daemon is left")
    restart(ctl, point)


def test_augurctl_is_answered_all_the_time(room, mounts, point, ctl, small_store):
    """L8, L12: whoever asks while one daemon follows another gets an answer of one of the two."""
    mounts.mount(small_store, point, f"log={room}/log")

    def ask():
        done = run([ctl, "status", "--json", point])
        assert (done.returncode, done.stderr) == (0, ""), done
        return int(json.loads(done.stdout)["mount"]["process"])

    def ask_until(ended):
        while not ended.is_set():
            ask()

    before, ended = ask(), threading.Event()
    with concurrent.futures.ThreadPoolExecutor(ASKERS) as askers:
        asked = [askers.submit(ask_until, ended) for _ in range(ASKERS)]
        try:
            for _ in range(UPGRADES):
                before = restart(ctl, point)["process"]
        finally:
            ended.set()
        for one in asked:
            one.result()
    os.kill(before, signal.SIGKILL)
    assert ask() != before


def test_without_a_holder(room, mounts, point, ctl, small_store):
    """L12: refused with the cause and the cure."""
    pid = mounts.mount(small_store, point, "restart=no")
    assert_goes_on(mounts, ctl, pid, point, [], "-o restart=no", "mount again without that option")


def test_the_holder_was_killed(room, mounts, point, ctl, small_store):
    """L11, L12"""
    pid = mounts.mount(small_store, point, f"log={room}/log")
    (holder,) = holders(point)
    os.kill(holder, signal.SIGKILL)
    wait_until(lambda: "the process augur-holder is gone" in log_of(room), "the daemon has seen it")
    assert_goes_on(mounts, ctl, pid, point, [], "augur-holder", "mount again")


def test_in_the_foreground(room, mounts, point, ctl, small_store):
    """L12: messages still go to stderr, and the command ends with the mount."""
    process = mounts.foreground(small_store, point)
    told = restart(ctl, point)
    assert mount_rows(point)
    assert run(["umount", point]).returncode == 0
    errors = process.communicate(timeout=PATIENCE_S)[1]
    text = errors.decode() if isinstance(errors, bytes) else errors
    assert process.returncode == 0 and f"the mount is served again, by process {told['process']}" in text, text
    assert not is_running(told["process"])


def test_an_ordinary_user(room, mounts, point, ctl, small_store, users_may_mount):
    """L12, K2: by the user who mounted, by root, and by no other; with any program of that user's."""
    os.chown(point, NOBODY, NOBODY)
    (room / "own").mkdir()
    os.chown(room / "own", NOBODY, NOBODY)
    pid = mounts.mount(small_store, point, f"log={room}/own/log", prefix=as_user())
    done = run([*as_user(1234), ctl, "restart", point])
    assert done.returncode == 2 and "run augurctl as the user who mounted" in done.stderr, done
    program = room / "own" / "augurfs"
    shutil.copy(mounts.program, program)
    os.chown(program, NOBODY, NOBODY)
    told = restart(ctl, point, "--binary", program, prefix=as_user())
    assert told["from_process"] == pid
    drop_caches()
    assert run([*as_user(), "cat", point / "hello.txt"]).stdout == HELLO
    pid = told["process"]
    assert threads_status(pid)["CapPrm"] == {"0" * 16} and threads_status(pid)["NoNewPrivs"] == {"1"}
    wait_until(lambda: daemons(mounts.program, point) == [pid], "the one before is gone")
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid) and holders(point) == [], "daemon and holder end")
    assert mount_rows(point) == []


def test_privileges(room, mounts, point, ctl, small_store):
    """L6: those of the first daemon."""
    mounts.mount(small_store, point, f"log={room}/log")
    pid = restart(ctl, point)["process"]
    assert_holds(pid, [CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID])
    assert os.readlink(f"/proc/{pid}/cwd") == "/" and os.getsid(pid) == pid
    assert pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="ascii") == "augurfs\n"


def test_run_as(room, mounts, point, ctl, small_store):
    """L6, L13: the new daemon is that user's, and that user cannot have root run another program."""
    (room / "logs").mkdir()
    os.chown(room / "logs", NOBODY, NOBODY)
    mounts.mount(small_store, point, "allow_other", f"run-as={NOBODY}", f"log={room}/logs/log")
    told = restart(ctl, point, "-o", "memory=96M", prefix=as_user())
    pid = told["process"]
    assert_holds(pid, [])
    assert threads_status(pid)["Uid"] == {"\t".join([str(NOBODY)] * 4)}
    wait_until(lambda: daemons(mounts.program, point) == [pid], "the one before is gone")
    other = room / "augurfs"
    shutil.copy(mounts.program, other)
    assert_goes_on(mounts, ctl, pid, point, ["--binary", other], "serves as another user", mounts.program)
    assert_goes_on(mounts, ctl, pid, point, ["-o", f"log={room}/log"], f"{room}/log")
    assert restart(ctl, point, "--binary", mounts.program)["from_process"] == pid
    drop_caches()
    assert read_hello(point) == HELLO


def test_a_descriptor_that_was_handed_down(room, mounts, point, ctl, small_store):
    """L12, A3"""
    name = mount_handed_down(mounts, room, point, small_store)
    for _ in range(2):
        restart(ctl, point)
        drop_caches()
        assert read_hello(point) == HELLO
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not daemons(mounts.program, name) and not holders(name), "daemon and holder end")


def test_the_hidden_word(mounts, small_store, point):
    """What a user types in place of augur-holder is refused."""
    for word in ("--inherited=3,4,5,-1,next", "--inherited=0,1,2,-1,go-on", "--inherited=x"):
        done = run([mounts.program, word, small_store, point])
        assert done.returncode == 2 and "--inherited: is for the process augur-holder alone" in done.stderr, done
