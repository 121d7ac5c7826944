# SPDX-License-Identifier: Apache-2.0
"""bench/fleet.py on few photographs and three machines. No figure is checked but counts."""

import json
import os
import pathlib

import far_bench
import pytest
from photographs import make_photographs

FILES = 60
CASES = {"fleet", "fleet, one machine killed in epoch 2", "fleet, no sweep", "no fleet"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: network namespaces and control groups")
def test_each_case_reads_three_epochs(tmp_path):
    tree = make_photographs(tmp_path / "tree", FILES)
    done = far_bench.run("fleet.py", "--tree", tree, work=tmp_path)
    if done.returncode and ("servers.sh" in done.stderr or "control groups" in done.stderr) and "CI" not in os.environ:
        pytest.skip("no S3 server could be installed, or there are no control groups")
    assert done.returncode == 0, done.stderr
    tables = {table["title"]: table["rounds"] for table in json.loads(done.stdout)["tables"]}
    assert set(tables["bytes that left the store in 3 epochs"]) == CASES
    for epoch in (1, 2, 3):
        assert set(tables[f"bytes that left the store in epoch {epoch}"]) == CASES
    assert all(figures[0] > 0 for figures in tables["bytes that left the store in epoch 1"].values())
    assert set(tables["bytes that were swept"]) == {"fleet", "fleet, one machine killed in epoch 2"}
    assert [path.name for path in tmp_path.iterdir()] == ["tree"], "the working folder was left"
    assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
