# SPDX-License-Identifier: Apache-2.0
"""augurpack create keeps within its memory and its descriptors, whatever the tree."""

import os
import subprocess
import time

import pytest
from pack_support import PATIENCE_S, reader, run

FILES = 200_000
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


def test_memory_and_descriptors(augurpack, wide, tmp_path):
    # The limit of the system is the one on descriptors; memory is watched, since the peak that the kernel keeps is what counts.
    command = ["prlimit", f"--nofile={DESCRIPTORS_MAX}:{DESCRIPTORS_MAX}", augurpack, "create", "--quiet", wide, tmp_path / "store"]
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
    with reader.Store(tmp_path / "store") as store:
        assert store.header.file_count == FILES
        assert store.header.directory_count == 2002
    run(augurpack, "verify", tmp_path / "store")
