# SPDX-License-Identifier: Apache-2.0
"""np.load of all .npy files below a folder, in another random order each epoch; --make writes them, as Pillow and numpy.save do it."""

import os
import pathlib
import random

import clock
import numpy
from PIL import Image

parser = clock.parser(__doc__)
parser.add_argument("--steps", choices=["none", "validation"], default="none", help="of --make: as the image is, or Resize(256), CenterCrop(224)")
args = parser.parse_args()


def make(tree, root):
    if args.steps == "validation":
        from torchvision import transforms

        steps = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224)])
    for path in sorted(path for path in pathlib.Path(tree).rglob("*") if path.is_file()):
        with Image.open(path) as opened:
            image = opened.convert("RGB")
        target = (pathlib.Path(root) / path.relative_to(tree)).with_suffix(".npy")
        target.parent.mkdir(parents=True, exist_ok=True)
        numpy.save(target, numpy.asarray(steps(image) if args.steps == "validation" else image))


if args.make:
    make(args.make, args.root)
    raise SystemExit
paths = sorted(os.path.join(where, name) for where, _, names in os.walk(args.root) for name in names if name.endswith(".npy"))
dice = random.Random(0)


def epoch():
    dice.shuffle(paths)
    for path in paths:
        numpy.load(path)
    return len(paths)


clock.run(epoch, args.epochs)
