# SPDX-License-Identifier: Apache-2.0
"""A slow disk, three epochs whose orders are given, and memory for half of the data."""

import cgroup
import contenders
import given_orders
import measure
from measure import Table, say

EPOCHS = 3


def throttle(args):
    """Bytes delivered a second, as a share of the bandwidth, epoch by epoch. The reader, and the daemon where there is one, are in one
    group with the limits of the disk and with memory for half of the data: for all contenders alike."""
    why_not = cgroup.missing_for_disk(args.work)
    if why_not:
        say(f"left out: throttle: {why_not}")
        return []
    people = contenders.prepared(args.tree, args.work, args.only)
    paths = given_orders.listed(args.listing, args.throttle_files)
    budget = max(given_orders.MEMORY_MIN, given_orders.size_of(args.tree, paths) // 2)
    found = []
    for reads_per_s, mb_per_s in args.throttles:
        tables = [Table(f"slow disk, {reads_per_s} IOPS and {mb_per_s} MB/s, memory for half of the data, epoch {epoch + 1}",
                        "per cent of the bandwidth", "folder") for epoch in range(EPOCHS)]
        for number in range(args.rounds):
            orders = given_orders.write_shuffled(args.work, paths, EPOCHS, number)
            for one in measure.in_turn(people, number):
                with cgroup.slow_disk(args.work, budget, reads_per_s, mb_per_s) as group:
                    measure.drop_caches()
                    one.run_in(group, budget)
                    with one.mounted() as path:
                        if one.name == "augurfs":
                            for order in orders:
                                given_orders.hint(path, order)
                        result = measure.read_files(path, epochs=orders, prefix=group.prefix)
                    for table, epoch in zip(tables, result["epochs"]):
                        table.add(one.name, 100 * epoch["mb_per_s"] / mb_per_s)
            say(f"throttle, {reads_per_s} IOPS: round {number + 1} of {args.rounds}")
        found += tables
    return found
