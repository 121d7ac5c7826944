# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer, on one device or with DDP over two processes."""

import argparse
import logging
import os
import warnings

import lightning
import torch
from reading import BATCH, EPOCHS, Pace, folder, say
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--devices", type=int, default=1)
parser.add_argument("--seed", type=int)
args = parser.parse_args()


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.pace, self.epochs = Pace(), []

    def on_train_epoch_start(self):
        self.pace.begin()

    def training_step(self, batch, _):
        self.pace.step(len(batch[0]))
        return self.layer(batch[0].float().unsqueeze(1) / 1e6).mean()

    def on_train_epoch_end(self):
        self.epochs.append(self.pace.samples)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-9)


warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
if args.seed is not None:
    lightning.seed_everything(args.seed, verbose=False)
model = Model()
loader = DataLoader(folder(args.root), BATCH, shuffle=True, num_workers=2)
trainer = lightning.Trainer(accelerator="cpu", devices=args.devices, strategy="ddp" if args.devices > 1 else "auto", max_epochs=EPOCHS, logger=False,
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, default_root_dir=os.environ["TMPDIR"])
trainer.fit(model, loader)
say(model.epochs)
