#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the daemon finds out by itself in which order files will be read: real scripts on real mounts, one row a script.

    bench/foresee.py --list
    bench/foresee.py --rows seed-2,distributed-4 --python V/bin/python --results FILE
    bench/foresee.py --rows all --python V/bin/python --results FILE
    bench/foresee.py --render --results FILE

Each row drops the caches, mounts the store anew with memory for half of the data and an empty folder for what the daemon remembers, and
runs a script of foresee_scripts/ as it is: no hint. The scripts keep a pace and do not decode (Keras must), so an epoch takes as long as
training would. They note when they open each file (TensorFlow and DALI: when a batch is delivered, which is later by what they read ahead;
there a file counts as foreseen that was read shortly before the order was found). Ten times a second (fifty times,
while no order is known) the daemon's own statistics are read from the mount, and the time of that noted by the same clock.

- how found: what the daemon says when it says first that an order is known.
- reads until locked, seconds until locked: from the first file that was read to the first look at which an order was known: files opened
  by then by all processes together, and time.
- foreseen: of the files of an epoch, those that were opened while the daemon followed a known order of that job. Where an order is given
  up within the first thousand files of an epoch, it was the wrong one for it, and what was opened until then does not count. With several
  jobs at once, each file counts by the part of the jobs whose order is known.
- as predicted: the least share of the reads that the daemon itself calls as predicted, at the end of an order that it followed.
- rates (in --results only): files a second of each epoch while its order was not known, and while it was.
- rows pt and zarr read one file a sample in a view, rows h5 one file of all samples, at half of the pace, because the daemon decodes
  there; zarr needs PYTHONPATH=$(packaging/venv.sh formats). --gentle takes only the data out of the page cache, for a machine with other work.
- wasted: bytes that the daemon read ahead and dropped unread, until the last file was opened, and their part of the bytes opened. Later
  ones were read ahead for an epoch that never comes.

Results are put into --results (JSON, one entry a row, a row that is run again replaces its entry), and the whole file is printed as
Markdown at the end. bench/requirements.txt says what --python needs.
"""

import argparse
import bisect
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import given_orders  # noqa: E402
import measure  # noqa: E402
import mounts  # noqa: E402
from foresee_job import SCRIPTS, Job  # noqa: E402
from foresee_rows import ROWS  # noqa: E402

LOOK_EVERY_S = 0.1
LOOK_EVERY_UNTIL_KNOWN_S = 0.02
SOON = 1000  # files
PREDICTED = re.compile(r"([0-9.]+) % of the reads so far as predicted")
COUNTERS = ("orders_found", "orders_lost", "wasted_bytes", "reads", "opens", "pushes", "stalls")


def is_known(text):
    """Whether a line of the daemon's statistics says that the order of a job is known now."""
    return "as predicted" in text and "nothing now" not in text


class Watch(threading.Thread):
    """Looks at the daemon's statistics again and again, until it is told to end."""

    def __init__(self, point):
        super().__init__(daemon=True)
        self.point = point
        self.looks = []  # (time, lines of jobs whose order is known, all lines, orders given up so far, bytes wasted so far)
        self.counters = {}
        self.ending = threading.Event()

    def look(self):
        statistics = mounts.statistics(self.point)
        lines = [text for name, text in statistics["mount"].items() if name.startswith("predicted")]
        self.counters = {name: statistics["counters"][name] for name in COUNTERS}
        self.looks.append((time.monotonic(), [line for line in lines if is_known(line)], lines, self.counters["orders_lost"], self.counters["wasted_bytes"]))

    def run(self):
        while not self.ending.wait(LOOK_EVERY_S if self.known() else LOOK_EVERY_UNTIL_KNOWN_S):
            self.look()

    def known(self):
        return bool(self.looks) and bool(self.looks[-1][1])

    def end(self):
        self.ending.set()
        self.join()


def known_part(looks, jobs, moments):
    """Of an epoch's files, opened at these moments, the mean part of the jobs whose order was known."""
    given_up = [now[0] for before, now in zip(looks, looks[1:]) if now[3] > before[3]]
    wrong_until = max((moment for moment in given_up if bisect.bisect(moments, moment) < SOON), default=0.0)
    total, at = 0.0, 0
    for moment in moments[bisect.bisect(moments, wrong_until):]:
        while at < len(looks) and looks[at][0] <= moment:
            at += 1
        total += min(1.0, len(looks[at - 1][1]) / jobs) if at else 0.0
    return total / len(moments) if moments else None


