# SPDX-License-Identifier: Apache-2.0
"""Conditions without which a test of the mount is skipped, and why."""

import os

import pytest
from program_runs import run
from transports import TRANSPORT

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def not_over_uring(reason):
    """A test that cannot hold over io_uring, and why."""
    return pytest.mark.skipif(TRANSPORT == "uring", reason=f"over io_uring {reason}")


def not_under(sanitizer, reason):
    """A test that cannot hold under "asan" or "tsan": what of the sanitizer's own keeps it from that."""
    return pytest.mark.skipif(os.environ.get("AUGUR_SANITIZER") == sanitizer, reason=f"the sanitizer's {reason}")


no_error_at_a_crash = not_over_uring("a crash may cost a reader ECANCELED (SEMANTICS.md, L16)")
measures_memory = pytest.mark.skipif("AUGUR_SANITIZER" in os.environ,
                                     reason="a sanitizer's own memory cannot be told from the daemon's")
dumps_core = not_under("asan", "handler of signals writes no core")
# The command that waits for its child reads a pipe, and passes signals on. The sanitizer puts its handler off until read(2) ends.
passes_signals_on = not_under("tsan", "handler of signals runs only after the call that they interrupt")
forks_a_namespace = not_under("tsan", "own thread keeps a process from a user namespace (unshare(2), EINVAL)")
looks_at_all_threads = not_under("tsan", "own thread is older than what the daemon gives up")


def skip_without_overlay(folder):
    """Skips the test where this system lays no overlay on the file system of the folder."""
    trial = folder / "trial"
    for name in ("a", "b", "c", "over"):
        (trial / name).mkdir(parents=True)
    layers = f"lowerdir={trial}/a,upperdir={trial}/b,workdir={trial}/c"
    done = run(["mount", "-t", "overlay", "none", "-o", layers, trial / "over"])
    if done.returncode != 0:
        pytest.skip(f"this system has no overlay, not even of plain folders: {done.stderr}")
    assert run(["umount", trial / "over"]).returncode == 0
