# SPDX-License-Identifier: Apache-2.0
"""MosaicML Streaming: MDS shards of JPEG on the local disk, shuffled, decoded by Pillow."""

import pathlib

import clock
import torch
from PIL import Image
from streaming import MDSWriter, StreamingDataset
from torch.utils.data import DataLoader
from transforms_used import TRAINING


class Photographs(StreamingDataset):
    """Samples as pairs, as torchvision's are."""

    def __getitem__(self, index):
        sample = super().__getitem__(index)
        return TRAINING(sample["image"].convert("RGB")), sample["label"]


def make(tree, root):
    """An image that was opened from a JPEG file is stored as the file's bytes."""
    with MDSWriter(out=root, columns={"image": "jpeg", "label": "int"}) as writer:
        for label, folder in enumerate(sorted(path for path in pathlib.Path(tree).iterdir() if path.is_dir())):
            for path in sorted(folder.iterdir()):
                with Image.open(path) as image:
                    writer.write({"image": image, "label": label})


def main():
    args = clock.parser(__doc__).parse_args()
    if args.make:
        make(args.make, args.root)
        return
    torch.set_num_threads(1)
    with clock.quiet_stdout():
        data = Photographs(local=args.root, shuffle=True, batch_size=clock.BATCH)
    clock.of_loader(DataLoader(data, batch_size=clock.BATCH, num_workers=args.workers), args.epochs)


if __name__ == "__main__":
    main()
