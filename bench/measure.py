# SPDX-License-Identifier: Apache-2.0
"""What every comparison here needs: caches dropped, memory touched, rounds in turn, and ratios with their spread."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile

import mounts


def say(text=""):
    print(text, file=sys.stderr, flush=True)


def is_root():
    return os.geteuid() == 0


def drop_caches():
    """Throws away the page cache, inodes and names of the whole machine; what is dirty is written first, so that all goes."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3\n")


def drop_caches_but_libraries(python):
    """The same, but what a script of torchvision imports is read again: in a group with a slow disk that would take minutes. For
    callers outside the group."""
    drop_caches()
    mounts.run(python, "-c", "import torch.utils.data, torchvision")


def has_module(python, module):
    return subprocess.run([python, "-c", f"import {module}"], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


def forget_files(*folders):
    """Takes the pages of all files below these folders out of the page cache, and nobody else's. Names and inodes stay known. What is
    dirty is written first, so that it goes; what a program has mapped stays."""
    for folder in folders:
        for where, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(where, name)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                descriptor = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                finally:
                    os.close(descriptor)


def touch_memory(part=0.7):
    """Writes once to most of the free memory. On a virtual machine the first touch of a page costs several times what a
    later one does, and would be charged to whoever happens to run first."""
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    mounts.run(mounts.program("readfiles"), "--touch", int(available * part))


def read_files(root, threads=1, order="shuffle", seed=0, listing=None, limit=0, epochs=(), pace=0, prefix=()):
    """One run of readfiles; its JSON as a dict. `epochs` are lists that are read one after the other as they are; `pace` is in MB/s."""
    words = [*prefix, mounts.program("readfiles"), "--root", root, "--threads", threads, "--pace", pace]
    for epoch in epochs:
        words += ["--epoch", epoch]
    if not epochs:
        words += ["--order", order, "--seed", seed, "--limit", limit]
    if listing:
        words += ["--list", listing]
    return json.loads(mounts.run(*words))


def write_listing(tree, listing):
    """The paths of all regular files below the tree, one a line, in path order; returns their number."""
    paths = sorted(os.path.relpath(os.path.join(where, name), tree) for where, _, files in os.walk(tree) for name in files
                   if not os.path.islink(os.path.join(where, name)))
    with open(listing, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(path + "\n" for path in paths)
    return len(paths)


def in_turn(names, number):
    """There and back again: round 0 in order, round 1 in reverse, so that what drifts on the machine favours nobody."""
    names = list(names)
    return names if number % 2 == 0 else names[::-1]


def spread(values):
    return f"{statistics.median(values):.3f} [{min(values):.3f} to {max(values):.3f}]"


class Table:
    """Rounds of figures for several contenders, and their ratios to the first one (`base`), round by round. Without a base the
    figures stand for themselves."""

    def __init__(self, title, unit, base=None):
        self.title, self.unit, self.base = title, unit, base
        self.rounds = {}  # name: [figure of round 0, ...]

    def add(self, name, figure):
        self.rounds.setdefault(name, []).append(figure)

    def ratios(self, name):
        return [one / base for one, base in zip(self.rounds[name], self.rounds[self.base])]

    def text(self):
        width = max(map(len, self.rounds)) + 2
        count = max(map(len, self.rounds.values()))
        what = f"ratio to {self.base}: median [least to most]" if self.base else "least to most"
        lines = [f"{self.title} ({self.unit}, median of {count}; {what})"]
        for name, values in self.rounds.items():
            more = spread(self.ratios(name)) if self.base else f"[{min(values):,.3f} to {max(values):,.3f}]"
            lines.append(f"  {name:<{width}}{statistics.median(values):12,.1f}   {more}")
        return "\n".join(lines) + "\n"

    def data(self):
        data = {"title": self.title, "unit": self.unit, "base": self.base, "rounds": self.rounds,
                "median": {name: statistics.median(values) for name, values in self.rounds.items()}}
        if self.base:
            data["ratio"] = {name: statistics.median(self.ratios(name)) for name in self.rounds}
        return data


class Report:
    """Tables as text while they come, or all of them as one JSON object at the end."""

    def __init__(self, as_json):
        self.as_json = as_json
        self.results = {"machine": machine(), "tables": []}
        if not as_json:
            print(self.results["machine"], "\n")

    def add(self, table):
        self.results["tables"].append(table.data())
        if not self.as_json:
            print(table.text(), flush=True)

    def end(self):
        if self.as_json:
            print(json.dumps(self.results))


def clean_up_when_told_to_end():
    """SIGTERM ends the program as Ctrl-C does, so that every `finally` runs; and neither interrupts that when it comes again."""
    def end(number, _frame):
        for other in (signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def make_tree(args, work):
    """The folder to read: the one that was named, or photographs that are made; sets tree, listing, file_count, tree_bytes of args."""
    if not args.tree:
        args.tree = os.path.join(work, "tree")
        mounts.run("/usr/bin/python3" if os.path.exists("/usr/lib/python3/dist-packages/PIL") else sys.executable,
                   mounts.ROOT / "bench" / "dataset.py", "--files", args.files, args.tree)
    args.listing = os.path.join(work, "listing")
    args.file_count = write_listing(args.tree, args.listing)
    with open(args.listing, encoding="utf-8", errors="surrogateescape") as lines:
        args.tree_bytes = sum(os.lstat(os.path.join(args.tree, line.rstrip("\n"))).st_size for line in lines)
    say(f"{args.tree}: {args.file_count:,} files, {args.tree_bytes / 1e6:,.0f} MB")


def run_scenarios(args, name, scenarios, subject_of=lambda args: args):
    """Runs those of the scenarios that args.what names, each on what `subject_of` makes of the arguments, in a working folder with a
    tree, and reports their tables."""
    wanted = list(scenarios) if "all" in args.what else args.what
    with tempfile.TemporaryDirectory(prefix=f"augur-{name}.", dir=args.work) as work:
        args.work = work
        if not args.no_touch:
            say("touching the memory once")
            touch_memory()
        make_tree(args, work)
        subject = subject_of(args)
        report = Report(args.json)
        for what in wanted:
            for table in scenarios[what](subject):
                report.add(table)
        report.end()


def machine():
    """What the figures stand on, for the head of a report."""
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(file.readline().split()[1]) // 1024
    kernel = os.uname().release
    head = subprocess.run(["git", "-C", str(mounts.ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return f"{len(os.sched_getaffinity(0))} cores, {memory} MiB, Linux {kernel}, commit {head or 'unknown'}"
