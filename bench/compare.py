#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The mount beside the plain folder and the images that people use today. bench/README.md says how each is measured.

    bench/compare.py hot|cold|scan|epoch|pack|adopt|index|all [options]

Tables go to standard output, or one JSON object with --json; what is being done goes to standard error. Whatever happens,
nothing stays mounted and the working folder is removed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import contenders  # noqa: E402
import measure  # noqa: E402
import mounts  # noqa: E402
from measure import Table, say  # noqa: E402


def numbers(text):
    return [int(part) for part in text.split(",")]


def rates(args, field):
    """A table for each number of threads: {threads: Table}."""
    return {threads: Table(f"{field}, {threads} reader thread{'s' if threads > 1 else ''}", "files/s", "folder") for threads in args.threads}


def hot(args, people):
    """All in the page cache: each is read once first, then in turn, shuffled by another seed each round."""
    tables = rates(args, "hot, random order")
    with contextlib.ExitStack() as stack:
        paths = {one.name: stack.enter_context(one.mounted()) for one in people if not one.cold_only}
        for name, path in paths.items():
            say(f"warming {name}")
            measure.read_files(path, listing=args.listing)
        for number in range(args.rounds):
            for threads in args.threads:
                for name in measure.in_turn(paths, number):
                    result = measure.read_files(paths[name], threads, seed=number, listing=args.listing)
                    tables[threads].add(name, result["files_per_s"])
            say(f"hot: round {number + 1} of {args.rounds}")
    return list(tables.values())


def cold(args, people):
    """Nothing in the page cache, and a daemon that has just started; then the same after a scan of the tree."""
    if not measure.is_root():
        say("left out: cold: dropping the caches needs root")
        return []
    found = []
    for scanned in (False, True):
        tables = rates(args, "cold, after a scan of the tree, random order" if scanned else "cold, random order")
        for number in range(args.rounds):
            for threads in args.threads:
                for one in measure.in_turn(people, number):
                    measure.drop_caches()
                    with one.mounted() as path:
                        one.before()
                        if scanned:
                            walk(path)
                        result = measure.read_files(path, threads, seed=number, listing=args.listing, limit=args.cold_files)
                        tables[threads].add(one.name, result["files_per_s"])
                if not scanned and shutil.which("fio"):
                    limit = disk_limit(args, threads, args.tree_bytes / args.file_count)
                    if limit:
                        tables[threads].add("disk, O_DIRECT", limit)
            say(f"cold{' after a scan' if scanned else ''}: round {number + 1} of {args.rounds}")
        found += tables.values()
    return found


