# SPDX-License-Identifier: Apache-2.0
"""A kernel before Linux 6.9, which cannot hand out a dead daemon's requests again: SEMANTICS.md, L9 and L12. Not such a kernel, but
its FUSE_INIT (tests/tools/old_kernel.cc)."""

import os
import signal

import pytest

from kernel_caches import drop_caches
from mounts import holders, is_running
from patience import wait_until
from prefetching import log_of
from program_runs import run
from skips import needs_root
from stores import HELLO, read_hello
from system_calls import errno_of
from test_kill import KILLED

pytestmark = [needs_root, pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="a sanitizer wants to be loaded first")]


@pytest.fixture
def mount_on_old_kernel(mounts, room, point, small_store, old_kernel):
    def mount(*options):
        environment = dict(os.environ, LD_PRELOAD=old_kernel)
        return mounts.mount(small_store, point, *options, env=environment)

    return mount


def test_the_mount_ends_with_its_daemon(room, point, mount_on_old_kernel):
    """L9: said once when it is mounted; readers get an error at once."""
    pid = mount_on_old_kernel(f"log={room}/log")
    assert read_hello(point) == HELLO
    assert log_of(room).count("when the daemon dies the mount ends with it: only Linux 6.9 and later") == 1
    (holder,) = holders(point)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid) and not is_running(holder), "daemon and holder end")
    drop_caches()
    assert errno_of(os.statvfs, point) in KILLED


def test_no_upgrade(room, point, ctl, mount_on_old_kernel):
    """L12: refused with the cause and the cure, and the daemon goes on."""
    pid = mount_on_old_kernel(f"log={room}/log")
    done = run([ctl, "restart", point])
    assert done.returncode == 2 and "only Linux 6.9 and later" in done.stderr and "unmount, and mount again" in done.stderr, done
    assert is_running(pid) and read_hello(point) == HELLO


def test_it_ends_as_any_other(room, point, mount_on_old_kernel):
    """L2"""
    pid = mount_on_old_kernel(f"log={room}/log")
    (holder,) = holders(point)
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not is_running(pid) and not is_running(holder), "daemon and holder end")
