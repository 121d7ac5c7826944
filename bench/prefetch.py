#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it is worth to know what comes: the mount with an order given, or without, beside the folder, images, and the disk itself.
bench/README.md says how each is measured.

    bench/prefetch.py cold|listing|throttle|unseeded|paced|unknown|cpu|loader|all [options]

Tables go to standard output, or one JSON object with --json; what is being done goes to standard error. Needs root, because all of
it starts with cold caches. Whatever happens, nothing stays mounted and the working folder is removed.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402
from prefetch_cold import cold, listing  # noqa: E402
from prefetch_loader import loader  # noqa: E402
from prefetch_throttle import throttle  # noqa: E402
from prefetch_unseeded import unseeded  # noqa: E402
from prefetch_window import cpu, paced, unknown  # noqa: E402

WHAT = {"cold": cold, "listing": listing, "throttle": throttle, "unseeded": unseeded, "paced": paced, "unknown": unknown, "cpu": cpu, "loader": loader}
ON_SLOW_DISK = ("augurfs", "squashfs", "erofs")


def numbers(text):
    return [int(part) for part in text.split(",")]


def throttles(text):
    """"3000x125,150x150" as [(3000, 125), (150, 150)]."""
    return [tuple(int(part) for part in pair.split("x")) for pair in text.split(",")]


def on_slow_disk(text):
    """Names of those whose reads and memory a group can hold."""
    names = text.split(",")
    if unknown := set(names) - set(ON_SLOW_DISK):
        raise argparse.ArgumentTypeError(f"not one of {', '.join(ON_SLOW_DISK)}: {', '.join(unknown)}")
    return names


def arguments():
    parser = argparse.ArgumentParser(description="What it is worth to know what comes.")
    parser.add_argument("what", nargs="+", choices=[*WHAT, "all"])
    parser.add_argument("--tree", metavar="DIR", help="an image folder to use; without it one is made")
    parser.add_argument("--files", type=int, default=12_000, metavar="N", help="photographs of the one that is made (12000: 1.3 GB)")
    parser.add_argument("--threads", type=numbers, default=[1, 8, 16], metavar="N,N", help="reader threads, for cold and listing (1,8,16)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="(5)")
    parser.add_argument("--disk-seconds", type=float, default=2, metavar="S", help="length of a measurement of the disk (2)")
    parser.add_argument("--throttles", type=throttles, default=[(3000, 125), (150, 150)], metavar="IOPSxMB,...", help="slow disks (3000x125,150x150)")
    parser.add_argument("--throttle-files", type=int, default=4000, metavar="N", help="read only so many files of the tree, for throttle (4000)")
    parser.add_argument("--only", type=on_slow_disk, default=[*ON_SLOW_DISK], metavar="NAME,NAME", help="beside the folder, on a slow disk")
    parser.add_argument("--pace-part", type=float, default=0.5, metavar="PART", help="of the disk's speed, for paced (0.5)")
    parser.add_argument("--pace-fallback", type=float, default=100, metavar="MB/S", help="the disk's speed where fio cannot tell it (100)")
    parser.add_argument("--arrays", type=int, default=8_000, metavar="N", help="npy files for loader (8000: 1.2 GB)")
    parser.add_argument("--work", metavar="DIR", help="where to work: a disk that deserves to be measured (the system's temporary folder)")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the python3 that has torchvision, for loader and unseeded")
    parser.add_argument("--no-touch", action="store_true", help="do not touch the memory first")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    args = arguments()
    measure.clean_up_when_told_to_end()
    if not measure.is_root():
        sys.exit("prefetch.py: needs root, to drop the caches")
    measure.run_scenarios(args, "prefetch", WHAT)


if __name__ == "__main__":
    main()
