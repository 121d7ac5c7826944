# SPDX-License-Identifier: Apache-2.0
"""Who may see what: SEMANTICS.md, Access."""

from program_runs import as_user, run
from skips import needs_root

pytestmark = needs_root


def test_permissions_are_checked(tree, mounted):
    """A1: another user gets what the mode gives to others."""
    assert run([*as_user(), "cat", mounted / "modes" / "0444"]).stdout == "444"
    for closed in ("modes/0600", "modes/0640", "modes/0000", "closed/inside"):
        done = run([*as_user(), "cat", mounted / closed])
        assert done.returncode != 0 and "Permission denied" in done.stderr, closed
    assert run([*as_user(), "ls", mounted / "closed"]).returncode != 0
    # root reads them, as it does on any file system
    assert (mounted / "modes" / "0600").read_bytes() == b"600"


def test_only_the_mounting_user_without_allow_other(room, mounts, point, store):
    """A2"""
    mounts.mount(store, point)
    assert (point / "one").read_bytes() == b"x"
    done = run([*as_user(), "cat", point / "one"])
    assert done.returncode != 0 and "Permission denied" in done.stderr
