# SPDX-License-Identifier: Apache-2.0
"""System calls of the test itself."""

import ctypes

import pytest

libc = ctypes.CDLL(None, use_errno=True)


def errno_of(call, *arguments):
    """The errno that a call must fail with."""
    with pytest.raises(OSError) as failure:
        call(*arguments)
    return failure.value.errno
