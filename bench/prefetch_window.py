# SPDX-License-Identifier: Apache-2.0
"""More data than memory: a reader with something to do beside reading, a reader whose order nobody knows, and what it costs."""

import json
import os

import cgroup
import contenders
import given_orders
import measure
import mounts
from given_orders import MIB
from measure import Table, say
from prefetch_cold import disk_speed

EPOCHS = 3
# The page cache of a reader whose hits are to be those of the daemon.
READER_BYTES = 96 * MIB


def only_augurfs(args):
    """(folder, augurfs), prepared."""
    return contenders.prepared(args.tree, args.work, ["augurfs"])


def paced(args):
    """The reader takes half of what the disk gives; memory for a quarter of the data; order given, two epochs."""
    folder, augurfs = only_augurfs(args)
    budget = max(given_orders.MEMORY_MIN, args.tree_bytes // 4)
    hits = Table(f"reader at {args.pace_part:g} of the disk's speed, memory for a quarter, files found in the page cache", "per cent, without sentinels")
    times = Table(f"reader at {args.pace_part:g} of the disk's speed, memory for a quarter, the fastest 98 % of the files", "us a file", "folder, hot")
    for number in range(args.rounds):
        orders = given_orders.write_shuffled(args.work, given_orders.listed(args.listing), 2, number)
        pace = args.pace_part * (disk_speed(args.work, args.disk_seconds) or args.pace_fallback)

        def hot():
            with folder.mounted() as path:
                measure.read_files(path, listing=args.listing)
                result = measure.read_files(path, epochs=orders[:1], pace=pace)
                times.add("folder, hot", result["epochs"][0]["us_of_fastest_98_percent"])

        def predicted():
            measure.drop_caches()
            augurfs.options = [f"memory={budget}"]
            with augurfs.mounted() as path:
                for order in orders:
                    given_orders.hint(path, order)
                for epoch, order in enumerate(orders):
                    before = given_orders.status(path)
                    result = measure.read_files(path, epochs=[order], pace=pace)
                    grown = given_orders.counted(before, given_orders.status(path))
                    # A file that is not there makes one READ or more, so this is the least share that it can be.
                    hits.add(f"augurfs, epoch {epoch + 1}", 100 * (1 - max(0, grown["reads"] - grown["sentinels"]) / result["files"]))
                    times.add(f"augurfs, epoch {epoch + 1}", result["epochs"][0]["us_of_fastest_98_percent"])

        for part in measure.in_turn((hot, predicted), number):
            part()
        say(f"paced: round {number + 1} of {args.rounds}, {pace:,.0f} MB/s")
    return [hits, times]


def blocks_of(args):
    """How many blocks of 1 MiB the files have."""
    return sum(-(-os.lstat(os.path.join(args.tree, path)).st_size // MIB) for path in given_orders.listed(args.listing))


def unknown(args):
    """No order is given, each epoch is another shuffle, a quarter of the data fits: how many blocks need no disk."""
    why_not = cgroup.missing()
    if why_not:
        say(f"left out: unknown: {why_not}")
        return []
    _, augurfs = only_augurfs(args)
    size = args.tree_bytes // 4
    blocks = blocks_of(args)
    table = Table("no order, a quarter of the data fits, shuffled: blocks that need no disk", "per cent")
    for number in range(args.rounds):
        orders = given_orders.write_shuffled(args.work, given_orders.listed(args.listing), EPOCHS, number)
        measure.drop_caches()
        augurfs.options = [f"memory={size + 256 * MIB}", "cache=ram", f"cache-size={size}"]
        # What the page cache has, the daemon is not asked for: so the reader's is kept small.
        with augurfs.mounted() as path, cgroup.group(READER_BYTES) as group:
            for epoch, order in enumerate(orders):
                before = given_orders.status(path)
                measure.read_files(path, epochs=[order], prefix=group.prefix)
                grown = given_orders.counted(before, given_orders.status(path))
                if epoch:
                    table.add(f"augurfs, epoch {epoch + 1}", 100 * (1 - grown["misses"] / blocks))
        simulated = json.loads(mounts.run(mounts.program("policy_bench"), "--files", args.file_count, "--epochs", EPOCHS, "--shares", 25,
                                          "--sizes", "lognormal", "--seed", number))["shares"][0]
        table.add("share that fits", 100 * size / args.tree_bytes)
        for policy in ("keep", "lru"):
            table.add(f"simulated: {policy}", 100 * simulated[policy]["reads"])
        say(f"unknown: round {number + 1} of {args.rounds}")
    return [table]


def cpu(args):
    """CPU time for a GB that is delivered, order given, cold, with and without pushing."""
    _, augurfs = only_augurfs(args)
    table = Table("CPU time, order given, cold, 1 reader thread", "ms a GB")
    for number in range(args.rounds):
        (order,) = given_orders.write_shuffled(args.work, given_orders.listed(args.listing), 1, number)
        for push in measure.in_turn(("on", "off"), number):
            measure.drop_caches()
            augurfs.options = [f"push={push}"]
            with augurfs.mounted() as path:
                before = given_orders.cpu_seconds(augurfs.daemon.pid)
                given_orders.hint(path, order)
                (epoch,) = measure.read_files(path, epochs=[order])["epochs"]
                after = given_orders.cpu_seconds(augurfs.daemon.pid)
            gigabytes = epoch["bytes"] / 1e9
            for who, seconds in (("daemon", after[0] - before[0]), ("helper", after[1] - before[1]), ("reader", epoch["cpu_seconds"])):
                table.add(f"push={push}, {who}", 1e3 * seconds / gigabytes)
        say(f"cpu: round {number + 1} of {args.rounds}")
    return [table]
