# SPDX-License-Identifier: Apache-2.0
"""timm: its dataset, its loader with the usual augmentation, and one of its models."""

import argparse

import timm
import timm.data
import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    args = parser.parse_args()
    torch.manual_seed(42)
    dataset = timm.data.create_dataset("", root=args.data)
    classes = len(dataset.reader.class_to_idx)
    loader = timm.data.create_loader(dataset, input_size=(3, 64, 64), batch_size=8, is_training=True, use_prefetcher=False,
                                     auto_augment="rand-m9-mstd0.5", num_workers=2)
    model = timm.create_model("resnet10t", num_classes=classes)
    optimizer = torch.optim.AdamW(model.parameters())
    seen = 0
    for images, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        seen += len(images)
    print(f"trained on {seen} images of {classes} classes")


if __name__ == "__main__":
    main()
