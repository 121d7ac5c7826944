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


def add_arguments(parser, what, files, rounds, workers, memory):
    """Those of all comparisons of rows, with these defaults."""
    parser.add_argument("what", nargs="+", choices=[*what, "all"])
    parser.add_argument("--tree", metavar="DIR", help="a folder of RGB or grey JPEGs to use, a folder a class; without it one is made")
    parser.add_argument("--files", type=int, default=files, metavar="N", help=f"photographs of the one that is made ({files}: {files * 0.11e-3:.1f} GB)")
    parser.add_argument("--rounds", type=int, default=rounds, metavar="N", help=f"({rounds})")
    parser.add_argument("--epochs", type=int, default=3, metavar="N", help="of a row: the first is cold, the others are hot (3)")
    parser.add_argument("--workers", type=numbers, default=workers, metavar="N,N",
                        help=f"worker processes, or threads of others ({','.join(map(str, workers))})")
    parser.add_argument("--memory", default=memory, metavar="SIZE", help=f"-o memory= of a mount ({memory})")
    parser.add_argument("--only", type=names, metavar="NAME,NAME", help="rows beside the first one; their names are those of the tables")
    parser.add_argument("--work", metavar="DIR", help="where to work: a disk that deserves to be measured (the system's temporary folder)")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the python3 that has torchvision and others")
    parser.add_argument("--python-of", action="append", default=[], metavar="MODULE=PROGRAM", help="another one for ffcv, streaming, ...")
    parser.add_argument("--no-check", action="store_true", help="do not compare the samples first")
    parser.add_argument("--no-touch", action="store_true", help="do not touch the memory first")
    parser.add_argument("--tiny", action="store_true", help="other defaults: so little that no figure means anything")
    parser.add_argument("--json", action="store_true")


def parsed(parser, tiny):
    if parser.parse_args().tiny:
        parser.set_defaults(**tiny)
    args = parser.parse_args()
    if args.epochs < 2:
        parser.error("--epochs: at least 2, the first is cold")
    args.python_of = dict(pair.split("=", 1) for pair in args.python_of)
    return args


def arguments():
    parser = argparse.ArgumentParser(description="Views beside the folder of JPEGs, and beside other libraries.")
    add_arguments(parser, WHAT, files=6_000, rounds=5, workers=[1, 2], memory=half_of_memory())
    parser.add_argument("--large", type=int, default=6, metavar="N", help="large images, for memory (6)")
    parser.add_argument("--megapixels", type=float, default=40, metavar="N", help="of each of them (40)")
    parser.add_argument("--keep-caches", action="store_true", help="never drop the caches: nothing is cold then, and no root is needed for it")
    return parsed(parser, TINY)


def main():
    args = arguments()
    measure.clean_up_when_told_to_end()
    if not measure.is_root() and not args.keep_caches:
        sys.exit("views.py: needs root, to drop the caches")
    measure.run_scenarios(args, "views", WHAT, Rows)


if __name__ == "__main__":
    main()
