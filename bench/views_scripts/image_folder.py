# SPDX-License-Identifier: Apache-2.0
"""The script that everybody has: torchvision's ImageFolder in a DataLoader, shuffled; no seed is set unless asked."""

import time

import clock
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from transforms_used import TRAINING, VALIDATION

parser = clock.parser(__doc__)
parser.add_argument("--transform", choices=["training", "validation", "v2"], default="training")
parser.add_argument("--seed", type=int)
args = parser.parse_args()
torch.set_num_threads(1)
if args.seed is not None:
    torch.manual_seed(args.seed)

if args.transform == "v2":
    from transforms_v2 import ON_IMAGE as transform
else:
    transform = {"training": TRAINING, "validation": VALIDATION}[args.transform]
start = time.perf_counter()
data = ImageFolder(args.root, transform)
scan_s = time.perf_counter() - start
clock.of_loader(DataLoader(data, batch_size=clock.BATCH, shuffle=True, num_workers=args.workers), args.epochs, scan_s=scan_s)
