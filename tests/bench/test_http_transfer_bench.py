# SPDX-License-Identifier: Apache-2.0
"""http_transfer_bench, tiny: each client reads ranges of both sizes from the program's own server."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import mounts  # noqa: E402


def test_http_transfer_bench_measures_each_client():
    words = [mounts.program("http_transfer_bench"), "--bytes", "20000000", "--rounds", "2"]
    out = json.loads(subprocess.run(words, capture_output=True, text=True, check=True, timeout=110).stdout)
    assert [row["range_bytes"] for row in out["rows"]] == [110_000, 8 << 20]
    for row in out["rows"]:
        for client in ("loop", "engine", "client"):
            for spread in row[client].values():
                assert 0 < spread["least"] <= spread["median"] <= spread["most"]
