# SPDX-License-Identifier: Apache-2.0
"""Runs of programs to their end, as root or as an ordinary user."""

import os
import re
import signal
import subprocess

from patience import PATIENCE_S

NOBODY = 65534  # the ordinary user of these tests


def as_user(uid=NOBODY):
    """The words that run a command as an ordinary user."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]


def run(words, **options):
    """A command's outcome: returncode, stdout, stderr as text."""
    return subprocess.run([os.fspath(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="surrogateescape", **{"timeout": PATIENCE_S, **options})


def assert_refused(done, *words):
    """Exit 2, nothing on stdout, and one line on stderr that has these words."""
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.startswith("augurfs: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def without_notice(done):
    """The outcome without the line that says where the log is: only a machine without a system log has it (test_log.py)."""
    done.stderr = re.sub("augurfs: warning: there is no system log here.*\n", "", done.stderr)
    return done


def complaint_of(process, number, left):
    """What a program says on stderr, which this signal ends. If it goes on, it is killed, with the processes that left() names."""
    process.send_signal(number)
    try:
        return process.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        for pid in (process.pid, *left()):
            os.kill(pid, signal.SIGKILL)
        process.communicate()
        raise
