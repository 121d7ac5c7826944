# SPDX-License-Identifier: Apache-2.0
"""The simulation of what to keep, against what is known by theory and by a second simulation."""

import collections
import json
import math
import pathlib
import random
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import mounts  # noqa: E402

FILES = 4000
SHARES = [10, 25, 50, 75]


def simulated(*options):
    words = [mounts.program("policy_bench"), "--files", str(FILES), *options]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["shares"]


def lru_hit_rate(files, room, epochs, seed):
    """Least recently used on shuffled epochs, with none of the code under test."""
    chance, kept, hits = random.Random(seed), collections.OrderedDict(), 0
    for epoch in range(epochs):
        for file in chance.sample(range(files), files):
            hits += epoch > 0 and file in kept
            kept[file] = True
            kept.move_to_end(file)
            if len(kept) > room:
                kept.popitem(last=False)
    return hits / files / (epochs - 1)


@pytest.mark.parametrize("share", SHARES)
def test_files_of_one_size(share):
    (row,) = simulated("--epochs", "6", "--shares", str(share))
    # What an epoch finds was there when it began: as many as fit, for whoever evicts nothing that is still to come.
    assert row["keep"]["reads"] == pytest.approx(share / 100, abs=1e-9)
    assert row["belady"]["reads"] == pytest.approx(share / 100, abs=1e-9)
    part = share / 100
    assert row["theory"]["lru"] == pytest.approx(part + (1 - part) * math.log(1 - part), abs=1e-9)
    # 5 epochs of 4,000 reads: a standard error of 0.35 points at most.
    assert row["lru"]["reads"] == pytest.approx(row["theory"]["lru"], abs=0.015)
    assert row["lru"]["reads"] == pytest.approx(lru_hit_rate(FILES, FILES * share // 100, 6, 1), abs=0.015)
    assert row["belady"]["reads"] >= row["keep"]["reads"] > row["lru"]["reads"]


@pytest.mark.parametrize("share", SHARES)
def test_files_as_photographs_are(share):
    (row,) = simulated("--epochs", "6", "--sizes", "lognormal", "--shares", str(share))
    # By bytes it is the share that fits again, but for the last file that does not.
    largest = 0.005
    for policy in ("keep", "belady"):
        assert share / 100 - largest <= row[policy]["bytes"] <= share / 100
    assert row["lru"]["bytes"] < row["keep"]["bytes"]


def test_every_share_has_its_row_and_the_same_seed_gives_the_same():
    assert [row["share"] for row in simulated()] == [share / 100 for share in SHARES]
    assert simulated("--seed", "3") == simulated("--seed", "3") != simulated("--seed", "4")
