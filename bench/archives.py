#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What foresight gains a script that reads samples of the archives of a view at random, cold.

    bench/archives.py --work /somewhere/on/ext4 [--view SPEC] [--rounds N] [--workers 0,2] [--python V/bin/python] [--store STORE] [--json]
    # as root

Each round mounts the store anew for each contender, in turn, there and back again, and runs archive_epoch.py for one epoch: a DataLoader
that takes one member of a tar file a sample, or one image of an HDF5 file by h5py (--view h5+size=256+crop=224), shuffled with seed 42. No
hint is given. Before each run the pages of the files that it reads are dropped, and no others (posix_fadvise). The index of the samples is
made beforehand, by a mount of its own. Samples a second:

    file        the same archives as real files, beside the store
    off         predict=off: the daemon reads and makes a sample when it is asked for
    foreseen    the mount's defaults: the order is found on the way

--store reads a store that is there; else --files photographs are made and packed. A second table has what the daemons read of the disk,
for each byte of the records, so that it is seen whether foresight reads more.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402
import mounts  # noqa: E402
from measure import Report, Table, say  # noqa: E402

COUNT = "import h5py, sys; print(len(h5py.File(sys.argv[1])['images']))"
SCRIPT = pathlib.Path(__file__).resolve().with_name("archive_epoch.py")
CONTENDERS = {"file": None, "off": ["predict=off"], "foreseen": []}
ENDINGS = (".tar", ".h5")


def drop_pages(folder):
    """The pages of the folder's files, of no others."""
    for where, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError), open(os.path.join(where, name), "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Bench:
    def __init__(self, args, work, store):
        self.args, self.store = args, store
        self.point = os.path.join(work, "mount")
        self.folder = os.path.join(self.point, ".augur", "views", args.view)
        self.files = os.path.join(work, "files")
        self.index = os.path.join(work, "index.json")
        self.bytes = 0

    def prepare(self):
        """Writes the archives as files, and their index."""
        os.mkdir(self.files)
        with mounts.augurfs(self.store, self.point, "predict=off"):
            for name in sorted(os.listdir(self.folder)):
                if name.startswith((f"{self.args.part}-", f"{self.args.part}.")) and name.endswith(ENDINGS):
                    shutil.copyfile(os.path.join(self.folder, name), os.path.join(self.files, name))
            records = self.point if self.args.part == "all" else os.path.join(self.point, self.args.part)
            for where, folders, names in os.walk(records):
                folders[:] = [name for name in folders if name != ".augur"]
                self.bytes += sum(os.stat(os.path.join(where, name)).st_size for name in names)
        samples = []
        for name in sorted(os.listdir(self.files)):
            path = os.path.join(self.files, name)
            if name.endswith(".h5"):
                samples += [[name, number] for number in range(int(mounts.run(self.args.python, "-c", COUNT, path)))]
                continue
            with tarfile.open(path, "r:") as archive:
                samples += [[name, one.offset_data, one.size] for one in archive if not one.name.endswith(".cls")]
        with open(self.index, "w", encoding="utf-8") as file:
            json.dump(samples, file)
        say(f"{len(samples):,} samples of {self.bytes / 1e6:,.0f} MB")

    def epoch(self, options, workers):
        """(samples a second, bytes of the disk for each byte of the records, orders found). options: None, the files are read."""
        words = ["--workers", workers, "--hashes", self.args.hashes, "--rate", self.args.rate]
        if options is None:
            drop_pages(self.files)
            said = json.loads(mounts.run(self.args.python, SCRIPT, self.index, self.files, *words))
            return said["samples"] / said["seconds"], None, 0
        drop_pages(self.store)
        with mounts.augurfs(self.store, self.point, *options, *self.args.option):
            said = json.loads(mounts.run(self.args.python, SCRIPT, self.index, self.folder, *words))
            counters = mounts.statistics(self.point)["counters"]
        return said["samples"] / said["seconds"], counters["disk_bytes"] / self.bytes, counters["orders_found"]


def tables(args, bench):
    """A table for each number of workers, and what the daemons have read."""
    read = Table("bytes of the disk for each byte of the records", "times")
    for workers in args.workers:
        table = Table(f"{args.view}: samples at random, cold, {workers} workers", "samples/s", "off")
        for number in range(args.rounds):
            for name in measure.in_turn(CONTENDERS, number):
                rate, times, found = bench.epoch(CONTENDERS[name], workers)
                table.add(name, rate)
                if times is None:
                    say(f"{workers} workers, {name}: {rate:,.0f} samples/s")
                    continue
                say(f"{workers} workers, {name}: {rate:,.0f} samples/s, {times:.2f} times the bytes, {found} orders found")
                read.add(f"{name}, {workers} workers", times)
        yield table
    yield read


def main():
    measure.clean_up_when_told_to_end()
    parser = argparse.ArgumentParser(description="Samples of archives at random, cold: foreseen, and not.")
    parser.add_argument("--work", required=True, metavar="FOLDER", help="an empty place on the disk to measure")
    parser.add_argument("--store", metavar="STORE", help="a store with images in classes (made of photographs)")
    parser.add_argument("--files", type=int, default=6000, metavar="N", help="photographs to make (6000)")
    parser.add_argument("--part", default="all", metavar="NAME", help="the folder whose archives are read (all)")
    parser.add_argument("--view", default="tar", metavar="SPEC", help="the view, with tar or HDF5 files (tar)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds (5)")
    parser.add_argument("--workers", type=lambda text: [int(part) for part in text.split(",")], default=[0, 2], metavar="N,N", help="(0,2)")
    parser.add_argument("--hashes", type=int, default=1, metavar="N", help="how often each sample is hashed (1)")
    parser.add_argument("--rate", type=float, default=0, metavar="N", help="no more samples a second, as a training step takes its time")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="a Python with torch, and with h5py for h5")
    parser.add_argument("--option", action="append", default=[], metavar="OPTION", help="an -o option of both mounts; may be given again")
    parser.add_argument("--json", action="store_true", help="every round, as JSON")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds: one at least")
    with tempfile.TemporaryDirectory(prefix="augur-archives.", dir=args.work) as work:
        store = args.store
        if store is None:
            tree, store = os.path.join(work, "tree"), os.path.join(work, "store")
            mounts.run("/usr/bin/python3" if os.path.exists("/usr/lib/python3/dist-packages/PIL") else sys.executable,
                       mounts.ROOT / "bench" / "dataset.py", "--files", args.files, tree)
            mounts.create_store(tree, store)
        bench = Bench(args, work, store)
        bench.prepare()
        report = Report(args.json)
        for table in tables(args, bench):
            report.add(table)
        report.end()


if __name__ == "__main__":
    main()