def disk_limit(args, threads, mean_bytes):
    """Files a second if each were one random O_DIRECT read of the mean size, by as many threads: what the disk itself gives.
    The file that is read is an image or, without one, a shard."""
    candidates = [path for path in pathlib.Path(args.work).rglob("*") if path.is_file()]
    target = max(candidates, key=lambda path: path.stat().st_size, default=None)
    block = max(4096, int(mean_bytes) // 4096 * 4096)
    if target is None or target.stat().st_size < 4 * block:
        return None
    out = mounts.run("fio", "--name=limit", f"--filename={target}", "--readonly", "--rw=randread", f"--bs={block}", "--direct=1",
                     "--ioengine=psync", "--thread", f"--numjobs={threads}", "--group_reporting", "--time_based",
                     f"--runtime={args.disk_seconds}", "--output-format=json")
    return json.loads(out[out.index("{"):])["jobs"][0]["read"]["bw_bytes"] / mean_bytes


def walk(path):
    """Every name and every stat, as a script that looks for its files does; returns the number of files."""
    count = 0
    for where, _, files in os.walk(path):
        for name in files:
            os.stat(os.path.join(where, name), follow_symlinks=False)
        count += len(files)
    return count


def find(path):
    """The same by find(1)."""
    out = subprocess.run(["find", str(path), "-type", "f", "-printf", "%s\n"], capture_output=True, check=True).stdout
    return out.count(b"\n")


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def scan(args, people):
    """os.walk with a stat of each file, and find; cold (where root can drop the caches), then hot."""
    found = []
    people = [one for one in people if not one.cold_only]
    for name, function in (("os.walk and stat", walk), ("find -printf %s", find)):
        for state in ("cold", "hot"):
            if state == "cold" and not measure.is_root():
                continue
            table = Table(f"scan, {state}, {name}", "files/s", "folder")
            for number in range(args.rounds):
                for one in measure.in_turn(people, number):
                    if state == "cold":
                        measure.drop_caches()
                    with one.mounted() as path:
                        if state == "hot":
                            function(path)
                        seconds, count = timed(function, path)
                        if count != args.file_count:
                            raise RuntimeError(f"{one.name}: {name} sees {count} files, there are {args.file_count}")
                        table.add(one.name, count / seconds)
            found.append(table)
            say(f"scan, {state}, {name}: done")
    return found


def epoch(args, people):
    """torchvision's ImageFolder with the usual transform for training, all in the page cache."""
    try:
        mounts.run(args.python, "-c", "import torchvision")
    except RuntimeError:
        say(f"left out: epoch: {args.python} has no torchvision (choose another with --python)")
        return []
    with contextlib.ExitStack() as stack:
        paths = [f"{one.name}={stack.enter_context(one.mounted())}" for one in people if not one.cold_only]
        out = mounts.run(args.python, HERE / "imagefolder_epoch.py", "--check", "--json", "--rounds", args.rounds, *paths)
    result = json.loads(out.splitlines()[-1])
    table = Table(f"ImageFolder epoch, hot, {result['workers']} workers, {result['equal_samples']} samples compared equal", "photographs/s", "folder")
    table.rounds = result["rates"]
    return [table]


def pack(args, people):
    """augurpack create beside mksquashfs without compression, cold; until the program ends, and until all is on the disk."""
    if not shutil.which("mksquashfs"):
        say("left out: pack: needs mksquashfs")
        return []
    ended = Table("pack, until the program ends", "MB/s", "mksquashfs")
    synced = Table("pack, until all is on the disk (syncfs)", "MB/s", "mksquashfs")
    store, image = os.path.join(args.work, "pack.augur"), os.path.join(args.work, "pack.squashfs")
    commands = {
        "mksquashfs": ["mksquashfs", args.tree, image, "-noI", "-noD", "-noF", "-noX", "-no-progress", "-quiet"],
        "augurpack": [mounts.program("augurpack"), "create", "--quiet", args.tree, store],
    }
    for number in range(args.rounds):
        for name in measure.in_turn(commands, number):
            shutil.rmtree(store, ignore_errors=True)
            pathlib.Path(image).unlink(missing_ok=True)
            if measure.is_root():
                measure.drop_caches()
            start = time.perf_counter()
            mounts.run(*commands[name])
            ended.add(name, args.tree_bytes / 1e6 / (time.perf_counter() - start))
            mounts.run("sync", "-f", args.work)
            synced.add(name, args.tree_bytes / 1e6 / (time.perf_counter() - start))
        say(f"pack: round {number + 1} of {args.rounds}")
    return [ended, synced]


def adopt(args, _):
    """augurpack adopt of a tar of the tree beside cat of the same tar, which is what the disk gives one reader; cold."""
    tar, store = os.path.join(args.work, "adopt.tar"), os.path.join(args.work, "adopt.augur")
    mounts.run("tar", "-cf", tar, "-C", args.tree, ".")
    table = Table("adopt a tar, until the program ends", "MB/s", "cat")
    commands = {"cat": ["cat", tar], "augurpack adopt": [mounts.program("augurpack"), "adopt", "--quiet", tar, store]}
    for number in range(args.rounds):
        for name in measure.in_turn(commands, number):
            shutil.rmtree(store, ignore_errors=True)
            if measure.is_root():
                measure.drop_caches()
            start = time.perf_counter()
            subprocess.run(commands[name], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
            table.add(name, os.path.getsize(tar) / 1e6 / (time.perf_counter() - start))
        say(f"adopt: round {number + 1} of {args.rounds}")
    return [table]


def status_of(pid):
    """VmRSS, RssAnon, RssFile, RssShmem of a process, in KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return {key: int(fields[key].split()[0]) for key in ("VmRSS", "RssAnon", "RssFile", "RssShmem")}


def index(args, _):
    """Mount time, the daemon's memory and a full find, for indexes of more and more files without data."""
    rows = []
    for count in args.index_files:
        store, point = os.path.join(args.work, f"index-{count}"), os.path.join(args.work, "index.mnt")
        say(f"index: making one of {count:,} files")
        mounts.run(mounts.program("make_index"), "--files", count, "--store", store)
        all_cold, index_cold = [], []
        for number in range(max(3, args.rounds)):
            for seconds, loaded in ((all_cold, False), (index_cold, True)):
                if measure.is_root():
                    measure.drop_caches()
                if loaded:
                    mounts.run(mounts.program("augurfs"), "--version")
                os.makedirs(point, exist_ok=True)
                with mounts.no_memories() as environment:
                    try:
                        start = time.perf_counter()
                        mounts.run(mounts.program("augurfs"), store, point, env=environment)
                        os.stat(point)
                        seconds.append(time.perf_counter() - start)
                    finally:
                        mounts.unmount(point)
                        mounts.end_daemons("augurfs", point)
        with mounts.augurfs(store, point) as daemon:
            before = status_of(daemon.pid)
            find_seconds, found = timed(find, point)
            if found != count:
                raise RuntimeError(f"find sees {found} of {count} files")
            after = status_of(daemon.pid)
            again_seconds, _ = timed(find, point)
        rows.append({"files": count, "index_bytes": sum(path.stat().st_size for path in pathlib.Path(store).glob("index-*")),
                     "mount_all_cold_ms": [1e3 * value for value in all_cold], "mount_ms": [1e3 * value for value in index_cold], "before_scan_kib": before, "find_s": find_seconds,
                     "find_again_s": again_seconds, "after_scan_kib": after})
        shutil.rmtree(store)
    return [IndexTable(rows)]


class IndexTable:
    """Not a comparison: what a mount of so many files costs."""

    def __init__(self, rows):
        self.rows = rows

    def text(self):
        lines = ["index without data (mount: the command returns and stat works, index cold, median; all cold: the program too; memory of the daemon)",
                 "       files   index MiB   mount ms   all cold   RSS before scan (anon) MiB   find s   again s   RSS after (anon) MiB"]
        for row in self.rows:
            before, after = row["before_scan_kib"], row["after_scan_kib"]
            lines.append(f"{row['files']:12,}{row['index_bytes'] / 2**20:12.1f}{statistics.median(row['mount_ms']):11.1f}"
                         f"{statistics.median(row['mount_all_cold_ms']):11.1f}"
                         f"{before['VmRSS'] / 1024:17.1f} ({before['RssAnon'] / 1024:6.1f})   {row['find_s']:9.2f}{row['find_again_s']:10.2f}"
                         f"{after['VmRSS'] / 1024:14.1f} ({after['RssAnon'] / 1024:.1f})")
        return "\n".join(lines) + "\n"

    def data(self):
        return {"title": "index without data", "rows": self.rows}


WHAT = {"hot": hot, "cold": cold, "scan": scan, "epoch": epoch, "pack": pack, "adopt": adopt, "index": index}


def arguments():
    parser = argparse.ArgumentParser(description="The mount beside the plain folder and the images that people use today.")
    parser.add_argument("what", nargs="+", choices=[*WHAT, "all"])
    parser.add_argument("--tree", metavar="DIR", help="an image folder to use; without it one is made")
    parser.add_argument("--files", type=int, default=12_000, metavar="N", help="photographs of the one that is made (12000: 1.3 GB)")
    parser.add_argument("--threads", type=numbers, default=[1, 8, 16], metavar="N,N", help="reader threads (1,8,16)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="(5)")
    parser.add_argument("--cold-files", type=int, default=0, metavar="N", help="read only so many files of the tree in a cold round (all)")
    parser.add_argument("--disk-seconds", type=float, default=2, metavar="S", help="length of a measurement of the disk's limit (2)")
    parser.add_argument("--index-files", type=numbers, default=[10_000, 1_000_000, 10_000_000], metavar="N,N")
    parser.add_argument("--only", metavar="NAME,NAME", help="contenders beside the folder: " + ", ".join(kind.name for kind in contenders.ALL[1:]))
    parser.add_argument("--work", metavar="DIR", help="where to work: a disk that deserves to be measured (the system's temporary folder)")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the python3 that has torchvision, for epoch")
    parser.add_argument("--no-touch", action="store_true", help="do not touch the memory first")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    args = arguments()
    measure.clean_up_when_told_to_end()
    wanted = list(WHAT) if "all" in args.what else args.what
    with tempfile.TemporaryDirectory(prefix="augur-bench.", dir=args.work) as work:
        args.work = work
        if not args.no_touch:
            say("touching the memory once")
            measure.touch_memory()
        people = []
        if set(wanted) - {"index"}:
            measure.make_tree(args, work)
            if set(wanted) - {"index", "pack", "adopt"}:
                people = contenders.prepared(args.tree, work, args.only.split(",") if args.only else None)
        report = measure.Report(args.json)
        for what in wanted:
            for table in WHAT[what](args, people):
                report.add(table)
        report.end()


if __name__ == "__main__":
    main()
