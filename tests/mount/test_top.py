# SPDX-License-Identifier: Apache-2.0
"""`augurctl top` in a terminal: a pty whose other end is read here."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pytest
from daemon_deaths import end_mount
from patience import PATIENCE_S, wait_until
from program_runs import run
from skips import needs_root

pytestmark = needs_root

LOCAL_FLAGS, NORMAL = 3, termios.ICANON | termios.ECHO
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


class Terminal:
    """A program with a terminal of its own."""

    def __init__(self, words, rows, columns):
        words = [os.fspath(word) for word in words]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(words[0], words)
        self.text = ""
        self.status = None
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        """Takes what has come; False: the program has closed its end."""
        if not select.select([self.fd], [], [], 0.05)[0]:
            return True
        try:
            self.text += os.read(self.fd, 65536).decode()
        except OSError:  # EIO: there is no other end any more
            return False
        return True

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if not self.read() or time.monotonic() > end:
                pytest.fail(f"not {what}: {self.text!r}")

    def screens(self):
        """All that were drawn, each as its lines."""
        parts = self.text.split("\x1b[1;1H")[1:]
        return [re.split(r"\x1b\[\d+;1H", part.split("\x1b[J")[0].replace("\x1b[K", "")) for part in parts if "\x1b[J" in part]

    def wait_for_screen(self, matches):
        """A screen that is drawn from now on."""
        seen = len(self.screens())
        self.wait_for(lambda: any(map(matches, self.screens()[seen:])), "drawn")

    def end(self):
        """Its exit status, as waitpid has it, once it has ended by itself; and whether keys are as on a new terminal."""
        deadline = time.monotonic() + PATIENCE_S
        while self.read() and time.monotonic() < deadline:
            pass
        self.status = os.waitpid(self.pid, 0)[1]
        return self.status, termios.tcgetattr(self.fd)[LOCAL_FLAGS] & NORMAL == NORMAL

    def clear(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def terminal(ctl, point):
    made = []

    def start(rows=30, columns=100):
        made.append(Terminal([ctl, "top", point], rows, columns))
        made[-1].wait_for_screen(lambda lines: f" {point} shows " in lines[0])
        return made[-1]

    try:
        yield start
    finally:
        for one in made:
            one.clear()


def assert_restored(terminal):
    """What was there comes back, with a cursor, and keys are shown again."""
    assert terminal.text.startswith(ENTER) and terminal.text.rstrip("^C\r\n").count(LEAVE) == 1, terminal.text[-200:]
    assert terminal.text.index(LEAVE) > terminal.text.rindex("\x1b[J")


def test_it_is_live_until_a_key_ends_it(room, mounts, point, small_store, terminal):
    mounts.mount(small_store, point, "predict=off")
    shown = terminal()
    (point / "folder" / "image.JPEG").read_bytes()
    shown.wait_for_screen(lambda lines: any(re.match("misses +0?[^0]", line) for line in lines))
    os.write(shown.fd, b"q")
    status, normal = shown.end()
    assert status == 0 and normal
    assert_restored(shown)


def test_it_follows_the_window(room, mounts, point, small_store, terminal):
    mounts.mount(small_store, point)
    shown = terminal()
    assert any(len(line) > 40 for line in shown.screens()[-1])
    shown.resize(6, 40)
    shown.wait_for_screen(lambda lines: len(lines) <= 6 and max(map(len, lines)) <= 40)
    shown.resize(30, 100)
    shown.wait_for_screen(lambda lines: len(lines) > 6)


@pytest.mark.parametrize("how", ["keys", "signal"])
def test_the_terminal_is_restored_when_it_is_interrupted(room, mounts, point, small_store, terminal, how):
    mounts.mount(small_store, point)
    shown = terminal()
    if how == "keys":
        os.write(shown.fd, b"\x03")
    else:
        os.kill(shown.pid, signal.SIGTERM)
    status, normal = shown.end()
    assert normal
    assert status == 0 if how == "keys" else os.WTERMSIG(status) == signal.SIGTERM
    assert_restored(shown)


def test_it_goes_on_with_the_next_daemon(room, mounts, point, small_store, ctl, terminal):
    before = mounts.mount(small_store, point)
    shown = terminal()
    assert run([ctl, "restart", point]).returncode == 0
    wait_until(lambda: mounts.pid(point) != before, "another daemon")
    shown.wait_for_screen(lambda lines: f" {point} shows " in lines[0])
    shown.wait_for_screen(lambda lines: f" {point} shows " in lines[0])


def test_a_mount_that_goes_is_an_error(room, mounts, point, small_store, terminal):
    pid = mounts.mount(small_store, point)
    shown = terminal()
    end_mount(pid, point, "umount")
    status, _ = shown.end()
    assert os.waitstatus_to_exitcode(status) == 2
    assert "no AugurFS is mounted here" in shown.text[shown.text.index(LEAVE):]


def test_once(room, mounts, point, small_store, ctl):
    mounts.mount(small_store, point)
    (point / "hello.txt").read_bytes()
    done = run([ctl, "top", "--once", point])
    assert (done.returncode, done.stderr) == (0, "") and "\x1b" not in done.stdout, done
    assert f" {point} shows {small_store}, generation 1" in done.stdout.splitlines()[0]
    numbers = json.loads(run([ctl, "top", "--once", "--json", point]).stdout)
    assert numbers["mountpoint"] == str(point) and numbers["errors"] == 0 and numbers["files_per_second"] == 0
    assert numbers["memory"]["max_bytes"] > numbers["memory"]["used_bytes"] > 0
    done = run([ctl, "top", point])
    assert done.returncode == 2 and "--once" in done.stderr, done
