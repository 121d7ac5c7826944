# SPDX-License-Identifier: Apache-2.0
"""The kernel's caches, which a test drops so that reads come to the daemon."""

import pathlib
import re

import pytest


def drop_caches():
    """So that what is read next comes from the daemon."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("1\n")


def unless_caches_are_dropped(attempt):
    """Calls it, and again if it fails while somebody else drops the kernel's caches, as other tests do. It drops none itself."""
    def drops():
        return re.findall(r"^drop_\w+ \d+$", pathlib.Path("/proc/vmstat").read_text(encoding="ascii"), re.MULTILINE)

    for _ in range(10):
        before = drops()
        try:
            return attempt()
        except AssertionError:
            if drops() == before:
                raise
    pytest.skip("the kernel's caches are dropped all the time")
