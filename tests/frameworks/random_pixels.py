# SPDX-License-Identifier: Apache-2.0
"""Random pixels, from a seed that a failure can repeat."""

import os
import random

import numpy
import pytest


def make_rng():
    seed = int(os.environ.get("AUGUR_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"AUGUR_TEST_SEED={seed}")
    return numpy.random.default_rng(seed)


@pytest.fixture
def rng():
    return make_rng()


def random_pixels(rng, *shape):
    return rng.integers(0, 256, shape, dtype=numpy.uint8)
