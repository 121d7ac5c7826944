# SPDX-License-Identifier: Apache-2.0
"""Some damaged archives; mutated_archives.py by itself makes as many as one likes."""

import pytest
from archive_support import need
from mutated_archives import run_many


@pytest.mark.parametrize("seed", ["a", "b"])
def test_damaged_archives(augurpack, seed):
    need("tar")
    outcomes, wrong = run_many(augurpack, 90, seed)
    assert not wrong, "\n".join(wrong)
    kinds = {outcome for _, _, outcome in outcomes}
    assert {"refused", "as GNU tar", "as zipfile", "as in the file"} <= kinds  # else it has not looked at anything
