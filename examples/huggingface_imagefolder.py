# SPDX-License-Identifier: Apache-2.0
"""Hugging Face datasets: the loader `imagefolder`, which takes the labels from the folders. Its cache is not beside the data."""

import argparse

import datasets
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()

images = datasets.load_dataset("imagefolder", data_dir=args.data, split="train")
seen = 0
for sample in images.shuffle(seed=42):
    seen += np.asarray(sample["image"].convert("RGB")).ndim == 3
print(f"read {seen} images of {images.features['label'].num_classes} classes")
