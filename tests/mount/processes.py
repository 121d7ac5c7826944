# SPDX-License-Identifier: Apache-2.0
"""What /proc says of daemons and other processes."""

import contextlib
import os
import pathlib
import re

from mounts import daemons
from patience import wait_until


def anonymous_bytes(pid):
    """RssAnon and RssShmem of a process: all that it has allocated."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return sum(int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) for name in ("RssAnon", "RssShmem")) << 10


def open_files(pid):
    """{a path below /proc: where it leads} of a process's descriptors, without those that it closes meanwhile."""
    found = {}
    with contextlib.suppress(FileNotFoundError):
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found[link] = os.readlink(link)
    return found


def thread_names(pid):
    """Of the threads that have not ended meanwhile."""
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.append(path.read_text(encoding="ascii").strip())
    return found


def lone_daemon(program, point):
    """The one daemon of a mount point. There are more for a moment: one before it may not have ended, and a process that was just forked
    has its parent's command line still."""
    found = []

    def is_alone():
        found[:] = daemons(program, point)
        return len(found) == 1

    wait_until(is_alone, lambda: f"one daemon: {found}")
    return found[0]


def processes_of_ours():
    """What each process of ours on this machine waits for: for the text of a failure."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and (folder / "comm").read_text(encoding="ascii", errors="replace").startswith("augur"):
                found.append(" ".join((folder / file).read_text(encoding="ascii", errors="replace").strip() for file in ("stat", "wchan")))
    return found