def rates(looks, moments):
    """Files a second of an epoch, opened at these moments, while its order was not known and while one was: what a search takes from a
    script that keeps the cores busy. None where there was no such time."""
    files, seconds = [0, 0], [0.0, 0.0]
    for look, following in zip(looks, looks[1:]):
        begin, end = max(look[0], moments[0]), min(following[0], moments[-1])
        if begin < end:
            known = bool(look[1])
            files[known] += bisect.bisect(moments, end) - bisect.bisect(moments, begin)
            seconds[known] += end - begin
    return [count / time_s if time_s else None for count, time_s in zip(files, seconds)]


def least_predicted(looks):
    """Of the orders that were followed, the least share of reads as predicted, when each was looked at last."""
    shares = []
    for (_, now, *_), following in zip(looks, [*looks[1:], None]):
        if now and (following is None or len(following[1]) < len(now)):
            shares += [float(found.group(1)) for line in now for found in [PREDICTED.search(line)] if found]
    return min(shares, default=None)


def array_bytes(place, samples):
    """Of an array in a view, where all have one size: the largest file, or the share of a sample in the one HDF5 file that has them all."""
    largest = max((os.path.join(where, name) for where, _, names in os.walk(place) for name in names), key=os.path.getsize)
    return os.stat(largest).st_blocks * 512 / samples if largest.endswith(".h5") else os.path.getsize(largest)


def what_was_seen(row, jobs, watch, log):
    """The figures of one run."""
    epochs = [job.epochs() for job in jobs]
    opened = sorted(moment for job in epochs for epoch in job for moment in epoch)
    looks = [look for look in watch.looks if look[0] >= opened[0]]
    found = next((look for look in looks if look[1]), None)
    # By the last job: how long it took until all were known.
    locked = next((look for look in looks if len(look[1]) >= len(jobs)), None)
    wasted_bytes = next((look[4] for look in looks if look[0] >= opened[-1]), watch.counters["wasted_bytes"])
    count = min(map(len, epochs))
    parts = [[known_part(looks, len(jobs), job[number]) for job in epochs] for number in range(count)]
    return {"how": found[1][0].split(";")[0] if found else None,
            "reads": bisect.bisect(opened, locked[0]) if locked else None, "seconds": locked[0] - opened[0] if locked else None,
            "foreseen": [sum(part) / len(part) for part in parts], "predicted": least_predicted(looks), "opened": len(opened), "wasted_bytes": wasted_bytes,
            "rates": [rates(looks, moments) for moments in epochs[0]],
            "epoch_seconds": [epochs[0][number][-1] - epochs[0][number][0] for number in range(count)],
            "lines": max(len(look[2]) for look in looks), "last": looks[-1][2], "counters": watch.counters, "log": log}


def daemon_said(log):
    """The daemon's lines about orders, with their time of day."""
    with open(log, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if "mounted" not in line and "reading by" not in line and "memory budget" not in line]


def run_once(args, row, work, number, point):
    """One run of the row's scripts on a mount; its figures."""
    if args.gentle:
        measure.forget_files(args.tree, args.store)
    else:
        measure.drop_caches()
    log = os.path.join(work, f"log{number}")
    options = [f"memory={args.memory}", f"log={log}", *args.option]
    prefix = ["env", f"XDG_CACHE_HOME={work}/cache", *(["unshare", "--pid", "--fork"] if row.blind_daemon else [])]
    with contextlib.ExitStack() as stack:
        stack.enter_context(mounts.augurfs(args.store, point, *options, prefix=prefix))
        if row.half_cached:
            mounts.run(sys.executable, SCRIPTS / "read_half.py", point)
        watch = Watch(point)
        watch.start()
        stack.callback(watch.end)
        jobs = []
        place = os.path.join(point, ".augur", "views", row.view) if row.view else point
        for job, words in enumerate(row.jobs):
            rate = args.rate * row.rate_part / row.processes
            jobs.append(Job(args.python, words, f"{number}.{job}", work, place, args.epochs, rate, row.processes))
            stack.callback(jobs[-1].end)
        try:
            for job in jobs:
                job.wait(args.patience)
        finally:
            watch.end()
            if args.verbose:
                measure.say("\n".join(daemon_said(log)))
        seen = what_was_seen(row, jobs, watch, daemon_said(log))
        return {**seen, "file_bytes": array_bytes(place, args.file_count)} if row.view else seen


def measured(args, row):
    """All runs of a row; the figures of the last."""
    with tempfile.TemporaryDirectory(prefix=f"augur-foresee-{row.name}.", dir=args.work) as work:
        runs = [run_once(args, row, work, number, os.path.join(work, "mnt")) for number in range(row.runs)]
    return {**runs[-1], "before": runs[:-1], "machine": measure.machine(), "rate": args.rate, "files": args.file_count, "bytes": args.tree_bytes}


