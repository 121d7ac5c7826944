#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a mount gains a training script: one table, the plain folder beside the mount, a row a situation.

    bench/gains.py [--quick] [--rounds N] TREE STORE WORK

TREE is a folder of photographs in ImageNet's layout, STORE is packed from it, WORK is an empty place on the same disk. The script
is torchvision's ImageFolder, shuffled with torch.manual_seed(42), and is the same for both. A row that cannot run here is named
with the reason. --quick leaves the two slow disks out, and takes a minute.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys

import gains_rows
import imagefolder_epoch
import measure
import mounts


class Bench:
    """What the rows share: the tree, its store, and how a script is run on either."""

    def __init__(self, args):
        self.tree, self.store, self.work, self.rounds = args.tree, args.store, args.work, args.rounds
        self._log = os.path.join(args.work, "log")

    def rates(self, place, script, workers, epochs, words=(), prefix=()):
        """[samples/s, ...], one an epoch, of a script of views_scripts/ in a process of its own."""
        path = mounts.ROOT / "bench" / "views_scripts" / script
        said = mounts.run(*prefix, sys.executable, path, place, "--workers", workers, "--epochs", epochs, *words)
        return [epoch["samples"] / epoch["seconds"] for epoch in json.loads(said.splitlines()[-1])["epochs"]]

    @contextlib.contextmanager
    def mounted(self, *options, prefix=()):
        """The mount point of a new mount whose daemon knows nothing of earlier ones."""
        point = os.path.join(self.work, "mount")
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._log)
        with mounts.augurfs(self.store, point, f"log={self._log}", *options, prefix=prefix):
            yield point

    def log(self):
        """The lines of the last mount's log."""
        return pathlib.Path(self._log).read_text(encoding="utf-8", errors="replace").splitlines()


def machine():
    """The processor, its cores and the kernel, in a line."""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "an unnamed processor")
    memory_gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{model}, {len(os.sched_getaffinity(0))} cores, {memory_gib:.0f} GiB, Linux {os.uname().release}"


def print_table(gains):
    """The rows, aligned."""
    head = ("", "folder", "mount", "mount / folder", "order of the reads")
    rows = [head]
    for gain in gains:
        folder, mount = statistics.median(gain.folder), statistics.median(gain.mount)
        rows.append((gain.what, f"{folder:,.0f}", f"{mount:,.0f}", f"{mount / folder:.2f}", gain.order))
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]), *(row[place].rjust(widths[place]) for place in (1, 2, 3)), row[4]]).rstrip())


def main():
    parser = argparse.ArgumentParser(description="What a mount gains a training script, in one table.")
    parser.add_argument("tree", metavar="TREE")
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("work", metavar="WORK")
    parser.add_argument("--quick", action="store_true", help="without the slow disks: a minute")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="measure so many times; the median counts (1)")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    bench = Bench(args)
    with bench.mounted() as point:
        count = imagefolder_epoch.check({"folder": args.tree, "mount": point}, workers=imagefolder_epoch.workers_that_fit(2))
    measure.say(f"All {count:,} samples and labels from the mount are those of the folder, compared by a hash of their pixels.")
    gains, left_out = [], []
    for row in gains_rows.ROWS:
        why_not = "left out by --quick" if args.quick and row.slow else row.why_not(bench)
        if why_not:
            left_out.append(f"{row.what}: {why_not}")
            continue
        measure.say(f"measuring: {row.what}")
        gains.append(row.measure(bench))
    print(f"\nPhotographs (files, when listing) per second. More than 1 in the third column: the mount is faster.\n{machine()}\n")
    print_table(gains)
    for line in left_out:
        print(f"not measured: {line}")


if __name__ == "__main__":
    main()
