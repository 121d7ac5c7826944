#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Views beside the folder of JPEGs, and beside other libraries. bench/README.md says how each is measured.

    bench/views.py epoch|npy|ready|decoded|tensorflow|native|memory|all [options]

Tables go to standard output, or one JSON object with --json; what is being done goes to standard error. Needs root, because all of
it starts with cold caches. Whatever happens, nothing stays mounted and the working folder is removed.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402
from views_decoded import decoded  # noqa: E402
from views_epoch import epoch, npy, ready  # noqa: E402
from views_memory import memory  # noqa: E402
from views_native import native  # noqa: E402
from views_row import Rows  # noqa: E402
from views_tensorflow import tensorflow  # noqa: E402

WHAT = {"epoch": epoch, "npy": npy, "ready": ready, "decoded": decoded, "tensorflow": tensorflow, "native": native, "memory": memory}
# Enough to see that all works, and nothing else.
TINY = {"files": 40, "rounds": 1, "epochs": 2, "workers": [1], "large": 2, "megapixels": 6, "no_touch": True, "keep_caches": True}


def numbers(text):
    return [int(part) for part in text.split(",")]


def names(text):
    return text.split(",")


def half_of_memory():
    """What -o memory= is told: "hot" means that what was decoded fits. The default is an eighth."""
    with open("/proc/meminfo", encoding="ascii") as file:
        return f"{int(file.readline().split()[1]) // 2048}M"


def arguments():
    parser = argparse.ArgumentParser(description="Views beside the folder of JPEGs, and beside other libraries.")
    parser.add_argument("what", nargs="+", choices=[*WHAT, "all"])
    parser.add_argument("--tree", metavar="DIR", help="a folder of RGB or grey JPEGs to use, a folder a class; without it one is made")
    parser.add_argument("--files", type=int, default=6_000, metavar="N", help="photographs of the one that is made (6000: 0.7 GB, 4.5 GB decoded)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="(5)")
    parser.add_argument("--epochs", type=int, default=3, metavar="N", help="of a row: the first is cold, the others are hot (3)")
    parser.add_argument("--workers", type=numbers, default=[1, 2], metavar="N,N", help="worker processes, or threads of others (1,2)")
    parser.add_argument("--memory", default=half_of_memory(), metavar="SIZE", help="-o memory= of a mount (half of the machine's)")
    parser.add_argument("--only", type=names, metavar="NAME,NAME", help="rows beside the first one; their names are those of the tables")
    parser.add_argument("--large", type=int, default=6, metavar="N", help="large images, for memory (6)")
    parser.add_argument("--megapixels", type=float, default=40, metavar="N", help="of each of them (40)")
    parser.add_argument("--work", metavar="DIR", help="where to work: a disk that deserves to be measured (the system's temporary folder)")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the python3 that has torchvision and others")
    parser.add_argument("--python-of", action="append", default=[], metavar="MODULE=PROGRAM", help="another one for ffcv, streaming, ...")
    parser.add_argument("--no-check", action="store_true", help="do not compare the pixels first")
    parser.add_argument("--keep-caches", action="store_true", help="never drop the caches: nothing is cold then, and no root is needed for it")
    parser.add_argument("--no-touch", action="store_true", help="do not touch the memory first")
    parser.add_argument("--tiny", action="store_true", help="other defaults: so little that no figure means anything")
    parser.add_argument("--json", action="store_true")
    if parser.parse_args().tiny:
        parser.set_defaults(**TINY)
    args = parser.parse_args()
    if args.epochs < 2:
        parser.error("--epochs: at least 2, the first is cold")
    args.python_of = dict(pair.split("=", 1) for pair in args.python_of)
    return args


def main():
    args = arguments()
    measure.clean_up_when_told_to_end()
    if not measure.is_root() and not args.keep_caches:
        sys.exit("views.py: needs root, to drop the caches")
    measure.run_scenarios(args, "views", WHAT, Rows)


if __name__ == "__main__":
    main()
