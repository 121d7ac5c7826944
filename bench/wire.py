#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a request costs: the mount over /dev/fuse and over FUSE over io_uring, beside the folder and EROFS.

    bench/wire.py all --work /somewhere/on/ext4 [--python V/bin/python] [--quick]         # as root

Tables, each a figure a round for all contenders in turn, there and back again; what wire_reader.py reads is in its head:

    isatty      an ioctl on an open file
    look-up     stat of each file, after the kernel has forgotten names and inodes (drop_caches 2): a LOOKUP each
    open-read   Python's open().read(), all in the page cache: one ioctl each up to Python 3.12
    np.load     the same of the arrays of view npy; beside them the same bytes as files
    cold        READs that the daemon answers from its memory, by 1, 4 and 16 threads (readfiles): all records are in the retained cache,
                push=off, and drop_caches 3 before. Folder and EROFS would read their disk here, so the base is /dev/fuse
    images      images of an HDF5 file by h5py, in shuffled order: of a copy of the file, and of view h5, from the page cache and from
                the daemon's memory. Images in archives are not pushed: the last two tell what that costs

The mounts have restart=no. FUSE over io_uring is switched on for the run, and put back. --python needs numpy and
h5py, or np.load and images are left out.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import contenders  # noqa: E402
import measure  # noqa: E402
import mounts  # noqa: E402

READER = pathlib.Path(__file__).resolve().with_name("wire_reader.py")
THREADS = (1, 4, 16)


class OverDevice(contenders.AugurFS):
    """The store, mounted over /dev/fuse."""

    name = "augurfs dev"
    transport = "transport=dev"

    def __init__(self, tree, work):
        super().__init__(tree, work)
        self.path = os.path.join(self.work, contenders.AugurFS.name)

    @contextlib.contextmanager
    def mounted(self, *options):
        with mounts.augurfs(self.path, self.point, self.transport, *options) as self.daemon:
            yield self.point


class OverUring(OverDevice):
    """The same store, mounted over FUSE over io_uring."""

    name = "augurfs uring"
    transport = "transport=uring"


