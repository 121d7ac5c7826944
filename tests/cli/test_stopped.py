# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in a command that takes long: status 2 and one sentence that says what is left, and the same command works then."""

import os
import shutil
import signal
import subprocess
import tarfile
import time

import pytest
from pack_support import PATIENCE_S, run, write

LARGE_BYTES = 96 << 20
ATTEMPTS = 20  # a quick machine may be done before the signal comes


@pytest.fixture(scope="module")
def place(augurpack, tmp_path_factory):
    """A folder `top` with one large file, its tar and its store."""
    place = tmp_path_factory.mktemp("stopped")
    piece = os.urandom(1 << 20)
    large = write(place / "top" / "large")
    with open(large, "wb") as file:
        for number in range(LARGE_BYTES >> 20):
            file.write(number.to_bytes(8, "little") + piece[8:])
    write(place / "top" / "small.jpg", b"small")
    with tarfile.open(place / "top.tar", "w") as tar:
        tar.add(place / "top", ".")
    run(augurpack, "create", "--quiet", place / "top", place / "store")
    yield place
    shutil.rmtree(place)


def has_open(process, marker):
    """Whether the process has a file open in whose path `marker` is."""
    try:
        links = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{process.pid}/fd")]
    except OSError:
        return False
    return any(marker in link for link in links)


def stopped(words, marker):
    """What the command said when it was interrupted after it had begun to read or write `marker`; None: it was done."""
    with subprocess.Popen(list(map(os.fspath, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:  # fmt: skip
        while process.poll() is None and not has_open(process, marker):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=PATIENCE_S)
    if process.returncode == 0:
        return None
    assert (process.returncode, said) == (2, ""), complaint
    assert complaint.startswith("augurpack: stopped by SIGINT: ") and complaint.count("\n") == 1, complaint
    return complaint


@pytest.mark.parametrize("command, words, marker, says", [
    ("verify", ["store"], "/shard-", "not all of the store was checked; the same command starts anew"),
    ("extract", ["store", "out"], "/shard-", "run it again with --force to write all"),
    ("adopt", ["top.tar", "new"], "top.tar", "nothing is left of this run"),
    ("append", ["--replace", "top", "more"], "top/large", "--resume goes on from here|nothing is left of this run"),
])
def test_interrupted(augurpack, place, tmp_path, command, words, marker, says):
    run(augurpack, "create", "--quiet", "--include=*.jpg", place / "top", tmp_path / "more")
    paths = [word if word.startswith("--") else place / word if (place / word).exists() else tmp_path / word for word in words]
    for _ in range(ATTEMPTS):
        complaint = stopped([augurpack, command, "--quiet", *paths], marker)
        if complaint is not None:
            break
        run("rm", "-rf", tmp_path / "out", tmp_path / "new")
    assert complaint is not None, "it was always done before the signal came"
    assert any(part in complaint for part in says.split("|")), complaint
    if command != "extract":
        assert not (tmp_path / "new").exists()
    done = run(augurpack, command, "--quiet", *(["--force"] if command == "extract" else []), *paths)
    assert done.error == "" or "that an unfinished run left" in done.error
    run(augurpack, "verify", "--quiet", tmp_path / "more")
