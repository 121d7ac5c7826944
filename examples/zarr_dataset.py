# SPDX-License-Identifier: Apache-2.0
"""Zarr: a Dataset over a group of decoded images, and a DataLoader with workers."""

import argparse

import torch
import zarr

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()


class ZarrDataset(torch.utils.data.Dataset):
    def __init__(self, path):
        group = zarr.open_group(path, mode="r")
        self.images = group["images"]
        self.labels = torch.from_numpy(group["labels"][:])
        self.classes = group["labels"].attrs["classes"]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]).permute(2, 0, 1).float() / 255, self.labels[i]


torch.manual_seed(42)
dataset = ZarrDataset(f"{args.data}/.augur/views/zarr+size=64x64/all.zarr")
loader = torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2)
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 64 * 64, len(dataset.classes)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
seen = 0
for images, labels in loader:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
    seen += len(images)
print(f"trained on {seen} images of {len(dataset.classes)} classes")
