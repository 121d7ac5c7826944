# SPDX-License-Identifier: Apache-2.0
"""How long the tests of the mount wait for what another process does."""

import time

import pytest

PATIENCE_S = 100  # against a hang: what is waited for comes in a second, and on a busy machine in some


def wait_until(condition, what):
    """Waits for something that another process does; the test fails when it does not come, with the text or what it returns."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"in {PATIENCE_S} s not: {what() if callable(what) else what}")
        time.sleep(0.01)
