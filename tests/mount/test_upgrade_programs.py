# SPDX-License-Identifier: Apache-2.0
"""Which program a mount is handed over to, and what becomes of the mount when that one cannot serve: SEMANTICS.md, L12 and L13."""

import contextlib
import os
import re
import shutil
import signal

from kernel_caches import drop_caches
from mounts import daemons, holders
from patience import wait_until
from prefetching import Prediction, log_of
from program_runs import NOBODY, run
from restart_fixtures import assert_goes_on, assert_served_again, restart, script, shared_state
from skips import needs_root, not_under
from stores import HELLO, read_hello

pytestmark = needs_root

LEAST_DESCRIPTORS, MOST_DESCRIPTORS = 12, 120


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


@not_under("tsan", "start writes a file")
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


@not_under("asan", "look at memory takes descriptors")
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
