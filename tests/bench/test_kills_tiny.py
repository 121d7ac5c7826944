# SPDX-License-Identifier: Apache-2.0
"""bench/kills.py on few photographs: every read is there, and every kill. No figure is checked."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from photographs import make_photographs

KILLS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "kills.py"
FILES = 100

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: dropping caches")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    pytest.importorskip("torch")
    return make_photographs(tmp_path_factory.mktemp("kills") / "tree", FILES)


def run(tree, work, *options):
    words = [sys.executable, KILLS, *options, "--json", "--tree", tree, "--work", work, "--rate", "1000"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert not list(work.iterdir()), "the working folder was left"
    return json.loads(done.stdout)


def test_every_read_and_every_kill(tree, tmp_path):
    told = run(tree, tmp_path, "--kills", "4", "--view-files", "50")
    assert told["signal"] == "SIGKILL" and set(told["epochs"]) == {"cold", "hot", "view"}
    for name, epoch in told["epochs"].items():
        assert (epoch["errors"], epoch["wrong"], epoch["kills"], epoch["counters"]["restarts"]) == (0, 0, 4, 4), epoch
        assert epoch["reads"] == (50 if name == "view" else FILES)
        assert epoch["read_ms"]["median"] <= epoch["read_ms"]["p99.9"] <= epoch["read_ms"]["max"]
        assert epoch["restart_in_read_ms"]["max"] <= min(epoch["read_ms"]["max"], sum(epoch["outage_ms"].values()) * 4)
    assert told["epochs"]["view"]["counters"]["images_decoded"] >= 50


def test_a_crash(tree, tmp_path):
    told = run(tree, tmp_path, "hot", "--kills", "1", "--signal", "SEGV")
    assert told["signal"] == "SIGSEGV" and told["epochs"]["hot"]["errors"] == 0 and told["epochs"]["hot"]["counters"]["restarts"] == 1
