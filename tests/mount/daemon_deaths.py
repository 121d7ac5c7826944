# SPDX-License-Identifier: Apache-2.0
"""The ends of daemons: by an operator, and by crashes."""

import contextlib
import os
import signal

from mounts import holders, is_running
from patience import wait_until
from processes import processes_of_ours
from program_runs import run


def end_mount(pid, point, how):
    """Ends a mount as an operator does ("umount"), or as a crash ("kill")."""
    if how == "umount":
        assert run(["umount", point]).returncode == 0
    else:
        for holder in holders(point):
            os.kill(holder, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    if how == "kill":
        assert run(["umount", "-l", point]).returncode == 0


def kill_all(processes):
    """Those that have not ended by themselves meanwhile."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def crash_until(has_ended, victims):
    """Crashes the daemons that `victims()` names until the holder gives up. Fewer deaths in ten seconds are not too many, so it
    takes more of them on a slow machine."""
    for _ in range(30):
        wait_until(lambda: has_ended() or victims(), lambda: f"the next daemon, or the end: {processes_of_ours()}")
        for pid in victims():
            with contextlib.suppress(ProcessLookupError):  # it was dying already
                os.kill(pid, signal.SIGSEGV)
            wait_until(lambda pid=pid: not is_running(pid), "the daemon is dead")
        if has_ended():
            return
