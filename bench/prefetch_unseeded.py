# SPDX-License-Identifier: Apache-2.0
"""A slow disk, a training script without a seed of which nobody has said anything, and memory for half of the data."""

import os
import sys

import cgroup
import contenders
import given_orders
import measure
import mounts
import prefetch_loader
from foresee_job import Job
from given_orders import MIB
from measure import Table, say
from peak import Peak

EPOCHS = 3
WORKERS = "4"
SEED = "42"
SCRIPT = ("image_folder.py", "--workers", WORKERS)
PATIENCE_S = 7200


class Hinted(contenders.AugurFS):
    """The same store by a daemon that is told, before the script starts, what it draws its order from."""

    name = "augurfs, hinted"

    def __init__(self, tree, work):
        super().__init__(tree, work)
        self.path = os.path.join(self.work, contenders.AugurFS.name)


def _epochs(args, one, path, number, epochs, prefix):
    """Files a second of each epoch, from its first open to its last."""
    hinted = isinstance(one, Hinted)
    if hinted:
        mounts.run(mounts.program("augurctl"), "hint", path, "--sampler", "torch", "--seed", SEED)
    words = (*SCRIPT, "--seed", SEED) if hinted else SCRIPT
    job = Job(args.python, words, f"-{one.name}-{number}", args.work, path, epochs, prefix=prefix)
    try:
        job.wait(PATIENCE_S)
        return [(len(moments) - 1) / (moments[-1] - moments[0]) for moments in job.epochs()]
    finally:
        job.end()


def _report(one, path, rates):
    """What the contender did in this round, and what its daemon found; to be called while it is mounted."""
    say(f"  {one.name}: {', '.join(f'{rate:,.0f}' for rate in rates)} files/s")
    if isinstance(one, contenders.AugurFS):
        status = given_orders.status(path)
        counters = status["counters"]
        said = [text for name, text in status["mount"].items() if name.startswith("predicted")]
        if isinstance(one, Hinted) and not any("as hinted" in text for text in said):
            sys.exit(f"prefetch.py: {one.name}: the hint was not followed: {said}")
        say(f"    {'; '.join(said)}; {counters['orders_found']} orders found, {counters['wasted_bytes'] / 1e6:,.0f} MB wasted of "
            f"{counters['disk_bytes'] / 1e6:,.0f}")


def unseeded(args):
    """Files a second, epoch by epoch. Script and daemon are in one group with the limits of the disk and with memory for half of the data,
    for all contenders alike."""
    why_not = cgroup.missing_for_disk(args.work) or prefetch_loader.missing(args.python)
    if why_not:
        say(f"left out: unseeded: {why_not}")
        return []
    hinted = Hinted(args.tree, args.work)
    people = [*contenders.prepared(args.tree, args.work, args.only), hinted]
    hinted.prepare()
    budget = max(given_orders.MEMORY_FOR_ORDERS_MIN, args.tree_bytes // 2)
    measure.drop_caches_but_libraries(args.python)
    with cgroup.whole_machine() as group, Peak(group.held_bytes, 0.01) as held:
        _epochs(args, people[0], args.tree, "held", 1, group.prefix)
    say(f"memory: {budget / MIB:,.0f} MiB for half of the data, {held.peak / MIB:,.0f} for the script, {cgroup.SLACK_BYTES / MIB:,.0f}")
    found = []
    for reads_per_s, mb_per_s in args.throttles:
        tables = [Table(f"slow disk, {reads_per_s} IOPS and {mb_per_s} MB/s, memory for half of the data, unseeded, epoch {epoch + 1}",
                        "files/s", "folder") for epoch in range(EPOCHS)]
        for number in range(args.rounds):
            for one in measure.in_turn(people, number):
                with cgroup.slow_disk(args.work, budget + held.peak, reads_per_s, mb_per_s) as group:
                    measure.drop_caches_but_libraries(args.python)
                    one.run_in(group, budget)
                    with one.mounted() as path:
                        rates = _epochs(args, one, path, str(number), EPOCHS, group.prefix)
                        _report(one, path, rates)
                for table, rate in zip(tables, rates):
                    table.add(one.name, rate)
            say(f"unseeded, {reads_per_s} IOPS: round {number + 1} of {args.rounds}")
        found += tables
    return found
