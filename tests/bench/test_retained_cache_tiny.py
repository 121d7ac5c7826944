# SPDX-License-Identifier: Apache-2.0
"""retained_cache_bench runs, on little data. No figure is checked but those that cannot depend on the machine."""

import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import mounts  # noqa: E402


def run(*words):
    try:
        program = mounts.program("retained_cache_bench")
    except FileNotFoundError:
        pytest.skip("retained_cache_bench was not built: liblmdb-dev is missing")
    return subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)


@pytest.fixture
def folder(tmp_path):
    """Empty afterwards."""
    yield tmp_path
    assert not list(tmp_path.iterdir())


def test_retained_cache_bench(folder):
    done = run("--folder", folder, "--size", "64M", "--rounds", 2, "--steps", 50)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result) == {"arena", "lmdb", "segments"}
    for contender, measures in result.items():
        erases = ("replace_us", "two_replace_us") if contender != "segments" else ()
        for name in ("fill_us", "read_us", "two_read_us", *erases):
            assert len(measures[name]) == 2 and min(measures[name]) > 0, name
        # 90 % of 64 MiB in blocks of 110 KB in the mean.
        assert all(450 < blocks < 650 for blocks in measures["blocks"])
    assert result["arena"]["refused"] == [0] * 4
    assert 0.9 <= result["arena"]["usable"] < 1


def test_refuses_a_size_that_is_none(folder):
    done = run("--folder", folder, "--size", "much")
    assert done.returncode == 2 and "much" in done.stderr
