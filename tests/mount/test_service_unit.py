# SPDX-License-Identifier: Apache-2.0
"""packaging/systemd: the unit is one that systemd accepts, and its command does what the unit says of it. systemd itself does not run
here: the tests are what it would be, for the command and the signals."""

import configparser
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess

import pytest

from daemon_deaths import crash_until
from kernel_caches import drop_caches
from mounts import daemons, holders, is_running, mount_rows
from patience import PATIENCE_S, wait_until
from program_runs import NOBODY, run
from skips import needs_root
from stores import HELLO, read_hello
from test_mount_command import in_path  # noqa: F401

pytestmark = needs_root

UNIT = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "systemd" / "augurfs@.service"


def settings():
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read_string(UNIT.read_text(encoding="utf-8"))
    return unit["Service"]


def command(program, **variables):
    """The words of ExecStart with this program, and with a file of these variables."""
    values = dict([settings()["Environment"].split("=", 1)]) | variables
    first, *words = shlex.split(settings()["ExecStart"])
    assert pathlib.Path(first).name == "augurfs"
    for name, value in values.items():
        words = [word.replace(f"${{{name}}}", os.fspath(value)) for word in words]
    assert "$" not in "".join(words)
    return [program, *words]


class Service:
    """What systemd does with the unit: starts its command with a socket that a word is awaited on, and ends its main process."""

    def __init__(self, mounts, store, point, where, **variables):
        mounts.points.append(point)
        self.point = point
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(PATIENCE_S)
        self.socket.bind(where)
        address = f"@{where[1:]}" if where[0] == "\0" else where
        words = command(mounts.program, STORE=store, MOUNTPOINT=point, **variables)
        self.main = subprocess.Popen(words, env=dict(os.environ, NOTIFY_SOCKET=address), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        mounts.processes.append(self.main)

    def word(self):
        return self.socket.recv(4096)

    def stop(self):
        """By a signal to the main process alone. Its exit status."""
        assert settings()["KillMode"] == "mixed"
        self.main.terminate()
        status = self.main.wait(int(settings()["TimeoutStopSec"]))
        self.socket.close()
        return status


@pytest.fixture
def service(room, mounts, point, small_store):
    made = []

    def start(where=None, store=small_store, **variables):
        place = where or f"{room}/notify{len(made)}"
        made.append(Service(mounts, store, point, place, **variables))
        return made[-1]

    yield start
    for one in made:
        one.socket.close()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_it(room, in_path):  # noqa: F811
    """As an instance; but for the manual page, which is not installed here."""
    done = run(["systemd-analyze", "verify", "--man=no", UNIT])
    assert done.returncode == 0 and done.stderr == "", done


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_the_mount_unit():
    """Its name is that of its mount point; test_boot.py mounts by it."""
    done = run(["systemd-analyze", "verify", "--man=no", UNIT.parent / "mnt-train.mount"])
    assert done.returncode == 0 and done.stderr == "", done


@pytest.mark.parametrize("where", [None, f"\0augurfs-test-notify-{os.getpid()}"], ids=["path", "abstract"])
def test_it_is_ready_when_the_mount_answers(service, point, where):
    one = service(where)
    assert one.word() == b"READY=1"
    assert read_hello(point) == HELLO
    assert holders(point) == [one.main.pid]
    assert one.stop() == 0
    assert mount_rows(point) == []
    wait_until(lambda: daemons("augurfs", point) == [], "all processes are gone")


def test_options_of_its_file(service, mounts, room, point):
    one = service(OPTIONS=f"restart=no,umask=077,log={room}/log")
    assert one.word() == b"READY=1"  # by the daemon itself
    assert (point / "hello.txt").stat().st_mode & 0o777 == 0o600 and holders(point) == []
    assert one.stop() == 0


def test_it_serves_as_another_user(service, point):
    """The main process, which is root's, ends it all the same."""
    one = service(f"\0augurfs-test-run-as-{os.getpid()}", OPTIONS=f"allow_other,run-as={NOBODY}")  # who may write there, as to systemd's
    assert one.word() == b"READY=1"
    assert os.stat(point / "hello.txt").st_uid == NOBODY
    assert one.stop() == 0
    assert mount_rows(point) == []
    wait_until(lambda: daemons("augurfs", point) == [], "all processes are gone")


def test_a_daemon_that_dies_is_not_the_services_matter(service, mounts, point):
    """The main process is the holder, and lives on."""
    one = service()
    assert one.word() == b"READY=1"
    os.kill(mounts.pid(point), signal.SIGKILL)
    drop_caches()
    assert read_hello(point) == HELLO
    assert one.main.poll() is None and settings()["OOMPolicy"] == "continue"
    assert one.stop() == 0


def test_it_stays_ended_after_umount(service, point):
    """With status 0, so that Restart=on-failure does nothing."""
    one = service()
    assert one.word() == b"READY=1"
    assert run(["umount", point]).returncode == 0
    assert one.main.wait(PATIENCE_S) == 0 and settings()["Restart"] == "on-failure"


@pytest.mark.parametrize("how", ["killed", "three deaths"])
def test_it_comes_again_when_the_holder_ends(service, mounts, point, how):
    """With a failure, so that systemd kills what is left and starts the command again, which clears the mount point."""
    one = service()
    assert one.word() == b"READY=1"
    pids = [mounts.pid(point)]
    if how == "killed":
        one.main.kill()
    else:
        crash_until(lambda: one.main.poll() is not None, lambda: set(daemons(mounts.program, point)) - {one.main.pid})
    assert one.main.wait(PATIENCE_S) != 0
    wait_until(lambda: not any(map(is_running, pids)), "the daemon has ended")
    again = service()
    assert again.word() == b"READY=1"
    assert read_hello(point) == HELLO
    assert again.stop() == 0


def test_a_store_that_is_not_there(service, room):
    """No word, and a failure."""
    one = service(store=room / "no-store")
    assert one.main.wait(PATIENCE_S) == 2
    one.socket.settimeout(0)
    with pytest.raises(BlockingIOError):
        one.word()


def test_no_word_in_the_background(room, mounts, point, small_store):
    """What starts a mount there may itself be a service that is awaited."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as awaited:
        awaited.bind(f"{room}/notify")
        awaited.setblocking(False)
        mounts.mount(small_store, point, env=dict(os.environ, NOTIFY_SOCKET=f"{room}/notify"))
        with pytest.raises(BlockingIOError):
            awaited.recv(100)