def wasted(figures):
    opened_bytes = figures["opened"] * figures.get("file_bytes", figures["bytes"] / figures["files"])
    return f"{figures['wasted_bytes'] / 1e6:,.1f} MB, {100 * figures['wasted_bytes'] / opened_bytes:.2f} %"


def per_cent(part):
    return "" if part is None else f"{100 * part:.1f}"


def markdown(results):
    lines = ["| script | how found | reads until locked | seconds until locked | foreseen of epoch 1, 2, 3 (%) | as predicted (%) | wasted |", "|---|---|---|---|---|---|---|"]
    for row in ROWS:
        figures = results.get(row.name)
        if figures is None:
            continue
        if "failed" in figures:
            lines.append(f"| {row.title} | failed: {figures['failed'].splitlines()[-1][:120]} | | | | | |")
            continue
        locked = figures["seconds"] is not None
        lines.append(" | ".join([f"| {row.title}", figures["how"] or "not found", f"{figures['reads']:,}" if locked else "", f"{figures['seconds']:.1f}" if locked else "",
                                 ", ".join(map(per_cent, figures["foreseen"])), "" if figures["predicted"] is None else f"{figures['predicted']:.1f}",
                                 f"{wasted(figures)} |"]))
    return "\n".join(lines)


def read_results(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_results(path, name, figures):
    """Other pieces of the table may have been written meanwhile."""
    results = {**read_results(path), name: figures}
    new = f"{path}.new"
    with open(new, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    os.replace(new, path)


def arguments():
    parser = argparse.ArgumentParser(description="Whether the daemon finds out by itself in which order files will be read.")
    parser.add_argument("--rows", default="", metavar="NAME,NAME", help="'all', or 'quick': those without a search of all seeds")
    parser.add_argument("--list", action="store_true", help="list the rows and end")
    parser.add_argument("--render", action="store_true", help="print what was measured before and end")
    parser.add_argument("--results", default="foresee.json", metavar="FILE", help="(foresee.json)")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the python3 that has the frameworks")
    parser.add_argument("--tree", metavar="DIR", help="an image folder to use; without it one is made")
    parser.add_argument("--store", metavar="DIR", help="the same, packed; without it it is packed")
    parser.add_argument("--files", type=int, default=12_000, metavar="N", help="photographs of the one that is made (12000: 1.3 GB)")
    parser.add_argument("--rate", type=float, default=400, metavar="N", help="files a second of a job (400)")
    parser.add_argument("--epochs", type=int, default=3, metavar="N", help="(3)")
    parser.add_argument("--memory-part", type=float, default=0.5, metavar="PART", help="memory of the daemon, as a part of the data (0.5)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a further mount option")
    parser.add_argument("--patience", type=float, default=1800, metavar="S", help="a script that takes longer has failed (1800)")
    parser.add_argument("--work", metavar="DIR", help="where to work (the system's temporary folder)")
    parser.add_argument("--gentle", action="store_true", help="take only the data out of the page cache, not what other programs have there")
    parser.add_argument("--verbose", action="store_true", help="show what the daemon says")
    return parser.parse_args()


def chosen(text):
    if text in ("all", "quick"):
        return [row for row in ROWS if text == "all" or not row.search]
    by_name = {row.name: row for row in ROWS}
    unknown = [name for name in text.split(",") if name not in by_name]
    if unknown:
        sys.exit(f"foresee.py: --rows: no row is named {', '.join(unknown)}; --list shows them")
    return [by_name[name] for name in text.split(",")]


def main():
    args = arguments()
    if args.list:
        for row in ROWS:
            print(f"{row.name:<22} {'search ' if row.search else '       '}{row.title}")
        return
    if args.render:
        print(markdown(read_results(args.results)))
        return
    rows = chosen(args.rows)
    measure.clean_up_when_told_to_end()
    if not measure.is_root():
        sys.exit("foresee.py: needs root, to drop the caches")
    with tempfile.TemporaryDirectory(prefix="augur-foresee.", dir=args.work) as work:
        measure.make_tree(args, work)
        args.memory = int(max(given_orders.MEMORY_FOR_ORDERS_MIN, args.tree_bytes * args.memory_part))
        if not args.store:
            args.store = os.path.join(work, "store")
            mounts.create_store(args.tree, args.store)
        for row in rows:
            measure.say(f"{row.name}: {row.title}")
            try:
                figures = measured(args, row)
                measure.say(f"  {figures['how']}; {figures['reads']} reads, {figures['seconds']} s; foreseen {[round(part, 4) for part in figures['foreseen']]}")
            except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
                figures = {"failed": str(error)}
                measure.say(f"  failed: {error}")
            write_results(args.results, row.name, figures)
    print(markdown(read_results(args.results)))


if __name__ == "__main__":
    main()
