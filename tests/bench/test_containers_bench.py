# SPDX-License-Identifier: Apache-2.0
"""containers_bench, tiny: it measures every container and the names of a folder."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import mounts  # noqa: E402


def test_containers_bench_measures_all_that_it_names():
    words = [mounts.program("containers_bench"), "--width", "30", "--height", "20", "--images", "2", "--names", "100", "--rounds", "3"]
    out = json.loads(subprocess.run(words, capture_output=True, text=True, check=True, timeout=110).stdout)
    assert {"copy", "pixels", "pixels+as=ppm", "pixels+as=bmp", "npy", "npy+layout=chw", "npy+dtype=f32", "npy+dtype=f32+layout=chw",
            "names", "find"} <= set(out["us"])
    for spread in [*out["us"].values(), *out["times copy"].values()]:
        assert 0 < spread["least"] <= spread["median"] <= spread["most"]
