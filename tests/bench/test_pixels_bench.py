# SPDX-License-Identifier: Apache-2.0
"""pixels_bench and decode_peers.py, tiny: they measure what they name."""

import json
import pathlib
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import mounts  # noqa: E402


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos") / "tree"
    mounts.run(sys.executable, BENCH / "dataset.py", "--quiet", "--files", 4, folder)
    return folder


def test_pixels_bench_measures_all_that_it_names(photos):
    out = json.loads(mounts.run(mounts.program("pixels_bench"), "--files", photos, "--rounds", 2))
    rates = out["images by second and core"]
    assert {"decode", "decode 256", "decode 256 fast", "stored"} <= set(rates)
    targets = {name.split()[2] for name in rates if name.startswith("resize ")}
    assert targets
    for target in targets:
        assert {f"resize {kind} {target}" for kind in ("bilinear", "bicubic", "lanczos")} <= set(rates)
    for spread in rates.values():
        assert 0 < spread["least"] <= spread["median"] <= spread["most"]
    assert out["images"] == 4


def test_pixels_bench_wants_jpegs(tmp_path):
    run = subprocess.run([mounts.program("pixels_bench"), "--files", tmp_path], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert "no JPEGs" in run.stderr


def test_decode_peers_compares(photos):
    out = json.loads(mounts.run(sys.executable, BENCH / "decode_peers.py", "--files", photos, "--count", 2, "--rounds", 2, "--json"))
    tables = {table["title"].partition(",")[0]: table for table in out["tables"]}
    assert set(tables) == {"decode", "decode 256", "resize"}
    for table in tables.values():
        assert table["base"] == "pillow"
        assert any(name.startswith("augurfs") for name in table["rounds"])
        assert all(len(figures) == 2 and min(figures) > 0 for figures in table["rounds"].values())
