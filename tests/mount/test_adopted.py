# SPDX-License-Identifier: Apache-2.0
"""Stores of tars that lie where they were (augurpack adopt): SEMANTICS.md, R1 to R3."""

import errno
import os
import pathlib
import signal
import tarfile

import pytest

from kernel_caches import drop_caches
from odd_tree import MANY, noise, odd_files
from patience import PATIENCE_S
from program_runs import run
from skips import needs_root
from system_calls import errno_of

pytestmark = needs_root

OTHERS = {f"other/{number}.JPEG".encode(): noise(30_000 + number, number) for number in range(5)}


@pytest.fixture
def tars(room, tree):
    """Two tars that make one tree: that with everything, and one of photographs."""
    paths = room / "everything.tar", room / "photographs.tar"
    with tarfile.open(paths[0], "w") as tar:
        tar.add(tree, arcname=".")
    with tarfile.open(paths[1], "w") as tar:
        for name, data in OTHERS.items():
            path = room / os.fsdecode(name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            tar.add(path, arcname=os.fsdecode(name))
    return paths


@pytest.fixture
def adopted(augurpack, room, tars):
    done = run([augurpack, "adopt", "--quiet", *tars, room / "store"])
    assert done.returncode == 0, done.stderr
    return room / "store"


def read(point, name):
    with open(os.path.join(os.fsencode(point), name), "rb") as file:
        return file.read()


def assert_right(point, files):
    for name, data in files.items():
        assert read(point, name) == data, name


def said(process):
    """Ends the daemon; what it has said, a list of lines."""
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    return errors.decode(errors="replace").splitlines()


@pytest.mark.parametrize("engine", ["uring", "pread"])
def test_every_byte(room, mounts, point, adopted, tars, engine):
    """R1, R7: of the tars, and none is copied."""
    assert sum(path.stat().st_size for path in adopted.iterdir()) < tars[0].stat().st_size / 4
    process = mounts.foreground(adopted, point, f"io={engine}")
    for _ in range(2):
        assert_right(point, odd_files() | OTHERS)
        drop_caches()
    assert read(point, b"hard-link") == read(point, b"plain.JPEG")
    assert os.readlink(point / "link") == "plain.JPEG"
    assert len(os.listdir(point / "many")) == MANY
    assert not [line for line in said(process) if "warning" in line or "error" in line]


@pytest.mark.parametrize("moment", ["before", "while mounted"])
def test_tar_that_was_cut(room, mounts, point, adopted, tars, moment):
    """R3: its files fail, by name in the log, and those of the other tar do not. R1: when it is cut in use, what is gone fails."""
    content = tars[0].read_bytes()
    files = {name: data for name, data in odd_files().items() if data}
    last = max(files, key=lambda name: content.index(files[name]))
    if moment == "before":
        os.truncate(tars[0], content.index(files[last]))
    process = mounts.foreground(adopted, point, "predict=off")
    assert_right(point, OTHERS)
    if moment == "while mounted":
        assert_right(point, {b"one": files[b"one"]})
        os.truncate(tars[0], content.index(files[last]))
    for name in files if moment == "before" else [last]:
        assert errno_of(read, point, name) == errno.EIO, name
        assert os.stat(os.path.join(os.fsencode(point), name)).st_size == len(files[name])
    assert read(point, b"empty") == b""
    drop_caches()
    assert_right(point, OTHERS)
    lines = said(process)
    assert any("error" in line and tars[0].name in line for line in lines), lines
    assert not any(tars[1].name in line for line in lines), lines


def test_tar_that_is_gone_and_comes_back(room, mounts, point, adopted, tars):
    """R3, and nothing is remembered (R2)."""
    away = tars[1].with_name("away.tar")
    tars[1].rename(away)
    process = mounts.foreground(adopted, point)
    for name in OTHERS:
        assert errno_of(read, point, name) == errno.EIO
    assert_right(point, odd_files())
    away.rename(tars[1])
    assert_right(point, OTHERS)
    assert any("error" in line and tars[1].name in line and "missing" in line for line in said(process))


def test_tar_with_another_time(room, mounts, point, adopted, tars):
    """R3: a warning, once, and the checksums decide: what was not changed is served, what was is not."""
    name, data = next(iter(OTHERS.items()))
    at = tars[1].read_bytes().index(data)
    with open(tars[1], "r+b") as tar:
        tar.seek(at + 20_000)
        tar.write(bytes([data[20_000] ^ 1]))
    os.utime(tars[0], ns=(1, 1))
    process = mounts.foreground(adopted, point)
    for _ in range(2):
        assert_right(point, odd_files())
        assert errno_of(read, point, name) == errno.EIO
        assert_right(point, {other: OTHERS[other] for other in OTHERS if other != name})
        drop_caches()
    lines = said(process)
    for tar in tars:
        assert len([line for line in lines if "warning" in line and f"{tar.name}: its time has changed" in line]) == 1, lines
    assert any("checksum" in line and tars[1].name in line and os.fsdecode(name) in line for line in lines), lines


def test_moved_with_its_tars(room, mounts, point, adopted, tars):
    """A store and its tars move together."""
    (room / "moved").mkdir()
    for path in (adopted, *tars):
        path.rename(room / "moved" / path.name)
    mounts.mount(pathlib.Path(room / "moved" / adopted.name), point)
    assert_right(point, odd_files() | OTHERS)
