# SPDX-License-Identifier: Apache-2.0
"""torchvision's DatasetFolder over .npy files with np.load: augmented as an image, by v2 as a tensor, or taken as it is (ready)."""

import time

import clock
import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision.datasets import DatasetFolder
from transforms_used import TRAINING

parser = clock.parser(__doc__)
parser.add_argument("--transform", choices=["image", "v2", "ready"], default="image")
parser.add_argument("--seed", type=int)
args = parser.parse_args()
torch.set_num_threads(1)
if args.seed is not None:
    torch.manual_seed(args.seed)

if args.transform == "v2":
    from transforms_v2 import ON_TENSOR

    def use(array):
        return ON_TENSOR(torch.from_numpy(array).permute(2, 0, 1))
else:
    use = {"image": lambda array: TRAINING(Image.fromarray(array)), "ready": torch.from_numpy}[args.transform]
start = time.perf_counter()
data = DatasetFolder(args.root, numpy.load, extensions=(".npy",), transform=use)
scan_s = time.perf_counter() - start
clock.of_loader(DataLoader(data, batch_size=clock.BATCH, shuffle=True, num_workers=args.workers), args.epochs, scan_s=scan_s)
