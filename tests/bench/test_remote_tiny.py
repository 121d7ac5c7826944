# SPDX-License-Identifier: Apache-2.0
"""bench/remote.py on few photographs, with the peers that need no package. No figure is checked but counts."""

import json
import os
import pathlib

import far_bench
import pytest
from photographs import make_photographs

FILES = 60


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: network namespaces")
def test_each_row_reads_all_files(tmp_path):
    tree = make_photographs(tmp_path / "tree", FILES)
    done = far_bench.run("remote.py", "all", "--tree", tree, "--only", "juicefs,augurfs", work=tmp_path)
    if done.returncode and "servers.sh" in done.stderr and "CI" not in os.environ:
        pytest.skip("an S3 server or JuiceFS could not be installed: packaging/servers.sh says why")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    names = {"juicefs", "augurfs"} - {name for name in ("juicefs", "augurfs") if f"left out: {name}: " in done.stderr}
    assert report["line"]["rtt_ms"] == 4 and names
    for table in report["tables"]:
        assert set(table["rounds"]) in (names, {"augurfs"}, {"local store", "warm copy"})
        assert all(len(figures) == 1 and figures[0] > 0 for figures in table["rounds"].values())
    # Speed, share, bytes, processor time, names for 1 and 2 readers, with requests or without; 4 of the mount, 4 of that of a larger
    # index; 4 of the warm copy.
    assert len(report["tables"]) in (23, 25)
    assert [path.name for path in tmp_path.iterdir()] == ["tree"], "the working folder was left"
    assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
