# SPDX-License-Identifier: Apache-2.0
"""PyTorch: torchvision's ImageFolder and a DataLoader with workers."""

import argparse

import torch
import torchvision
from torchvision import transforms

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()

torch.manual_seed(42)
transform = transforms.Compose([transforms.Resize(64), transforms.CenterCrop(64), transforms.ToTensor()])
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
