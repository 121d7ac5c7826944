# SPDX-License-Identifier: Apache-2.0
"""torchvision's ImageFolder and DataLoader(shuffle=True)."""

import argparse

import torch
from reading import BATCH, EPOCHS, folder, say, use_up
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--seed", type=int)
parser.add_argument("--model", action="store_true", help="build a resnet18 before the loader draws")
parser.add_argument("--generator", type=int, metavar="SEED")
parser.add_argument("--persistent", action="store_true")
parser.add_argument("--work", type=int, default=0, metavar="TIMES", help="hash each file so many times")
parser.add_argument("--decode", action="store_true", help="decode each file, in place of hashing it")
args = parser.parse_args()

if args.seed is not None:
    torch.manual_seed(args.seed)
if args.model:
    from torchvision.models import resnet18

    resnet18()
generator = None if args.generator is None else torch.Generator().manual_seed(args.generator)
loader = DataLoader(folder(args.root, args.work, args.decode), BATCH, shuffle=True, num_workers=args.workers, generator=generator, persistent_workers=args.persistent)
say([use_up(loader) for _ in range(EPOCHS)])
