#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What readers see of a daemon that is killed again and again: one epoch of a DataLoader with four workers, as root.

    bench/kills.py cold hot view --work /somewhere/on/ext4 [--kills 100] [--signal KILL]

cold: caches are dropped before the epoch. hot: all files are in the page cache. view: cold, decoded to arrays. The daemon has little
memory, so that it pushes files and drops those that were read. The kills are spread
evenly over the files. The epoch goes on meanwhile, at a pace (--rate) that leaves each daemon the time to find the order and to push
files. It waits for the kills only where it would be over before the last one. Each file is compared with its checksum, for a view
with that of Pillow's array. An outage is from the kill until statvfs(2) of the mount is answered, which the kernel never answers
itself. The share of an outage in a read is the time for which both last. The workers time open, read and close. On a machine with few
processors they also wait for one of these, which that share leaves out.

Exits with 1 when a read failed, had wrong bytes, or took a second or longer.
"""

import argparse
import contextlib
import hashlib
import io
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import measure
import mounts
from measure import say

WORKERS = 4
SLOWEST_S = 1.0
# The holder ends a mount whose daemons die three times in ten seconds; a SIGKILL comes from outside, and is not counted.
COUNTED_DEATHS_APART_S = 5.5
PATIENCE_S = 30


class HeldMount:
    """A mount with a holder, and the daemon that serves it now."""

    def __init__(self, point, log, holder):
        self.point, self.log = point, log
        self.kills = 0
        # The broker and the helper are forks of the daemon, until they have taken their own names.
        end = time.monotonic() + PATIENCE_S
        while len(found := set(mounts.daemons(mounts.program("augurfs"), point)) - {holder}) != 1:
            if time.monotonic() > end:
                raise RuntimeError(f"{point}: not one daemon, but {found}")
            time.sleep(0.01)
        (self.pid,) = found

    def kill(self, number):
        """Kills the daemon, and waits until another one serves. Returns when nobody served: (from, to) by the monotonic clock."""
        begin = time.monotonic()
        os.kill(self.pid, number)
        self.kills += 1
        os.statvfs(self.point)
        end = time.monotonic()
        while True:
            served = re.findall(r"the mount is served again, by process (\d+)", self.log_text())
            if len(served) == self.kills:
                break
            if time.monotonic() > end + PATIENCE_S:
                raise RuntimeError(f"no other daemon serves:\n{self.log_text()}")
            time.sleep(0.001)
        self.pid = int(served[-1])
        return begin, end

    def log_text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def status(self):
        return mounts.statistics(self.point)


@contextlib.contextmanager
def held_mount(store, work, *options):
    """In the foreground, so that the daemons have the priority of this program, whatever else the machine does."""
    point, log = os.path.join(work, "mount"), os.path.join(work, "log")
    words = mounts.augurfs_words(mounts.program("augurfs"), store, point, [*options, f"log={log}"])
    with mounts.no_memories() as environment, mounts.fuse([*words, "-f"], point, env=environment) as process:
        yield HeldMount(point, log, process.pid)
    os.unlink(log)


class Killer(threading.Thread):
    """Kills a daemon each time when that many files more have been read."""

    def __init__(self, mount, number, kills, files):
        super().__init__(daemon=True)
        self.mount, self.number, self.kills, self.files = mount, number, kills, files
        self.outages = []
        self.failure = None
        self.changed = threading.Condition()
        self.read = 0  # files; guarded by changed, as outages

    def run(self):
        try:
            for due in range(self.kills):
                with self.changed:
                    self.changed.wait_for(lambda due=due: self.read * self.kills > due * self.files)
                if self.outages and self.number != signal.SIGKILL:
                    time.sleep(max(0, self.outages[-1][0] + COUNTED_DEATHS_APART_S - time.monotonic()))
                outage = self.mount.kill(self.number)
                with self.changed:
                    self.outages.append(outage)
                    self.changed.notify()
        except (OSError, RuntimeError) as failure:
            with self.changed:
                self.failure = failure
                self.changed.notify()

    def files_read(self, count):
        """So many more. Waits while more than one kill is due."""
        with self.changed:
            self.read += count
            self.changed.notify()
            self.changed.wait_for(lambda: self.failure or len(self.outages) >= self.read * self.kills // self.files - 1)
            if self.failure:
                raise self.failure


def epoch(args, sums, root, killer):
    """Rows of kills_epoch.py for all files."""
    words = [args.python, mounts.ROOT / "bench" / "kills_epoch.py", "--root", root, "--sums", sums, "--seed", args.seed, "--workers", WORKERS]
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        killer.start()
        reads, begin = [], None
        for line in process.stdout:
            begin = begin or time.monotonic()
            reads += json.loads(line)
            killer.files_read(len(reads) - killer.read)
            time.sleep(max(0, begin + len(reads) / args.rate - time.monotonic()))
            process.stdin.write("\n")
            process.stdin.flush()
        if process.wait() != 0:
            raise RuntimeError(f"kills_epoch.py: exit {process.returncode}")
        killer.join()
        if killer.failure:
            raise killer.failure
        return reads
    finally:
        process.kill()
        process.communicate()


def overlap(begin, end, outages):
    return sum(max(0.0, min(end, to) - max(begin, since)) for since, to in outages)


def quantile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def summary(reads, outages, counters):
    """Times in milliseconds."""
    took = [1000 * row[1] for row in reads]
    shares = [1000 * overlap(row[0], row[0] + row[1], outages) for row in reads]
    failures = [row[2] for row in reads if row[2] not in ("right", "wrong")]
    slowest = max(range(len(reads)), key=lambda at: took[at])
    gaps = [1000 * (to - since) for since, to in outages]
    return {
        "reads": len(reads), "errors": len(failures), "first_error": failures[0] if failures else "",
        "wrong": sum(row[2] == "wrong" for row in reads), "kills": len(outages),
        "read_ms": {"median": quantile(took, 0.5), "p99.9": quantile(took, 0.999), "max": took[slowest]},
        "restart_in_read_ms": {"p99.9": quantile(shares, 0.999), "max": max(shares), "of_the_slowest": shares[slowest],
                               "reads_that_met_one": sum(share > 0 for share in shares)},
        "outage_ms": {"median": quantile(gaps, 0.5), "max": max(gaps)} if gaps else {},
        "counters": {name: counters[name] for name in ("restarts", "reads", "read_failures", "corrupt_blocks", "pushes", "dropped_files",
                                                       "orders_found", "images_decoded")},
    }


def text(name, row):
    read, share, outage = row["read_ms"], row["restart_in_read_ms"], row["outage_ms"]
    return (f"{name}: {row['reads']:,} reads, {row['errors']} errors, {row['wrong']} wrong, {row['kills']} kills\n"
            f"  a read:               median {read['median']:.2f} ms, p99.9 {read['p99.9']:.0f} ms, slowest {read['max']:.0f} ms\n"
            f"  the restart in it:    p99.9 {share['p99.9']:.0f} ms, most {share['max']:.0f} ms, of the slowest read "
            f"{share['of_the_slowest']:.0f} ms; {share['reads_that_met_one']} reads met one\n"
            f"  nobody served:        median {outage['median']:.0f} ms, longest {outage['max']:.0f} ms\n"
            f"  {', '.join(f'{key} {value:,}' for key, value in row['counters'].items())}"
            + (f"\n  first error: {row['first_error']}" if row["errors"] else ""))


def sum_of_file(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def sum_of_array(path):
    import numpy
    from PIL import Image

    file = io.BytesIO()
    with Image.open(path) as image:
        numpy.save(file, numpy.asarray(image.convert("RGB")))
    return hashlib.sha256(file.getvalue()).hexdigest()


def make_part(args):
    """A folder of the first photographs alone: an order is found of all files of a folder."""
    part = os.path.join(args.work, "part")
    for path in args.paths[:args.view_files]:
        os.makedirs(os.path.dirname(os.path.join(part, path)), exist_ok=True)
        shutil.copy(os.path.join(args.tree, path), os.path.join(part, path))
    return part


def write_sums(args, is_view):
    """The file of kills_epoch.py, and how many files it names."""
    sums = {}
    for path in args.paths[:args.view_files] if is_view else args.paths:
        whole = os.path.join(args.tree, path)
        if is_view:
            sums[f"{os.path.splitext(path)[0]}.npy"] = sum_of_array(whole)
        else:
            sums[path] = sum_of_file(whole)
    place = os.path.join(args.work, "sums")
    with open(place, "w", encoding="utf-8") as file:
        json.dump(sums, file)
    return place, len(sums)


def run_one(args, name):
    is_view = name == "view"
    sums, count = write_sums(args, is_view)
    store = os.path.join(args.work, "part.augur" if is_view else "store")
    if not os.path.exists(store):
        mounts.create_store(make_part(args) if is_view else args.tree, store)
    with held_mount(store, args.work, f"memory={args.memory}") as mount:
        root = os.path.join(mount.point, ".augur", "views", "npy") if is_view else mount.point
        if name == "hot":
            measure.read_files(mount.point, listing=args.listing)
        else:
            measure.drop_caches()
        killer = Killer(mount, args.signal, args.kills, count)
        reads = epoch(args, sums, root, killer)
        return summary(reads, killer.outages, mount.status()["counters"])


def main():
    measure.clean_up_when_told_to_end()
    parser = argparse.ArgumentParser(description="What readers see of a daemon that is killed again and again.")
    parser.add_argument("what", nargs="*", default=["cold", "hot", "view"], metavar="cold|hot|view")
    parser.add_argument("--work", required=True, metavar="DIR", help="where to make and remove everything")
    parser.add_argument("--tree", metavar="DIR", help="photographs to read; else they are made")
    parser.add_argument("--files", type=int, default=8000, metavar="N", help="photographs to make (default %(default)s)")
    parser.add_argument("--view-files", type=int, default=2000, metavar="N", help="of them, those read decoded (default %(default)s)")
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="(default %(default)s)")
    parser.add_argument("--signal", type=lambda word: signal.Signals[f"SIG{word}"], default=signal.SIGKILL, metavar="NAME",
                        help="KILL (default), or SEGV, ABRT, of which two in ten seconds are sent at most")
    parser.add_argument("--memory", default="64M", metavar="SIZE", help="of the daemon, so that files are dropped (default %(default)s)")
    parser.add_argument("--rate", type=float, default=120, metavar="N", help="files a second at most (default %(default)s)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of torch (default %(default)s)")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="one with torch (default: this one)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    wrong = set(args.what) - {"cold", "hot", "view"}
    if wrong:
        parser.error(f"no such epoch: {sorted(wrong)[0]}")
    if not measure.is_root():
        parser.error("needs root, to drop caches")
    results = {}
    with tempfile.TemporaryDirectory(prefix="augur-kills.", dir=args.work) as args.work:
        measure.make_tree(args, args.work)
        with open(args.listing, encoding="utf-8") as lines:
            args.paths = [line.rstrip("\n") for line in lines]
        for name in args.what:
            say(f"{name}: {args.kills} kills in the epoch")
            results[name] = run_one(args, name)
            if not args.json:
                print(text(name, results[name]), flush=True)
    if args.json:
        print(json.dumps({"machine": measure.machine(), "signal": args.signal.name, "epochs": results}))
    failed = [name for name, row in results.items() if row["errors"] or row["wrong"] or row["read_ms"]["max"] >= 1000 * SLOWEST_S]
    if failed:
        sys.exit(f"{', '.join(failed)}: a read failed, had wrong bytes, or took {SLOWEST_S:.0f} s or longer")


if __name__ == "__main__":
    main()
