# SPDX-License-Identifier: Apache-2.0
"""Unmodified frameworks give the same samples and labels, in the same order, from the mount and from the plain folder.

Each script of scripts/ is run on both, in a process of its own, and every sample of every run is compared. A framework
that is not installed is skipped by name.
"""

import importlib.util

import pytest
from conftest import PHOTOS

# Framework: (module that it needs, {run: samples that it must give, None where the odd files decide}).
FRAMEWORKS = {
    "torchvision": ("torchvision", {
        "list": PHOTOS,
        "in_order_0_workers": PHOTOS,
        "in_order_1_workers": PHOTOS,
        "in_order_4_workers": PHOTOS,
        "shuffled_0_workers": PHOTOS,
        "shuffled_1_workers": PHOTOS,
        "shuffled_4_workers": PHOTOS,
        "persistent_workers_two_epochs": 2 * PHOTOS,
        "training_transform": PHOTOS,
        "io_decode": PHOTOS,
        "odd": None,
    }),
    "tensorflow": ("tensorflow", {
        "list_files_in_order": PHOTOS,
        "list_files_shuffled": PHOTOS,
        "interleave": PHOTOS,
        "cache_two_epochs": 2 * PHOTOS,
        "gfile_walk": 7,  # six classes and the folder itself
        "keras_in_order": PHOTOS + 1,  # and the class names
        "keras_shuffled": PHOTOS + 1,
        "keras_validation_split": PHOTOS // 4 + 1,
        "odd_bytes": None,
        "odd_decoded": None,
    }),
    "pil": ("PIL", {"by_path": None, "by_file_object": None}),
    "opencv": ("cv2", {"imread": None, "imread_unchanged": None, "imdecode": None}),
    "numpy": ("numpy", {"load": 5, "memmap": 5, "memmap_pieces": 250, "memmap_readonly": 5, "fromfile": PHOTOS}),
    "h5py": ("h5py", {"whole": 3, "pieces": 120}),
    "timm": ("timm", {"reader": PHOTOS, "dataset": PHOTOS, "loader_validation": PHOTOS, "loader_training": None}),
    "dali": ("nvidia.dali", {
        "in_order": PHOTOS,
        "without_mmap": PHOTOS,
        "shuffled": PHOTOS,
        "shuffled_after_epoch": 2 * PHOTOS,
        "one_shard_of_three": PHOTOS // 3,
    }),
}


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
