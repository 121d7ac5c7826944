# SPDX-License-Identifier: Apache-2.0
"""The progress bar: on a terminal, elsewhere, and when quiet."""

import contextlib
import io
import os
import pty
import re
import subprocess
import tarfile
import tempfile
import threading
import time

import pytest
from pack_support import wait_until_taken


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path)


def tar_of(count):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number in range(count):
            info = tarfile.TarInfo(f"{number:05d}")
            info.size = 2000
            tar.addfile(info, io.BytesIO(os.urandom(2000)))
    return buffer.getvalue()


def pack_slowly(augurpack, store, stderr, *options):
    """Packs from a pipe that pauses for longer than the bar does between two drawings. Returns what is on stdout."""
    tar = tar_of(3000)
    command = [augurpack, "create", *options, "-", store]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr) as process:
        process.stdin.write(tar[: len(tar) // 2])
        process.stdin.flush()
        wait_until_taken(process.stdin)  # else it may begin after the pause
        time.sleep(0.5)
        process.stdin.write(tar[len(tar) // 2 :])
        process.stdin.close()
        out = process.stdout.read()
        assert process.wait(timeout=120) == 0
        return out


def test_a_terminal_gets_a_bar(augurpack, folder):
    ours, theirs = pty.openpty()
    seen = b""

    def read():  # meanwhile: a terminal that nobody reads holds the program up after some seconds of bars
        nonlocal seen
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while chunk := os.read(ours, 65536):
                seen += chunk

    reader = threading.Thread(target=read)
    reader.start()
    try:
        pack_slowly(augurpack, os.path.join(folder, "store"), theirs)
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    assert re.search(rb"\rpacking: \d+ files?, [\d.]+ [KM]iB, [\d.]+ [KM]iB/s\x1b\[K", seen), seen
    assert b"\r\x1b[K" in seen  # and it is cleared at the end


def test_no_terminal_gets_plain_lines(augurpack, folder):
    """The summary, and none of the bar. That lines of progress come each ten seconds is a test of Progress."""
    store = os.path.join(folder, "store")
    with tempfile.TemporaryFile() as stderr:
        out = pack_slowly(augurpack, store, stderr).decode()
        stderr.seek(0)
        assert re.fullmatch(r"(packing: \d+ files, .*/s\n)*", stderr.read().decode())
    first, second = out.splitlines()
    assert first == f"{store}: generation 1: 3000 files (0 images), 1 folder, 0 links, 5.7 MiB"
    assert re.fullmatch(r"stored 5\.7 MiB; [\d.]+ s, [\d.]+ [KMG]iB/s", second)


def test_quiet_says_nothing(augurpack, folder):
    with tempfile.TemporaryFile() as stderr:
        assert pack_slowly(augurpack, os.path.join(folder, "store"), stderr, "--quiet") == b""
        stderr.seek(0)
        assert stderr.read() == b""
