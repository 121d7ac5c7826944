#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What foresight costs a training script that it cannot help: no seed, and all data in memory.

    bench/foresee_hot.py --python V/bin/python --work /somewhere/on/ext4

The script is foresee_scripts/image_folder.py: ImageFolder, DataLoader(shuffle=True) without a seed. Two worker processes decode each image
by Pillow, as fast as they can. All files of the folder and of the store are read once before each run, so no read waits for a disk. Each
run mounts the store anew, by a daemon that remembers nothing; one process of the script goes through all epochs.

Contenders, in turn, there and back again: the folder; the mount (augurfs); the mount with -o predict=off. Figures are files a second of
each epoch, from its first open to its last, and ratios to the folder in the same round: median, least and most. The processor time of the
daemon and its helper stands beside them (`--verbose`: of each thread).
"""

import argparse
import contextlib
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import contenders  # noqa: E402
import measure  # noqa: E402
import mounts  # noqa: E402
from foresee_job import Job  # noqa: E402

TICKS_S = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 1800


class NothingPredicted(contenders.AugurFSNothingPredicted):
    cold_only = False


def read_all(folder):
    """Brings all files into the page cache."""
    for where, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(where, name), "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass


def processor_seconds(stat):
    """Processor time of /proc/PID/stat or of a thread's."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(stat, encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_S
    return 0.0


def threads(pid):
    """Processor time of the process and its children: by name of thread, seconds."""
    seconds = {}
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    for process in (str(pid), *children):
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            name = (task / "comm").read_text(encoding="utf-8").strip()
            seconds[name] = seconds.get(name, 0.0) + processor_seconds(task / "stat")
    return seconds


def run_once(args, one, number):
    """Files a second of each epoch, and the daemon's processor time by thread."""
    for folder in (args.tree, args.store):
        read_all(folder)
    with one.mounted() as path:
        job = Job(args.python, ("image_folder.py", "--decode", "--workers", args.workers, *args.script_option), f"-{number}", args.work, path, args.epochs)
        try:
            job.wait(PATIENCE_S)
            rates = [(len(moments) - 1) / (moments[-1] - moments[0]) for moments in job.epochs()]
        finally:
            job.end()
        os.unlink(job.notes)
        return rates, threads(one.daemon.pid) if isinstance(one, contenders.AugurFS) else {}


def measured(args):
    """A table of rates for each epoch, and one of the daemons' processor time."""
    people = [contenders.Folder(args.tree, args.work), contenders.AugurFS(args.tree, args.work), NothingPredicted(args.tree, args.work)]
    for one in people:
        one.prepare()
    args.store = people[1].path
    tables = [measure.Table(f"unseeded script, hot data, epoch {epoch + 1}", "files/s", people[0].name) for epoch in range(args.epochs)]
    spent = measure.Table(f"processor time of daemon and helper, {args.epochs} epochs", "s")
    for number in range(args.rounds):
        for one in measure.in_turn(people, number):
            rates, seconds = run_once(args, one, number)
            for table, rate in zip(tables, rates):
                table.add(one.name, rate)
            measure.say(f"round {number + 1}: {one.name}: {', '.join(f'{rate:,.0f}' for rate in rates)} files/s")
            if seconds:
                spent.add(one.name, sum(seconds.values()))
            if args.verbose:
                measure.say("   " + ", ".join(f"{name} {time_s:.2f}" for name, time_s in sorted(seconds.items(), key=lambda item: -item[1])))
    return [*tables, spent]


def main():
    parser = argparse.ArgumentParser(description="What foresight costs an unseeded script on hot data.")
    parser.add_argument("--python", default=sys.executable, help="that has torch, torchvision and Pillow")
    parser.add_argument("--work", default="/tmp", metavar="DIR", help="for the files, on the disk that is to be measured")
    parser.add_argument("--tree", metavar="DIR", help="the folder to read; default: photographs that are made")
    parser.add_argument("--files", type=int, default=3500, metavar="N")
    parser.add_argument("--epochs", type=int, default=5, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--workers", default="2", metavar="N")
    parser.add_argument("--script-option", action="append", default=[], metavar="WORD", help="a further word for the script: --script-option=--model")
    parser.add_argument("--no-touch", action="store_true", help="do not touch the memory before")
    parser.add_argument("--verbose", action="store_true", help="processor time of each thread of the daemon")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    args.what = ["hot"]
    measure.clean_up_when_told_to_end()
    measure.run_scenarios(args, "foresee-hot", {"hot": measured})


if __name__ == "__main__":
    main()
