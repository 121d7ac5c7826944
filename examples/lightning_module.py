# SPDX-License-Identifier: Apache-2.0
"""Lightning: a module, a trainer, and the DataLoader of PyTorch."""

import argparse

import lightning
import torch
import torchvision
from torchvision import transforms


class Classifier(lightning.LightningModule):
    def __init__(self, classes):
        super().__init__()
        self.model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 64 * 64, classes))
        self.seen = 0

    def training_step(self, batch, _index):
        images, labels = batch
        self.seen += len(images)
        return torch.nn.functional.cross_entropy(self.model(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    args = parser.parse_args()
    lightning.seed_everything(42)
    transform = transforms.Compose([transforms.Resize(64), transforms.CenterCrop(64), transforms.ToTensor()])
    dataset = torchvision.datasets.ImageFolder(args.data, transform)
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2)
    model = Classifier(len(dataset.classes))
    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(model, loader)
    print(f"trained on {model.seen} images of {len(dataset.classes)} classes")


if __name__ == "__main__":
    main()
