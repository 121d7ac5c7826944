# SPDX-License-Identifier: Apache-2.0
"""Which frameworks are tried, how many samples each of their runs must give, and how a script of scripts/ is run."""

import os
import pathlib
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().with_name("scripts")
PHOTOS = 240
CLASSES = 6

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


def run_script(name, *words):
    """A script of scripts/ in a process of its own, ended: subprocess.CompletedProcess with its texts. Any thread."""
    environment = dict(os.environ, PYTHONHASHSEED="0", CUDA_VISIBLE_DEVICES="")
    command = [sys.executable, SCRIPTS / name, *words]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", timeout=300, stdin=subprocess.DEVNULL,
                          env=environment)
