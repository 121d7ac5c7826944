#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What leaves the object store when many machines read one packed folder for three epochs, with and without a fleet's cache.
bench/remote/README.md says how it is measured.

    bench/fleet.py [options]

Needs root, and memcached. Tables go to standard output, or one JSON object with --json; what is being done goes to standard error. Whatever
happens, nothing stays mounted, no server, no namespace and no control group is left, and the working folder is removed.
"""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "remote")]
import cgroup  # noqa: E402
import given_orders  # noqa: E402
import measure  # noqa: E402
import mounts  # noqa: E402
import remote  # noqa: E402
from measure import Table, say  # noqa: E402

EPOCHS = 3
PORT = 11211
PATIENCE_S = 60
MIB = 1 << 20


class Machine:
    """A network namespace with its memcached and its mount, both in a control group of bounded memory. It lives as long as the stack, or
    until it is killed."""

    def __init__(self, args, far, stack, number):
        self.args, self.far, self.host = args, far, far.line.clients[number]
        self.point = os.path.join(args.work, f"machine-{number}")
        self.stack = stack
        self.group = stack.enter_context(cgroup.group((args.memcached_mb + args.memory_mb) * MIB + cgroup.SLACK_BYTES))
        self.memcached = self.daemon = None

    @property
    def address(self):
        return f"{self.host.address}:{PORT}"

    def start_memcached(self):
        words = [*self.group.prefix, *self.host.prefix, "memcached", "-M", "-I", "2m", "-m", self.args.memcached_mb, "-t", 1, "-U", 0, "-u", "root",
                 "-l", self.host.address, "-p", PORT]
        self.memcached = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL)
        self.stack.callback(self.end_memcached)
        end_s = time.monotonic() + PATIENCE_S
        with self.host.entered():
            while True:
                try:
                    socket.create_connection((self.host.address, PORT), timeout=1).close()
                    return
                except OSError:
                    if self.memcached.poll() is not None or time.monotonic() > end_s:
                        raise RuntimeError(f"memcached does not answer at {self.address}") from None
                    time.sleep(0.02)

    def end_memcached(self):
        if self.memcached:
            self.memcached.kill()
            self.memcached.wait()

    def mount(self, options):
        """Which of the fleet's servers it is, the daemon finds out by its address."""
        server = self.far.server
        store = f"s3://{self.far.packed_bucket}/{self.far.packed_prefix}"
        options = [f"endpoint-url={server.endpoint}", f"region={server.region}", f"memory={self.args.memory_mb}M", *options]
        environment = self.stack.enter_context(mounts.no_memories())
        plain = {name: value for name, value in environment.items() if not name.startswith("AWS_") and not name.lower().endswith("_proxy")}
        words = [*self.group.prefix, *self.host.prefix, *mounts.augurfs_words(mounts.program("augurfs"), store, self.point, options), "-f"]
        self.daemon = self.stack.enter_context(mounts.fuse(words, self.point, env={**plain, **server.environment()}))

    def read(self, order):
        """Reads the files of an order, which the mount is told."""
        given_orders.hint(self.point, order)
        measure.read_files(self.point, 1, epochs=[order], pace=self.args.pace_mb, prefix=self.group.prefix)

    def kill(self):
        """As if the machine lost its power. Its mount stays, and is bury's."""
        self.group.kill()

    def bury(self):
        self.daemon.wait()
        mounts.unmount(self.point, patience_s=0)


class Job:
    """A training job on these machines, whose sampler gives each its part of a new shuffle."""

    def __init__(self, args, far, machines):
        self.args, self.far, self.machines = args, far, machines
        self.paths = given_orders.listed(args.listing)
        self.orders = 0

    def shares(self, epoch):
        """Of each machine, as DistributedSampler gives them: every n-th file of the shuffle, and some twice so that all have as many."""
        order = list(self.paths)
        random.Random(self.args.seed + epoch).shuffle(order)
        count = len(self.machines)
        order += order[:-len(order) % count]
        return [order[number::count] for number in range(count)]

    def read(self, shares):
        """All machines at once."""
        def one(machine, share):
            machine.read(given_orders.write_order(os.path.join(self.args.work, f"share-{id(machine)}-{self.orders}"), share))

        self.orders += 1
        with concurrent.futures.ThreadPoolExecutor(len(shares)) as pool:
            list(pool.map(one, self.machines, shares))

    def read_and_lose_one(self, shares):
        """The last machine dies when half of the epoch is read; the others read what it has not."""
        half = len(shares[0]) // 2
        self.read([share[:half] for share in shares])
        dead = self.machines.pop()
        dead.kill()
        *rests, left = [share[half:] for share in shares]
        self.read([rest + left[number::len(rests)] for number, rest in enumerate(rests)])
        dead.bury()


