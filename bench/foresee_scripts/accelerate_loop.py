# SPDX-License-Identifier: Apache-2.0
"""Hugging Face accelerate: a loop over a prepared loader, in one process or in those that torchrun has started."""

import argparse

import accelerate
import torch
from reading import BATCH, EPOCHS, folder, say, use_up
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--seed", type=int)
args = parser.parse_args()

accelerator = accelerate.Accelerator(cpu=True)
if args.seed is not None:
    accelerate.utils.set_seed(args.seed)
loader = accelerator.prepare(DataLoader(folder(args.root), BATCH, shuffle=True, num_workers=2))
epochs = []
for _ in range(EPOCHS):
    epochs.append(use_up(loader, after_step=lambda: accelerator.reduce(torch.zeros(1))))
say(epochs)
accelerator.end_training()