def forget_names():
    """Names and inodes of the whole machine; the page cache stays."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("2\n", encoding="ascii")


def read(args, what, folder, count):
    return float(mounts.run(args.python, READER, what, folder, count))


def peers(args, tree, work):
    """Folder, EROFS and the mount over both transports; what cannot run here is named and left out."""
    found = []
    for kind in (contenders.Folder, contenders.Erofs, OverDevice, OverUring):
        one = kind(tree, work)
        if why_not := one.missing():
            measure.say(f"left out: {one.name}: {why_not}")
            continue
        one.prepare()
        found.append(one)
    return found


def small_requests(args):
    """isatty, look-ups and open().read(): one mount of each contender a round has all three."""
    people = peers(args, args.tree, args.work)
    base = people[0].name
    tables = {what: measure.Table(title, unit, base)
              for what, title, unit in (("isatty", "isatty", "us"), ("stat", "look-up of a cold name", "us"),
                                        ("read", "open().read() in Python, page cache hot", "files/s"))}
    paths = os.path.join(args.work, "paths")
    for number in range(args.rounds):
        for one in measure.in_turn(people, number):
            with one.mounted() as folder:
                figures = {"read": read(args, "read", folder, args.passes), "isatty": read(args, "isatty", folder, args.calls)}
                with open(args.listing, encoding="utf-8") as lines, open(paths, "w", encoding="utf-8") as file:
                    file.writelines(os.path.join(folder, line) for line in lines)
                forget_names()
                figures["stat"] = read(args, "stat", paths, 1)
            for what, figure in figures.items():
                tables[what].add(one.name, figure)
            measure.say(f"round {number + 1}: {one.name}: " + ", ".join(f"{what} {figure:,.1f}" for what, figure in figures.items()))
    return list(tables.values())


def arrays(args):
    """np.load of the arrays of a view, and of the same bytes as files."""
    if not measure.has_module(args.python, "numpy"):
        measure.say(f"left out: np.load: {args.python} has no numpy")
        return []
    work = os.path.join(args.work, "arrays")
    os.makedirs(work)
    mount = OverDevice(args.tree, args.work)
    mount.prepare()
    files = os.path.join(work, "files")
    with mount.mounted() as point:
        shutil.copytree(os.path.join(point, ".augur", "views", args.view), files)
    people = [contenders.Folder(files, work)]
    erofs = contenders.Erofs(files, work)
    if not erofs.missing():
        erofs.prepare()
        people.append(erofs)
    people += [OverDevice(args.tree, args.work), OverUring(args.tree, args.work)]
    table = measure.Table("np.load of a view, page cache hot", "files/s", people[0].name)
    for number in range(args.rounds):
        for one in measure.in_turn(people, number):
            with one.mounted() as point:
                is_mount = isinstance(one, OverDevice)
                folder = os.path.join(point, ".augur", "views", args.view) if is_mount else point
                table.add(one.name, read(args, "load", folder, args.passes))
            measure.say(f"round {number + 1}: {one.name}: np.load {table.rounds[one.name][-1]:,.0f} files/s")
    return [table]


def images(args):
    """Images of an archive, whose records were made before."""
    if not measure.has_module(args.python, "h5py"):
        measure.say(f"left out: images: {args.python} has no h5py")
        return []
    people = [OverDevice(args.tree, args.work), OverUring(args.tree, args.work)]
    people[0].prepare()
    copy = os.path.join(args.work, "all.h5")
    table = measure.Table("images of view h5 by h5py, one reader", "images/s", "file, page cache")
    for number in range(args.rounds):
        for one in measure.in_turn(people, number):
            with one.mounted("memory=8G", "predict=off") as point:
                file = os.path.join(point, ".augur", "views", args.images, "all.h5")
                if not os.path.exists(copy):
                    shutil.copyfile(file, copy)
                for _ in range(2):  # the records of some are still read in the first
                    read(args, "images", file, 1)
                    measure.forget_files(os.path.dirname(file))
                before = mounts.statistics(point)["counters"]["rendered_bytes"]
                memory = read(args, "images", file, 1)
                if mounts.statistics(point)["counters"]["rendered_bytes"] != before:
                    raise RuntimeError(f"{one.name}: images were made again")
                table.add(f"{one.name}, daemon's memory", memory)
                table.add(f"{one.name}, page cache", read(args, "images", file, args.passes))
            measure.say(f"round {number + 1}: {one.name}: {memory:,.0f} images/s from memory")
        read(args, "images", copy, 1)
        table.add("file, page cache", read(args, "images", copy, args.passes))
    return [table]


def from_memory(args):
    """Cold READs that need no disk."""
    people = [OverDevice(args.tree, args.work), OverUring(args.tree, args.work)]
    people[0].prepare()
    tables = {threads: measure.Table(f"cold reads from the daemon's memory, {threads} threads", "files/s", people[0].name)
              for threads in THREADS}
    memory = f"memory={(2 * args.tree_bytes >> 20) + 1024}M"
    for number in range(args.rounds):
        for one in measure.in_turn(people, number):
            with one.mounted(memory, "push=off") as folder:
                mounts.run(mounts.program("augurctl"), "warm", folder, "--all")
                for threads, table in tables.items():
                    measure.drop_caches()
                    before = mounts.statistics(folder)["counters"]["disk_reads"]
                    run = measure.read_files(folder, threads, seed=number, listing=args.listing)
                    if mounts.statistics(folder)["counters"]["disk_reads"] != before:
                        raise RuntimeError(f"{one.name}: not all records were in the retained cache")
                    table.add(one.name, run["files_per_s"])
            measure.say(f"round {number + 1}: {one.name}: " + ", ".join(f"{table.rounds[one.name][-1]:,.0f}" for table in tables.values()))
    return list(tables.values())


SCENARIOS = {"small": small_requests, "arrays": arrays, "images": images, "cold": from_memory}


def main():
    parser = argparse.ArgumentParser(description="What a request costs over each transport.")
    parser.add_argument("what", nargs="+", choices=["all", *SCENARIOS], metavar="WHAT", help="all, small, arrays, images, cold")
    parser.add_argument("--python", default=sys.executable, help="that reads; with numpy for np.load, h5py for images")
    parser.add_argument("--work", default="/tmp", metavar="DIR", help="for the files, on the disk that is to be measured")
    parser.add_argument("--tree", metavar="DIR", help="the folder to read; default: photographs that are made")
    parser.add_argument("--files", type=int, default=2000, metavar="N")
    parser.add_argument("--view", default="npy+size=64", metavar="SPEC", help="the view of np.load")
    parser.add_argument("--images", default="h5+size=256+crop=224", metavar="SPEC", help="the view of images")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--passes", type=int, default=3, metavar="N", help="over all files, hot")
    parser.add_argument("--calls", type=int, default=20000, metavar="N", help="of isatty")
    parser.add_argument("--quick", action="store_true", help="one round of little data: shows that all works")
    parser.add_argument("--no-touch", action="store_true", help="do not touch the memory before")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.files, args.rounds, args.passes, args.calls, args.no_touch = min(args.files, 100), 1, 1, 200, True
    measure.clean_up_when_told_to_end()
    with mounts.uring_switched_on():
        measure.run_scenarios(args, "wire", SCENARIOS)


if __name__ == "__main__":
    main()
