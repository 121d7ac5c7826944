# SPDX-License-Identifier: Apache-2.0
"""Where a daemon logs: SEMANTICS.md, L7."""

import json
import os
import pathlib
import stat

import pytest
from mounts import augurfs_words
from program_runs import run
from skips import needs_root
from stores import HELLO
from test_damage import damage

pytestmark = needs_root
without_syslog = pytest.mark.skipif(os.path.exists("/dev/log"), reason="this machine has a system log")

LOG_MAX = 8 << 20  # kRuntimeLogBytesMax


@pytest.fixture
def start(room, mounts, point):
    """augurfs with all that it says."""
    def words(store, *options):
        mounts.points.append(point)
        return run(augurfs_words(mounts.program, store, point, options))
    return words


def log_path(folder, point):
    return pathlib.Path(folder) / (str(point).strip("/").replace("/", "-") + ".log")


@without_syslog
def test_without_a_system_log(start, room, point, own_store, ctl):
    """L7: a file of its own, which the mount and the status name; what fails is named there."""
    damage(own_store, bytes(range(256)) * 500, 100)
    path = log_path("/run/augurfs", point)
    done = start(own_store)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"augurfs: warning: there is no system log here: errors are logged in {path}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with pytest.raises(OSError):
        (point / "folder" / "image.JPEG").read_bytes()
    errors = [line for line in path.read_text(encoding="utf-8").splitlines() if "error:" in line]
    assert errors and "image.JPEG" in errors[0] and str(own_store) in errors[0], errors
    assert f"log        {path}" in run([ctl, "status", point]).stdout.splitlines()
    assert json.loads(run([ctl, "status", "--json", point]).stdout)["mount"]["log"] == str(path)


@without_syslog
def test_the_log_follows_no_link(start, room, point, small_store, ctl):
    """L7: what lies in its place is not written to, and a large one is moved aside."""
    path = log_path("/run/augurfs", point)
    other = log_path(f"/tmp/augurfs-{os.geteuid()}", point)
    victim = room / "victim"
    victim.write_text("mine", encoding="ascii")
    path.parent.mkdir(mode=0o700, exist_ok=True)
    other.parent.mkdir(mode=0o700, exist_ok=True)
    path.symlink_to(victim)
    with open(other, "wb") as file:
        file.truncate(LOG_MAX + 1)
    done = start(small_store)
    assert done.returncode == 0 and f"logged in {other}\n" in done.stderr
    assert victim.read_text(encoding="ascii") == "mine"
    assert (point / "hello.txt").read_text(encoding="ascii") == HELLO
    assert pathlib.Path(f"{other}.old").stat().st_size == LOG_MAX + 1
    assert "mounted" in other.read_text(encoding="utf-8")


@without_syslog
def test_nowhere_to_log(start, room, point, small_store, ctl):
    """L7: that is said as well; the mount works."""
    taken = [log_path("/run/augurfs", point), log_path(f"/tmp/augurfs-{os.geteuid()}", point)]
    for path in taken:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.mkdir()
    try:
        done = start(small_store)
        assert done.returncode == 0 and "errors are logged nowhere; mount with -o log=FILE" in done.stderr
        assert (point / "hello.txt").read_text(encoding="ascii") == HELLO
        assert "log        nowhere: there is no system log" in run([ctl, "status", point]).stdout
    finally:
        for path in taken:
            path.rmdir()


def test_with_a_log_of_the_users_choice(room, mounts, point, small_store, ctl):
    """L7"""
    mounts.mount(small_store, point, f"log={room / 'log'}")
    assert f"log        {room / 'log'}" in run([ctl, "status", point]).stdout.splitlines()
    assert not log_path("/run/augurfs", point).exists()
