# SPDX-License-Identifier: Apache-2.0
"""What the tests of the samplers share: shuffle_dump, random sizes and seeds that a failure can repeat, and orders of all ranks."""

import os
import random
import subprocess

import mounts  # of bench/
import numpy
import pytest


@pytest.fixture(scope="session")
def dump():
    program = mounts.program("shuffle_dump")

    def ask(*words):
        run = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True)
        return list(map(int, run.stdout.split()))

    return ask


@pytest.fixture
def rng():
    seed = int(os.environ.get("AUGUR_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"AUGUR_TEST_SEED={seed}")
    return random.Random(seed)


def size_of(rng, most=200000):
    return int(2 ** rng.uniform(0, numpy.log2(most)))


def epochs(loader, count):
    """The indices of `count` epochs of a loader whose samples are their own indices."""
    return [[int(index) for batch in loader for index in batch] for _ in range(count)]


def interleaved(ranks):
    """Rank 0's first, rank 1's first, ..., rank 0's second: the order of all ranks together. All must be equally long."""
    return [index for row in zip(*ranks, strict=True) for index in row]


def interleaved_unequal(parts):
    """The same, of parts of which some may be one shorter than others."""
    longest = max(map(len, parts))
    return [part[i] for i in range(longest) for part in parts if i < len(part)]
