# SPDX-License-Identifier: Apache-2.0
"""search_bench, tiny: it measures each set of vector instructions, compares what they find, and runs beside busy loops."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import mounts  # noqa: E402


def test_search_bench_measures_all_that_it_names():
    words = [mounts.program("search_bench"), "--seeds", "65536", "--rounds", "2", "--busy", "0.2"]
    out = json.loads(subprocess.run(words, capture_output=True, text=True, check=True, timeout=110).stdout)
    rates = out["by second and core"]
    targets = {name.split()[0] for name in rates if name.endswith(" outputs")} - {"plain"}
    assert targets
    for target in targets:
        assert {f"{target} seeds, clues 1", f"{target} seeds, clues 8"} <= set(rates)
    for spread in rates.values():
        assert 0 < spread["least"] <= spread["median"] <= spread["most"]
    for name in ("loops alone", "speed of the loops", "cores for the search", "seconds for 2^32"):
        assert 0 <= out["busy"][name]["least"] <= out["busy"][name]["most"], name
