# SPDX-License-Identifier: Apache-2.0
"""Photographs for the tests of the benchmarks."""

import pathlib
import subprocess
import sys

import pytest

DATASET = pathlib.Path(__file__).resolve().parents[2] / "bench" / "dataset.py"


def make_photographs(folder, count):
    """So many in ImageNet's layout; returns the folder. Where the machine has none to make them of, the test is skipped."""
    done = subprocess.run([sys.executable, DATASET, "--quiet", "--files", str(count), folder], capture_output=True, text=True)
    if "no photographs here" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return folder
