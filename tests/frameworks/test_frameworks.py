# SPDX-License-Identifier: Apache-2.0
"""Unmodified frameworks give the same samples and labels, in the same order, from the mount and from the plain folder.

Each script of scripts/ is run on both, in a process of its own, and every sample of every run is compared. A framework
that is not installed is skipped by name.
"""

import importlib.util

import pytest
from frameworks import FRAMEWORKS

def installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a parent package
        return False


@pytest.mark.parametrize("framework, run", [(name, run) for name, (_, wanted) in FRAMEWORKS.items() for run in wanted])
def test_same_samples_as_from_the_folder(runs, framework, run):
    module, wanted = FRAMEWORKS[framework]
    if not installed(module):
        pytest.skip(f"framework not installed: {module}")
    on_folder, on_mount = runs(framework)
    folder, mount = on_folder[run], on_mount[run]
    assert len(folder) == wanted[run] if wanted[run] is not None else len(folder) > 50, "the script itself did not see the tree"
    assert len(mount) == len(folder)
    differing = [(one, two) for one, two in zip(folder, mount) if one != two]
    # What may not be the same: opening for writing is refused by both, but root may write to the folder.
    if run == "memmap_readonly":
        differing = [pair for pair in differing if pair[1][1] != "OSError"]
    assert not differing, f"{len(differing)} of {len(folder)} samples differ, the first: {differing[0]}"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_no_run_of_a_script_goes_unnamed(runs, framework):
    module, wanted = FRAMEWORKS[framework]
    if not installed(module):
        pytest.skip(f"framework not installed: {module}")
    assert set(runs(framework)[0]) == set(wanted)
