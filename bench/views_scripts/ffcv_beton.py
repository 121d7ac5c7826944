# SPDX-License-Identifier: Apache-2.0
"""FFCV: a .beton of raw pixels or of JPEG, at most 512 pixels a side, by threads, one a processor at most, as numba wants.
Its loops are compiled by numba, by a pass before the clock starts; --cold drops the caches after it."""

import gc
import os

import clock
import numpy
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import CenterCropRGBImageDecoder, IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from torchvision.datasets import ImageFolder
from transforms_free import MEAN, SIDE, STD

parser = clock.parser(__doc__)
parser.add_argument("--field", choices=["raw", "jpg"], default="raw", help="of --make")
parser.add_argument("--crop", choices=["random", "center"], default="random")
parser.add_argument("--cold", action="store_true", help="drop the caches before the first epoch (root)")
args = parser.parse_args()

if args.make:
    with clock.quiet_stdout():
        writer = DatasetWriter(args.root, {"image": RGBImageField(write_mode=args.field, max_resolution=512), "label": IntField()},
                               num_workers=len(os.sched_getaffinity(0)))
        writer.from_indexed_dataset(ImageFolder(args.make))
    raise SystemExit

normalize = NormalizeImage(255 * numpy.array(MEAN), 255 * numpy.array(STD), numpy.float32)
if args.crop == "random":
    image = [RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip(), normalize, ToTensor(), ToTorchImage()]
else:
    image = [CenterCropRGBImageDecoder((SIDE, SIDE), ratio=SIDE / 256), normalize, ToTensor(), ToTorchImage()]
threads = min(max(1, args.workers), len(os.sched_getaffinity(0)))
loader = Loader(args.root, batch_size=clock.BATCH, num_workers=threads, order=OrderOption.RANDOM, os_cache=True, drop_last=False,
                pipelines={"image": image, "label": [IntDecoder(), ToTensor(), Squeeze(1)]})
with clock.quiet_stdout():
    for _ in loader:
        pass
if args.cold:
    gc.collect()  # the file's mapping goes, so its pages can
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3\n")
clock.of_loader(loader, args.epochs)
