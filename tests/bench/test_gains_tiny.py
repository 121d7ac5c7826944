# SPDX-License-Identifier: Apache-2.0
"""bench/gains.py, which the quickstart ends in, on few photographs. No figure is checked."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from photographs import make_photographs

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import gains_rows  # noqa: E402
import mounts  # noqa: E402


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    folder = make_photographs(tmp_path_factory.mktemp("gains") / "tree", 60)
    mounts.create_store(folder, folder.parent / "store")
    return folder


def run(tree, store, work):
    done = subprocess.run([sys.executable, BENCH / "gains.py", "--quick", tree, store, work], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600)
    assert str(work) not in pathlib.Path("/proc/self/mountinfo").read_text()
    return done


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: dropping caches")
def test_the_table_has_each_row_or_its_reason(tree, tmp_path):
    done = run(tree, tree.parent / "store", tmp_path / "work")
    assert done.returncode == 0, done.stderr
    assert "All 60 samples and labels from the mount are those of the folder" in done.stderr
    for row in gains_rows.ROWS:
        line = next(line for line in done.stdout.splitlines() if row.what in line)
        if row.slow:
            assert line == f"not measured: {row.what}: left out by --quick"
            continue
        folder, mount, ratio = (float(number.replace(",", "")) for number in re.findall(r"(?<=  )[\d,.]+(?=  )", line.removeprefix(row.what)))
        assert folder > 0 and mount > 0 and abs(ratio - mount / folder) <= 0.01 + 0.5 / folder + ratio * 0.5 / folder


def test_a_sample_that_differs_ends_it(tree, tmp_path):
    folder = tmp_path / "tree"
    for path in sorted(tree.rglob("*.JPEG")):
        copy = folder / path.relative_to(tree)
        copy.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, copy)
    first, second = sorted(folder.rglob("*.JPEG"))[:2]
    os.replace(second, first)
    os.link(tree / first.relative_to(folder), second)
    done = run(folder, tree.parent / "store", tmp_path / "work")
    assert done.returncode != 0 and "differs from" in done.stderr