class Case:
    def __init__(self, name, fleet, sweeps, loses_one=False):
        self.name, self.fleet, self.sweeps, self.loses_one = name, fleet, sweeps, loses_one

    def options(self, machines):
        if not self.fleet:
            return []
        return ["fleet-cache=" + "_".join(machine.address for machine in machines), *([] if self.sweeps else ["fleet-self=none"])]


CASES = [Case("fleet", True, True), Case("fleet, one machine killed in epoch 2", True, True, loses_one=True),
         Case("fleet, no sweep", True, False), Case("no fleet", False, False)]


def run_case(args, far, case, add):
    """`add` is called with what was measured, its unit, and the figure."""
    with contextlib.ExitStack() as stack:
        machines = [Machine(args, far, stack, number) for number in range(args.machines)]
        sent, requests = far.line.server.sent_bytes(), far.requests()
        for machine in machines if case.fleet else []:
            machine.start_memcached()
        for machine in machines:
            machine.mount(case.options(machines))
        job = Job(args, far, list(machines))
        before = sent
        for epoch in range(EPOCHS):
            start = time.perf_counter()
            (job.read_and_lose_one if case.loses_one and epoch == 1 else job.read)(job.shares(epoch))
            now = far.line.server.sent_bytes()
            add(f"bytes that left the store in epoch {epoch + 1}", "of the data", (now - before) / args.tree_bytes)
            say(f"{case.name}: epoch {epoch + 1}: {(now - before) / args.tree_bytes:.3f} of the data, {time.perf_counter() - start:.1f} s")
            before = now
        add(f"bytes that left the store in {EPOCHS} epochs", "of the data", (before - sent) / args.tree_bytes)
        if requests is not None:
            add("requests", "a thousand files read", (far.requests() - requests) / (EPOCHS * args.file_count) * 1e3)
        if case.sweeps:
            statuses = [given_orders.status(machine.point) for machine in job.machines]
            swept = sum(status["counters"]["fleet_swept_bytes"] for status in statuses)
            add("bytes that were swept", "of the data", swept / args.tree_bytes)
            say("; ".join(status["mount"]["fleet_sweep"] for status in statuses))
        for machine in job.machines:
            machine.kill()  # sooner than an orderly end
            machine.bury()


def arguments():
    parser = argparse.ArgumentParser(description="What leaves the object store when many machines read one packed folder.")
    parser.add_argument("--tree", metavar="DIR", help="an image folder to use; without it one is made")
    parser.add_argument("--files", type=int, default=6_000, metavar="N", help="photographs of the one that is made (6000: 660 MB)")
    parser.add_argument("--machines", type=int, default=8, metavar="N", help="(8)")
    parser.add_argument("--memcached-mb", type=int, default=128, metavar="N", help="memory of each memcached (128)")
    parser.add_argument("--memory-mb", type=int, default=96, metavar="N", help="memory= of each mount (96)")
    parser.add_argument("--pace-mb", type=float, default=8, metavar="N", help="MB/s that each machine reads at most (8); 0: no limit")
    parser.add_argument("--rtt-ms", type=float, default=30, metavar="MS", help="of each machine's line to the store (30)")
    parser.add_argument("--rate-mbit", type=float, default=200, metavar="N", help="of each machine's line (200: 25 MB/s)")
    parser.add_argument("--server", choices=["versitygw", "seaweedfs", "default"], default="versitygw", help="(versitygw); default: that of the tests")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="(3)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the first epoch's shuffle (42)")
    parser.add_argument("--only", metavar="NAME;NAME", help="some of: " + "; ".join(case.name for case in CASES))
    parser.add_argument("--quick", action="store_true", help="one round of little: shows that it works")
    parser.add_argument("--work", metavar="DIR", help="where to work (the system's temporary folder)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.files, args.rounds, args.machines, args.rtt_ms, args.pace_mb = 60, 1, 3, 4, 0
    return args


def main():
    args = arguments()
    missing = cgroup.missing() or ("" if shutil.which("memcached") else "needs memcached")
    if missing:
        sys.exit(f"fleet.py: {missing}")
    measure.clean_up_when_told_to_end()
    with contextlib.ExitStack() as stack:
        args.work = stack.enter_context(tempfile.TemporaryDirectory(prefix="augur-fleet.", dir=args.work))
        measure.make_tree(args, args.work)
        far = remote.Far(args, stack, clients=args.machines, raw=False)
        report = measure.Report(args.json)
        say(f"{far.server.name}, {args.machines} machines, {args.rtt_ms:g} ms, {args.rate_mbit:g} Mbit/s each; load {os.getloadavg()[0]:.1f}")
        tables = {}
        cases = [case for case in CASES if not args.only or case.name in args.only.split(";")]
        for number in range(args.rounds):
            for case in measure.in_turn(cases, number):
                def add(what, unit, figure, case=case):
                    tables.setdefault(what, Table(what, unit)).add(case.name, figure)

                run_case(args, far, case, add)
        for what in sorted(tables):
            report.add(tables[what])
        say(f"load {os.getloadavg()[0]:.1f}")
        report.end()


if __name__ == "__main__":
    main()
