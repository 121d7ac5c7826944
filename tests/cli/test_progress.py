# SPDX-License-Identifier: Apache-2.0
"""The progress bar: on a terminal, elsewhere, and when quiet."""

import io
import os
import pty
import re
import subprocess
import tarfile
import tempfile
import time

import pytest


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
    """Packs from a pipe that pauses for longer than the bar does between two drawings."""
    tar = tar_of(3000)
    command = [augurpack, "create", *options, "-", store]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr) as process:
        process.stdin.write(tar[: len(tar) // 2])
        process.stdin.flush()
        time.sleep(0.5)
        process.stdin.write(tar[len(tar) // 2 :])
        process.stdin.close()
        process.stdout.read()
        assert process.wait(timeout=120) == 0


def test_a_terminal_gets_a_bar(augurpack, folder):
    ours, theirs = pty.openpty()
    try:
        pack_slowly(augurpack, os.path.join(folder, "store"), theirs)
        os.close(theirs)
        theirs = -1
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:  # how Linux says that the other end is closed
            pass
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)
    assert re.search(rb"\rpacking: \d+ files?, [\d.]+ [KM]iB, [\d.]+ [KM]iB/s\x1b\[K", seen), seen
    assert b"\r\x1b[K" in seen  # and it is cleared at the end


def test_quiet_and_plain_show_no_bar(augurpack, folder):
    for name, options in (("quiet", ["--quiet"]), ("plain", [])):
        with tempfile.TemporaryFile() as stderr:
            pack_slowly(augurpack, os.path.join(folder, name), stderr, *options)
            stderr.seek(0)
            assert b"\r" not in stderr.read()
