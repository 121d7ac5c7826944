# SPDX-License-Identifier: Apache-2.0
"""One dataset of 224x224 images in each of six storages, as the published comparison has them, by a shuffled DataLoader: torchvision's
ImageFolder, HDF5 by h5py, Zarr an image at a time, Zarr a chunk at a time, .npy and .pt. --make writes ROOT by the storage's own library."""

import hashlib
import json
import os
import pathlib
import random

import clock
import numpy
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from torchvision import transforms
from torchvision.datasets import DatasetFolder, ImageFolder

SIDE, CHUNK = 224, 64
STEPS = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(SIDE)])


class H5(Dataset):
    """Opened in each worker; the labels are read once."""

    def __init__(self, root):
        self.path, self.file = self.find(root), None
        self.labels = self.open()["labels"][:].tolist()

    @staticmethod
    def find(root):
        return os.path.join(root, "all.h5")

    def open(self):
        import h5py

        return h5py.File(self.path, "r")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        if self.file is None:
            self.file = self.open()
        return torch.from_numpy(self.file["images"][i]), self.labels[i]


class Zarr(H5):
    @staticmethod
    def find(root):
        return os.path.join(root, "all.zarr")

    def open(self):
        import zarr

        group = zarr.open_group(self.path, mode="r")
        return {name: group[name] for name in ("images", "labels")}


class ZarrByChunk(IterableDataset):
    """A chunk at a time, chunks and the images in each of them shuffled; a worker has every so many of the chunks."""

    def __init__(self, root):
        self.arrays, self.epoch = Zarr(root), 0

    def __iter__(self):
        worker = get_worker_info()
        images, labels = self.arrays.open()["images"], self.arrays.labels
        dice = random.Random(worker.seed - worker.id if worker else torch.initial_seed() + self.epoch)
        self.epoch += 1
        chunks = list(range(0, len(labels), CHUNK))
        dice.shuffle(chunks)
        for first in chunks[worker.id if worker else 0 :: worker.num_workers if worker else 1]:
            block = images[first : first + CHUNK]
            order = list(range(len(block)))
            dice.shuffle(order)
            for i in order:
                yield torch.from_numpy(block[i]), labels[first + i]


def array_folder(ending, load):
    return lambda root: DatasetFolder(root, load, extensions=(ending,))


def as_array(image):
    return torch.from_numpy(numpy.asarray(STEPS(image.convert("RGB"))))


STORAGES = {
    "imagefolder": lambda root: ImageFolder(root, as_array),
    "h5": H5,
    "zarr": Zarr,
    "zarr-chunk": ZarrByChunk,
    "npy": array_folder(".npy", lambda path: torch.from_numpy(numpy.load(path))),
    "pt": array_folder(".pt", torch.load),
}


def write_h5(root, images, labels):
    import h5py

    with h5py.File(os.path.join(root, "all.h5"), "w") as file:
        found = file.create_dataset("images", (len(labels), SIDE, SIDE, 3), "u1", chunks=(1, SIDE, SIDE, 3))
        for i, image in enumerate(images):
            found[i] = image
        file["labels"] = numpy.array(labels, "i8")


def write_zarr(root, images, labels, chunk):
    import zarr

    group = zarr.open_group(os.path.join(root, "all.zarr"), mode="w")
    shape = (SIDE, SIDE, 3)
    found = group.create_array("images", shape=(len(labels), *shape), dtype="u1", chunks=(chunk, *shape), compressors=None,
                               chunk_key_encoding={"name": "default", "separator": "."})
    block = []
    for i, image in enumerate(images):
        block.append(image)
        if len(block) == chunk or i + 1 == len(labels):
            found[i + 1 - len(block) : i + 1] = numpy.stack(block)
            block = []
    group.create_array("labels", data=numpy.array(labels, "i8"), chunks=(len(labels),), compressors=None)


def make(tree, root, storage):
    """ROOT, from the images of TREE in the order of ImageFolder."""
    folder = ImageFolder(tree, as_array)
    images = (image.numpy() for image, _ in DataLoader(folder, batch_size=None, num_workers=len(os.sched_getaffinity(0))))
    os.makedirs(root)
    if storage == "h5":
        return write_h5(root, images, folder.targets)
    if storage in ("zarr", "zarr-chunk"):
        return write_zarr(root, images, folder.targets, 1 if storage == "zarr" else CHUNK)
    for (path, _), image in zip(folder.samples, images):
        target = (pathlib.Path(root) / os.path.relpath(path, tree)).with_suffix("." + storage)
        target.parent.mkdir(exist_ok=True)
        if storage == "npy":
            numpy.save(target, image)
        else:
            torch.save(torch.from_numpy(image).permute(2, 0, 1).contiguous(), target)


def digest(data):
    """Of all samples, whatever order they come in."""
    found = sorted(f"{hashlib.sha256(image.numpy().tobytes()).hexdigest()} {label}" for image, label in data)
    return {"samples": len(found), "digest": hashlib.sha256("\n".join(found).encode()).hexdigest()}


def main():
    parser = clock.parser(__doc__)
    parser.add_argument("--storage", choices=STORAGES, required=True)
    parser.add_argument("--seed", type=int, default=42, help="of the order (42)")
    parser.add_argument("--digest", action="store_true", help="say what the samples and labels are, and measure nothing")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.make:
        make(args.make, args.root, args.storage)
        return
    data = STORAGES[args.storage](args.root)
    if args.digest:
        print(json.dumps(digest(DataLoader(data, batch_size=None))))
        return
    torch.manual_seed(args.seed)
    shuffle = not isinstance(data, IterableDataset)  # that one does it itself
    clock.of_loader(DataLoader(data, clock.BATCH, shuffle=shuffle, num_workers=args.workers), args.epochs)


if __name__ == "__main__":
    main()
