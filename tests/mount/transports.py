# SPDX-License-Identifier: Apache-2.0
"""What carries the requests of the mounts under test: /dev/fuse or io_uring."""

import contextlib
import os

import pytest
from mounts import can_switch_uring
from mounts import uring_switched_on as switch_uring_on

# AUGUR_TRANSPORT=uring: every mount of these tests is one over io_uring, but for those that say otherwise.
TRANSPORT = os.environ.get("AUGUR_TRANSPORT") or "default"


@contextlib.contextmanager
def uring_switched_on():
    """FUSE over io_uring, as root switches it on; put back afterwards. Skips where this kernel or this user cannot."""
    if not can_switch_uring():
        pytest.skip("needs root, and Linux 6.14 with FUSE over io_uring")
    with switch_uring_on():
        yield


@pytest.fixture
def transport(request):
    """What the mounts of this test use: "default" or "uring"."""
    name = getattr(request, "param", TRANSPORT)
    with uring_switched_on() if name == "uring" else contextlib.nullcontext():
        yield name
