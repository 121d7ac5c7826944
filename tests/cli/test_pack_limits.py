# SPDX-License-Identifier: Apache-2.0
"""augurpack keeps within its memory and its descriptors, whatever it packs."""

import os
import shutil
import subprocess
import time

import pytest
from pack_support import PATIENCE_S, reader, run, write

FILES = 200_000
FOLDERS = 2002  # with the root
MEMORY_BYTES_MAX = (256 << 20) + 120 * FILES
DESCRIPTORS_MAX = 256


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """200,000 small files, most of them in one folder."""
    top = tmp_path_factory.mktemp("wide")
    flat = top / "flat"
    flat.mkdir()
    folder = os.open(flat, os.O_RDONLY)
    for i in range(FILES - 20_000):
        fd = os.open(f"file-{i:07}.JPEG", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=folder)
        if i % 4:
            os.write(fd, b"%d" % i)
        os.close(fd)
    os.close(folder)
    for i in range(2000):
        (top / f"d{i:04}").mkdir()
        for j in range(10):
            (top / f"d{i:04}" / f"{j}").write_bytes(b"%d %d" % (i, j))
    return top


@pytest.fixture(scope="module")
def wide_tar(wide):
    tar = wide.with_name("wide.tar")
    run("tar", "--format=ustar", "-C", wide, "-cf", tar, ".")
    yield tar
    tar.unlink()


@pytest.fixture(scope="module")
def wide_store(augurpack, wide):
    store = wide.with_name("wide.augur")
    pack_within_limits(augurpack, "create", "--quiet", wide, store)
    yield store
    shutil.rmtree(store)


def pack_within_limits(augurpack, *words):
    """Runs augurpack. The limit of the system is the one on descriptors; memory is watched, since the peak that the kernel keeps is
    what counts."""
    command = ["prlimit", f"--nofile={DESCRIPTORS_MAX}:{DESCRIPTORS_MAX}", augurpack, *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as packer:
        peak = 0
        end = time.monotonic() + PATIENCE_S
        while packer.poll() is None and time.monotonic() < end:
            try:
                with open(f"/proc/{packer.pid}/status", encoding="ascii") as status:
                    for line in status:
                        if line.startswith("VmHWM:"):
                            peak = max(peak, int(line.split()[1]) << 10)
            except (FileNotFoundError, ProcessLookupError):
                break
            time.sleep(0.01)
        assert packer.wait(PATIENCE_S) == 0
    if "AUGUR_SANITIZER" not in os.environ:  # whose own memory cannot be told from the packer's
        assert 0 < peak <= MEMORY_BYTES_MAX, f"{peak >> 20} MiB"


def assert_counts(store, files, folders):
    with reader.Store(store) as opened:
        assert (opened.header.file_count, opened.header.directory_count) == (files, folders)


def test_create(augurpack, wide_store):
    assert_counts(wide_store, FILES, FOLDERS)
    run(augurpack, "verify", wide_store)


def test_adopt(augurpack, wide_tar, tmp_path):
    pack_within_limits(augurpack, "adopt", "--quiet", wide_tar, tmp_path / "store")
    assert_counts(tmp_path / "store", FILES, FOLDERS)


def test_append_much_to_little(augurpack, wide, tmp_path):
    write(tmp_path / "tree" / "one", b"1")
    run(augurpack, "create", "--quiet", tmp_path / "tree", tmp_path / "store")
    pack_within_limits(augurpack, "append", "--quiet", wide, tmp_path / "store")
    assert_counts(tmp_path / "store", FILES + 1, FOLDERS)


def test_append_little_to_much(augurpack, wide_store, tmp_path):
    store = shutil.copytree(wide_store, tmp_path / "store")
    write(tmp_path / "tree" / "one", b"1")
    pack_within_limits(augurpack, "append", "--quiet", tmp_path / "tree", store)
    assert_counts(store, FILES + 1, FOLDERS)
