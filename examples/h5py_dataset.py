# SPDX-License-Identifier: Apache-2.0
"""h5py: a Dataset over one HDF5 file of decoded images, and a DataLoader whose workers share it. h5py 3.1 or newer."""

import argparse

import h5py
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()


class H5Dataset(torch.utils.data.Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")
        self.classes = self.file["classes"].asstr()[:]

    def __len__(self):
        return len(self.file["labels"])

    def __getitem__(self, i):
        return torch.from_numpy(self.file["images"][i]).permute(2, 0, 1).float() / 255, int(self.file["labels"][i])


torch.manual_seed(42)
dataset = H5Dataset(f"{args.data}/.augur/views/h5+size=64x64/all.h5")
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
