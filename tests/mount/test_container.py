# SPDX-License-Identifier: Apache-2.0
"""A mount within a container: namespaces of its own for processes, mounts and, rootless, users; no fusermount3; no init. SEMANTICS.md,
L2, L8 and L9."""

import os
import pathlib
import signal
import subprocess

import pytest

from daemon_deaths import crash_until
from kernel_caches import drop_caches
from mounts import daemons, is_running, mount_rows
from patience import PATIENCE_S, wait_until
from prefetching import log_of
from program_runs import run
from restart_fixtures import assert_served_again
from skips import needs_root
from stores import HELLO

pytestmark = needs_root

NAMESPACES = [["--mount", "--pid", "--fork", "--mount-proc", "--kill-child"],
              ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]]


def child_of(pid):
    """The one child of a process; nothing while it has none."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return int(children[0]) if children else None


class Container:
    """Its first process is a shell, or what the shell becomes."""

    def __init__(self, namespaces, script):
        # Without fusermount3, as most images are.
        hide = 'for one in /bin/fusermount3 /usr/bin/fusermount3; do [ ! -e $one ] || mount --bind /dev/null $one; done'
        self.process = subprocess.Popen(["unshare", *namespaces, "sh", "-c", f"{hide}; {script}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.enter = ["--user", "--preserve-credentials"] if "--user" in namespaces else []

    @property
    def first(self):
        return child_of(self.process.pid)

    def run(self, *words):
        return run(["nsenter", f"--target={self.first}", "--mount", "--pid", *self.enter, "--", *words])

    def processes(self, counts=lambda pid: True):
        """Names of all processes in it that count: those that nobody has collected too."""
        namespace = os.readlink(f"/proc/{self.first}/ns/pid")
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and os.readlink(folder / "ns" / "pid") == namespace and counts(folder.name):
                    found.append((folder / "comm").read_text(encoding="ascii").strip())
            except OSError:  # it has ended, or is nobody's business
                continue
        return sorted(found)


@pytest.fixture(params=NAMESPACES, ids=["root", "rootless"])
def container(request, room, mounts):
    if run(["unshare", *request.param, "true"]).returncode != 0:
        pytest.skip("needs namespaces")
    made = []

    def start(script):
        made.append(Container(request.param, script))
        return made[-1]

    yield start
    for one in made:
        one.process.kill()
        one.process.communicate()


def served(one, point):
    """The daemon, once the mount within the container answers, seen from outside."""
    wait_until(lambda: one.first and one.run("cat", point / "hello.txt").stdout == HELLO, "the mount answers")
    found = []

    def is_alone():
        found[:] = [pid for pid in daemons("augurfs", point) if pid not in (one.first, one.process.pid)]
        return len(found) == 1

    wait_until(is_alone, "those before are gone")
    return found[0]


ALL = sorted(["augur-broker", "augur-helper", "augurfs"])


def test_a_child_of_its_first_process(room, mounts, point, small_store, container):
    """As of a shell script that mounts, trains, and unmounts."""
    one = container(f"{mounts.program} {small_store} {point} -o log={room}/log && read line && umount {point} && read line")
    pid = served(one, point)
    os.kill(pid, signal.SIGKILL)
    drop_caches()
    assert one.run("cat", point / "hello.txt").stdout == HELLO
    wait_until(lambda: one.processes() == sorted([*ALL, "augur-holder", "sh"]), one.processes)
    assert mount_rows(point) == []  # here
    one.process.stdin.write("\n")
    one.process.stdin.flush()
    # A shell collects what is left to it when it waits for something else.
    wait_until(lambda: [name for name in one.processes(is_running) if name != "sh"] == [], one.processes)
    assert one.process.communicate("\n", timeout=PATIENCE_S)[1] == "" and one.process.returncode == 0
    assert "unmounted" in log_of(room)


@pytest.fixture
def first_process(room, mounts, point, small_store, container):
    """A container whose first process is augurfs -f: the holder. Its daemon serves, and the holder knows it."""
    one = container(f"exec {mounts.program} -f {small_store} {point} -o log={room}/log")
    served(one, point)
    # Once the daemon does what a signal says, it has told the holder that it serves. One that dies before ends the mount.
    os.kill(one.first, signal.SIGUSR1)
    wait_until(lambda: "read_failures" in log_of(room), lambda: log_of(room))
    return one


def test_the_holder_is_the_first_process(room, point, first_process):
    """It collects its own dead daemons and what others leave, and ends by the signal of `docker stop`."""
    pid = served(first_process, point)
    for deaths in (1, 2):
        os.kill(pid, signal.SIGKILL)
        drop_caches()
        pid = served(first_process, point)
        wait_until(lambda: first_process.processes() == sorted([*ALL, "augur-holder"]), first_process.processes)
        assert_served_again(room / "log", deaths)
    first_process.run("sh", "-c", "sleep 0.1 & sleep 0.1 &")  # orphans
    wait_until(lambda: first_process.processes() == sorted([*ALL, "augur-holder"]), first_process.processes)
    holder = first_process.first
    os.kill(holder, signal.SIGTERM)
    assert first_process.process.wait(PATIENCE_S) == 0
    assert not is_running(pid) and not is_running(holder)
    assert "ending on signal TERM" in log_of(room)


def test_three_deaths_end_the_container(room, point, first_process):
    """A process that is first cannot kill itself by a signal: it ends with a status."""
    others = {first_process.first, first_process.process.pid}
    crash_until(lambda: first_process.process.poll() is not None,
                lambda: set(daemons("augurfs", point)) - others)
    assert first_process.process.wait(PATIENCE_S) == 2
    assert "three daemons have died within ten seconds" in log_of(room), log_of(room)


def test_it_is_killed_as_a_whole(room, point, first_process):
    """docker kill: nothing of it is left."""
    pid = served(first_process, point)
    os.kill(first_process.first, signal.SIGKILL)
    first_process.process.wait(PATIENCE_S)
    wait_until(lambda: not is_running(pid) and daemons("augurfs", point) == [], "the daemon is gone")
