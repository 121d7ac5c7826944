# SPDX-License-Identifier: Apache-2.0
"""packaging/slurm: the prolog and the epilog, called as slurmd calls them: as root, with the job's number, before and after each job."""

import os
import pathlib
import signal

import pytest

from mounts import daemons
from patience import wait_until
from processes import lone_daemon
from program_runs import as_user, run
from skips import needs_root
from stores import HELLO, read_hello

pytestmark = needs_root

SLURM = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "slurm"


class Node:
    """A machine of the cluster with a list of stores."""

    def __init__(self, room, mounts, lines):
        self.list = room / "slurm"
        self.list.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        programs = os.path.dirname(mounts.program)
        self.environment = {"PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin", "AUGURFS_LIST": str(self.list),
                            "AUGURFS_STATE": str(room / "state")}

    def call(self, script, job):
        return run([SLURM / f"augurfs-{script}.sh"], env={**self.environment, "SLURM_JOB_ID": str(job)})

    def must(self, script, job):
        done = self.call(script, job)
        assert (done.returncode, done.stdout) == (0, ""), done


@pytest.fixture
def node(room, mounts, point, small_store):
    mounts.points.append(point)
    return Node(room, mounts, ["# what jobs read", "", f"{small_store} {point} allow_other,log={room}/log"])


def test_one_mount_for_the_jobs_of_a_node(node, mounts, point):
    """It is there from the first job to the end of the last one, and the users of jobs can read it."""
    node.must("prolog", 1)
    pid = lone_daemon(mounts.program, point)
    node.must("prolog", 2)
    assert daemons(mounts.program, point) == [pid]
    assert run([*as_user(), "cat", point / "hello.txt"]).stdout == HELLO
    node.must("epilog", 1)
    assert read_hello(point) == HELLO
    node.must("epilog", 2)
    assert not os.path.ismount(point)
    wait_until(lambda: daemons(mounts.program, point) == [], "the daemon ends")
    node.must("epilog", 2)  # slurmd may call it again
    node.must("prolog", 3)
    assert read_hello(point) == HELLO
    node.must("epilog", 3)


def test_a_job_that_is_killed_in_the_mount(node, mounts, point):
    """What it has left has the mount as its folder."""
    node.must("prolog", 7)
    left = os.fork()
    if left == 0:
        os.chdir(point)
        signal.pause()
        os._exit(0)
    try:
        wait_until(lambda: os.readlink(f"/proc/{left}/cwd") == str(point), "it is there")
        node.must("epilog", 7)
        assert not os.path.ismount(point)
    finally:
        os.kill(left, signal.SIGKILL)
        os.waitpid(left, 0)
    wait_until(lambda: daemons(mounts.program, point) == [], "the daemon ends")


def test_a_mount_without_a_daemon_is_made_anew(node, mounts, point):
    node.list.write_text(node.list.read_text(encoding="utf-8").replace("allow_other", "allow_other,restart=no"), encoding="utf-8")
    node.must("prolog", 1)
    pid = lone_daemon(mounts.program, point)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: daemons(mounts.program, point) == [], "the daemon is gone")
    node.must("prolog", 2)
    assert read_hello(point) == HELLO
    for job in (1, 2):
        node.must("epilog", job)
    assert not os.path.ismount(point)


def test_a_store_that_is_not_there(room, mounts, point):
    """The prolog fails with augurfs's words, and slurmd drains the node."""
    done = Node(room, mounts, [f"{room}/none {point}"]).call("prolog", 1)
    assert done.returncode == 2 and f"{room}/none" in done.stderr and not os.path.ismount(point), done
