# SPDX-License-Identifier: Apache-2.0
"""PyTorch on several processes: torchrun --nproc-per-node=2 pytorch_ddp.py --data FOLDER. Each rank reads its part of every epoch."""

import argparse

import torch
import torch.distributed
import torchvision
from torch.utils.data import DataLoader, DistributedSampler
from torchvision import transforms

EPOCHS = 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    args = parser.parse_args()
    torch.distributed.init_process_group("gloo")
    transform = transforms.Compose([transforms.Resize(64), transforms.CenterCrop(64), transforms.ToTensor()])
    dataset = torchvision.datasets.ImageFolder(args.data, transform)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler, num_workers=1)
    layers = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 64 * 64, len(dataset.classes)))
    model = torch.nn.parallel.DistributedDataParallel(layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    seen = torch.zeros(1, dtype=torch.int64)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            seen += len(images)
    torch.distributed.all_reduce(seen)
    if torch.distributed.get_rank() == 0:
        print(f"trained on {seen.item()} images of {len(dataset.classes)} classes")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
