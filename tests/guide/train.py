# SPDX-License-Identifier: Apache-2.0
"""A training script as people have it: one epoch over an image folder."""

import argparse

import torch
import torchvision

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()

torch.manual_seed(42)
transform = torchvision.transforms.Compose([
    torchvision.transforms.Resize(64), torchvision.transforms.CenterCrop(64), torchvision.transforms.ToTensor()])
dataset = torchvision.datasets.ImageFolder(args.data, transform)
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
