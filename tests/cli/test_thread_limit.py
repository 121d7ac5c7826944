# SPDX-License-Identifier: Apache-2.0
"""augurpack extract where the system refuses threads: with fewer, or an error that says why."""

import os

import pytest
from pack_support import run, write

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become a user with a limit")

UID = 61357  # of no process


def limited(processes):
    return ["prlimit", f"--nproc={processes}:{processes}", "setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--"]


@pytest.fixture
def place(augurpack, tmp_path):
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    for number in range(20):
        write(tmp_path / "top" / f"{number}", b"%d" % number)
    run(augurpack, "create", "--quiet", tmp_path / "top", tmp_path / "store")
    (tmp_path / "out").mkdir()
    os.chown(tmp_path / "out", UID, UID)
    return tmp_path


@pytest.mark.skipif(os.environ.get("AUGUR_SANITIZER") == "asan", reason="the look for leaks at the end takes a thread")
def test_without_one_thread_it_says_why(augurpack, place):
    done = run(*limited(1), augurpack, "extract", "--threads=8", place / "store", place / "out", ok=(2,))
    assert "cannot start a thread" in done.error and "ulimit -u" in done.error and done.error.count("\n") == 1, done.error
    assert os.listdir(place / "out") == []


def test_with_fewer_it_writes_all(augurpack, place):
    run(*limited(3), augurpack, "extract", "--threads=8", place / "store", place / "out")
    assert {path.name: path.read_bytes() for path in (place / "out").iterdir()} == {f"{number}": b"%d" % number for number in range(20)}
