# SPDX-License-Identifier: Apache-2.0
"""bench/remote.py on few photographs, with the peers that need no package. No figure is checked but counts."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from photographs import make_photographs

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
CACHE_HOME = os.environ.get("XDG_CACHE_HOME")  # where programs are kept; the tests move that of daemons
FILES = 60


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: network namespaces")
def test_each_row_reads_all_files(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    if CACHE_HOME:
        environment["XDG_CACHE_HOME"] = CACHE_HOME
    tree = make_photographs(tmp_path / "tree", FILES)
    done = subprocess.run([sys.executable, BENCH / "remote.py", "all", "--quick", "--json", "--server", "default", "--tree", tree, "--only",
                           "juicefs,augurfs", "--work", tmp_path], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if done.returncode and "servers.sh" in done.stderr and "CI" not in os.environ:
        pytest.skip("an S3 server or JuiceFS could not be installed: packaging/servers.sh says why")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    names = {"juicefs", "augurfs"} - {name for name in ("juicefs", "augurfs") if f"left out: {name}: " in done.stderr}
    assert report["line"]["rtt_ms"] == 4 and names
    for table in report["tables"]:
        assert set(table["rounds"]) in (names, {"augurfs"}, {"local store", "warm copy"})
        assert all(len(figures) == 1 and figures[0] > 0 for figures in table["rounds"].values())
    # Speed, share, bytes, processor time, names for 1 and 2 readers, with requests or without; 4 of the mount; 4 of the warm copy.
    assert len(report["tables"]) in (19, 21)
    assert [path.name for path in tmp_path.iterdir()] == ["tree"], "the working folder was left"
    assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
