# SPDX-License-Identifier: Apache-2.0
"""Cold reads: in an order that was given, beside what the disk can do and what the path can do; and in listing order, not given."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import time

import contenders
import given_orders
import measure
import mounts
from given_orders import MIB
from measure import Table, say

# Of the free memory, before each run: a virtual machine gives dropped pages back to its host, and their next first touch is slow.
TOUCHED = 0.3
SHARED = re.compile(r"^/(dev/shm|run/augurfs-shm)/augurfs-[^/]+$")  # of users, and of root


def disk_speed(work, seconds):
    """MB/s of 1 MiB reads at random places of the largest file below `work` (a shard, an image), past the page cache, four at a time;
    nothing where fio is not installed or the file is too small to tell."""
    if not shutil.which("fio"):
        return None
    target = max((path for path in pathlib.Path(work).rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    if target.stat().st_size < 4 * MIB:
        return None
    out = mounts.run("fio", "--name=limit", f"--filename={target}", "--readonly", "--rw=randread", "--bs=1m", "--direct=1",
                     "--ioengine=libaio", "--iodepth=4", "--time_based", f"--runtime={seconds}", "--output-format=json")
    return json.loads(out[out.index("{"):])["jobs"][0]["read"]["bw_bytes"] / 1e6


@contextlib.contextmanager
def nothing_left_in_shared_memory(pid):
    """What the daemon leaves there for the next mount of the store is removed at the end."""
    mapped = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()
    paths = {words[5] for words in (line.split(maxsplit=5) for line in mapped) if SHARED.match(words[-1])}
    if not paths:
        raise RuntimeError(f"process {pid} has no retained cache in shared memory")
    try:
        yield
    finally:
        for path in paths:
            pathlib.Path(path).unlink(missing_ok=True)


def retained_cache_speed(args, store, order):
    """MB/s of the same reads when the daemon has every record in its memory, and the page cache nothing."""
    size = args.tree_bytes + args.tree_bytes // 8 + 64 * MIB  # blocks are rounded up
    # In memory of its own the daemon does not keep what the page cache has room for.
    options = [f"memory={2 * size + 512 * MIB}", "cache=shm", f"cache-size={size}"]
    point = os.path.join(args.work, "retained_cache.mnt")
    with mounts.augurfs(store, point, *options) as daemon, nothing_left_in_shared_memory(daemon.pid):
        # What was read is copied there behind the reader; what the copying could not follow, the next time.
        kept = 0
        for _ in range(3):
            measure.read_files(point, 8, listing=args.listing)
            end = time.monotonic() + 10
            while kept < args.tree_bytes and time.monotonic() < end:
                time.sleep(0.05)
                kept = given_orders.status(point)["gauges"]["retained_cache_bytes"]
        if kept < args.tree_bytes:
            raise RuntimeError(f"the retained cache has {kept:,} of {args.tree_bytes:,} bytes after all was read: is there memory for {size:,}?")
        measure.drop_caches()
        given_orders.hint(point, order)
        return measure.read_files(point, epochs=[order])["epochs"][0]["mb_per_s"]


class AugurFSNothingGiven(contenders.AugurFS):
    """The same store by a daemon that is told nothing, and finds the order while it is read."""

    name = "augurfs, not given"

    def __init__(self, tree, work):
        super().__init__(tree, work)
        self.path = os.path.join(self.work, contenders.AugurFS.name)


def seconds_of(contender):
    """Processor time so far of the daemon and its helper; nothing for who has none."""
    return sum(given_orders.cpu_seconds(contender.daemon.pid)) if isinstance(contender, contenders.AugurFS) else None


def cold(args):
    """The order given, everything cold, one and more reader threads; beside the mount that is told nothing, and that does not predict."""
    people = contenders.prepared(args.tree, args.work, ["augurfs", "squashfs", "erofs"])
    people += [kind(args.tree, args.work) for kind in (AugurFSNothingGiven, contenders.AugurFSNothingPredicted)]
    tables = {threads: Table(f"cold, order given, {threads} reader thread{'s' if threads > 1 else ''}", "MB/s", "folder") for threads in args.threads}
    work = {threads: Table(f"processor time of the daemon and its helper, {threads} reader thread{'s' if threads > 1 else ''}", "s/GB") for threads in args.threads}
    limits = Table("cold, order given, 1 reader thread, beside what is possible", "MB/s", "lower limit")
    for number in range(args.rounds):
        (order,) = given_orders.write_shuffled(args.work, given_orders.listed(args.listing), 1, number)
        for threads in args.threads:
            for one in measure.in_turn(people, number):
                measure.drop_caches()
                if not args.no_touch:
                    measure.touch_memory(TOUCHED)
                with one.mounted() as path:
                    if one.name == "augurfs":
                        given_orders.hint(path, order)
                    before = seconds_of(one)
                    speed = measure.read_files(path, threads, epochs=[order])["epochs"][0]["mb_per_s"]
                    if before:
                        work[threads].add(one.name, (seconds_of(one) - before) / args.tree_bytes * 1e9)
                tables[threads].add(one.name, speed)
                if threads == 1 and one.name == "augurfs":
                    found = {"disk, 1 MiB, depth 4": disk_speed(args.work, args.disk_seconds),
                             "all in the retained cache": retained_cache_speed(args, one.path, order)}
                    limits.add("lower limit", min(filter(None, found.values())))
                    for name, figure in found.items():
                        if figure:
                            limits.add(name, figure)
                    limits.add("augurfs", speed)
        say(f"cold: round {number + 1} of {args.rounds}")
    return [*tables.values(), *work.values(), *([limits] if limits.rounds else [])]


def listing(args):
    """No order given, files read in the order of a listing: a validation pass."""
    people = contenders.prepared(args.tree, args.work, ["augurfs"])
    tables = {threads: Table(f"cold, listing order, nothing given, {threads} reader thread{'s' if threads > 1 else ''}", "MB/s", "folder")
              for threads in args.threads}
    for number in range(args.rounds):
        for threads in args.threads:
            for one in measure.in_turn(people, number):
                measure.drop_caches()
                with one.mounted() as path:
                    tables[threads].add(one.name, measure.read_files(path, threads, epochs=[args.listing])["epochs"][0]["mb_per_s"])
        say(f"listing: round {number + 1} of {args.rounds}")
    return list(tables.values())
