#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One dataset in many storages: real files beside views of one store, by the time that a script waits for a batch of 32.

    PYTHONPATH=$(packaging/venv.sh formats) bench/formats.py all [options]
    bench/formats.py imagefolder|h5|zarr|zarr-chunk|npy|pt
    bench/formats.py tfrecord|dali-tfrecord|dali|webdataset|streaming|ffcv|adopted

The storages are those of a published comparison: torchvision's ImageFolder, HDF5 by h5py, Zarr an image at a time and 64 at a time, .npy,
.pt. Images are resized to 256 and cropped to 224, as bytes. Each storage has three rows:

- files: real files on the file system of --work, written by the storage's own library (views_scripts/stored_arrays.py --make).
- view: the same path in a view of the store of photographs. A cold view decodes.
- packed: those files, packed into a store as they are, and mounted. Nothing is decoded. ImageFolder has no such row.

Before anything is timed all samples and labels of the three are compared. The script is a DataLoader with shuffle=True after
manual_seed(42), so that its order can be found. It runs in a process of its own, with a mount of its own, whose daemon knows no earlier
run. The first epoch is cold, the median of the later ones is hot. Cold here takes the pages of the compared files alone out of the page
cache, by posix_fadvise, and the mount is new. Names and inodes of real files stay known, which favours them. Figures are samples a second, and
ratios to the files in the same round; a batch takes 32 by that.

tfrecord, dali-tfrecord, dali, webdataset and streaming read the photographs' own files in the container of that library, by its usual reader,
which decodes: real files with the bytes of the view, and the view. ffcv is beside ImageFolder, where it is installed.

adopted: a Parquet file as datasets of Hugging Face writes it, a TFRecord file and an LMDB database. All images of the mount of the adopted
file are read whole in the order of the file, by one thread, cold; beside it that file, from end to end in pieces of 1 MiB. "packed" is the
store of the photographs, "folder" the photographs themselves, read in the same way.

Tables go to standard output, or one JSON object with --json; what is being done goes to standard error. Needs root, to mount. Whatever
happens, nothing stays mounted and the working folder is removed.
"""

import argparse
import functools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402
from formats_adopted import adopted  # noqa: E402
from formats_rows import PEERS, STORAGES, FormatRows, ffcv, peer, storage  # noqa: E402
from views import add_arguments, parsed  # noqa: E402

WHAT = {**{name: functools.partial(storage, name) for name in STORAGES}, **{name: functools.partial(peer, name) for name in PEERS},
        "ffcv": ffcv, "adopted": adopted}
# Enough to see that all works, and nothing else.
TINY = {"files": 40, "rounds": 1, "epochs": 2, "workers": [0], "no_touch": True, "memory": "512M"}


def arguments():
    parser = argparse.ArgumentParser(description="One dataset in many storages: real files beside views of one store.")
    add_arguments(parser, WHAT, files=2_000, rounds=3, workers=[0, 1, 4], memory="4G")
    args = parsed(parser, TINY)
    args.keep_caches = False
    return args


def main():
    args = arguments()
    measure.clean_up_when_told_to_end()
    measure.run_scenarios(args, "formats", WHAT, FormatRows)


if __name__ == "__main__":
    main()
