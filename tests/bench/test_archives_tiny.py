# SPDX-License-Identifier: Apache-2.0
"""bench/archives.py on few photographs. No figure is checked."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from photographs import make_photographs

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import mounts  # noqa: E402


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("view", ["tar", "h5+size=64x64"])
def test_each_contender_reads_all_samples(tmp_path, view):
    pytest.importorskip("torch")
    pytest.importorskip("h5py")
    mounts.create_store(make_photographs(tmp_path / "tree", 30), tmp_path / "store")
    done = subprocess.run([sys.executable, BENCH / "archives.py", "--work", tmp_path, "--store", tmp_path / "store", "--rounds", "1", "--workers", "0",
                           "--view", view, "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    rates, read = json.loads(done.stdout)["tables"]
    assert set(rates["rounds"]) == {"file", "off", "foreseen"}
    assert all(figure > 0 for table in (rates, read) for rounds in table["rounds"].values() for figure in rounds)
