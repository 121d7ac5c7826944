# SPDX-License-Identifier: Apache-2.0
"""Training epochs of the script that everybody has, on plain pixels, beside the JPEGs and other libraries; and of np.load on arrays."""

import views_peers
from views_check import Check
from views_row import Row, compare

SMALL = 256  # the shorter side, in views with a size
PIXELS_SMALL = f"pixels+size={SMALL}"
TENSORS = f"npy+size={SMALL}+crop=224+layout=chw+dtype=f32+mean=0.485_0.456_0.406+std=0.229_0.224_0.225"  # ready for a model

PIXELS = (
    Row("folder"),
    Row("mount", view=""),
    Row("png", view="pixels"),
    Row("ppm", view="pixels+as=ppm"),
    Row("png 256", view=PIXELS_SMALL),
    Row("ppm 256", view=f"pixels+as=ppm+size={SMALL}"),
    # The same bytes as plain files: what the script leaves to gain for any file system.
    Row("png files", peer="png-files", copied="pixels"),
    Row("ppm files", peer="ppm-files", copied="pixels+as=ppm"),
    Row("png 256 files", peer="png-256-files", copied=PIXELS_SMALL),
)

ARRAYS = (
    Row("folder"),
    Row("folder v2", words=("--transform", "v2")),
    Row("npy", script="array_folder.py", view="npy"),
    Row("npy v2", script="array_folder.py", view="npy", words=("--transform", "v2")),
    Row("npy 256", script="array_folder.py", view=f"npy+size={SMALL}"),
    Row("npy 256 v2", script="array_folder.py", view=f"npy+size={SMALL}", words=("--transform", "v2")),
    views_peers.FFCV_RAW,
)

READY = (
    Row("folder", words=("--transform", "validation")),
    Row("npy ready", script="array_folder.py", view=TENSORS, words=("--transform", "ready")),
    views_peers.FFCV_FIXED,
)


def _compared(rows, people, title):
    people = rows.able(people)
    if not people:
        return []
    Check(rows).views(people)
    return [table for workers in rows.args.workers for table in compare(rows, people, f"{title}, {workers} worker{'s' * (workers != 1)}", workers)]


def epoch(rows):
    """ImageFolder with RandomResizedCrop, flip, ToTensor, Normalize."""
    return _compared(rows, PIXELS + views_peers.AUGMENTED, "epoch")


def npy(rows):
    """DatasetFolder with np.load, and the same augmentation on the array."""
    return _compared(rows, ARRAYS, "npy, augmented")


def ready(rows):
    """Arrays that are the tensors already and need no augmentation, beside the validation transform on the JPEGs."""
    return _compared(rows, READY, "npy, ready tensors")
