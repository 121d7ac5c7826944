# SPDX-License-Identifier: Apache-2.0
"""torchdata's StatefulDataLoader."""

import argparse

import torch
from reading import BATCH, EPOCHS, folder, say, use_up
from torchdata.stateful_dataloader import StatefulDataLoader

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--seed", type=int)
parser.add_argument("--workers", type=int, default=2)
args = parser.parse_args()

if args.seed is not None:
    torch.manual_seed(args.seed)
loader = StatefulDataLoader(folder(args.root), BATCH, shuffle=True, num_workers=args.workers)
say([use_up(loader) for _ in range(EPOCHS)])
