# SPDX-License-Identifier: Apache-2.0
"""MosaicML Streaming: a StreamingDataset over a folder of shards, and its DataLoader with workers."""

import argparse

import streaming
import torch
from torchvision import transforms

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()
transform = transforms.Compose([transforms.Resize(64), transforms.CenterCrop(64), transforms.ToTensor()])


class Images(streaming.StreamingDataset):
    def __getitem__(self, i):
        sample = super().__getitem__(i)
        return transform(sample["image"].convert("RGB")), sample["label"]


if __name__ == "__main__":
    dataset = Images(local=f"{args.data}/.augur/views/mds+shards=4/all.mds", remote=None, batch_size=8, shuffle=True, shuffle_seed=42)
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, num_workers=2)
    seen, classes = 0, set()
    for images, labels in loader:
        seen += len(images)
        classes.update(labels.tolist())
    print(f"read {seen} images of {len(classes)} classes")
