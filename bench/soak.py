#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mount for hours, with readers of every kind, while everything that can happen to it happens.

    bench/soak.py (--hours H | --minutes M) [--seed S] [--files N] [--only FAULT...] [--work DIR] [--json FILE]

As root. It runs in mount and process namespaces of its own, so nothing is left when it ends, whatever ends it. The store lies on a FUSE
file system of ours (far_folder of the tests' build) that plays a failing disk. Each fault is printed with its seed; --seed repeats the
same faults. Readers: a DataLoader with two workers, a walk, pieces by read and mmap, np.load of a view.

It ends with 1 when one of these did not hold: every byte is right; no read fails but those that met a disk that fails; once a minute,
when nobody reads, nothing is under way and every file is compared; descriptors and threads of our processes do not grow by more than a
tenth after the first third of the time, nor memory after the first hour (in runs of three hours); no thread waits for a disk, and no reader for its file, for a minute; `augurctl status` answers, in
--status-s (a stopped process of ours excepted).
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import cgroup
from far_folder import FarFolder
from mounts import augurfs, augurfs_words, build_dir, end_daemons, program, run, statistics, unmount
from soak_checks import STUCK_S, WARM_S, Growth, StatusProbe, Stuck, compare_all, footprint, is_mounted, wait_until_idle
from soak_data import Data
from soak_faults import SHARED_MIB, Faults, Processes, plan

READERS = ("loader", "walk", "jump", "views")
ROOM_BYTES = 1 << 30  # of the daemon's control group
READY_S = 300         # in which readers have begun
GRACE_S = 5           # in which a READ that met a fault may still end
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
INSIDE = "AUGUR_SOAK_INSIDE"


class Soak:
    def __init__(self, work, options):
        self.work = pathlib.Path(work)
        self.options = options
        self.point = self.work / "mount"
        self.shared_memory = pathlib.Path("/run/augurfs-shm")
        self.processes = Processes(self.point)
        self.problems = []
        self.storms = []      # (begin, end) in which a READ may fail
        self.is_stopped = False
        self.counts = {}      # faults
        self.compared = 0
        self.told = {}        # how many lines of a reader's problems were looked at
        self.progress = {}    # reader: (reads, since when)

    # ---- what the faults need

    def control(self, *words, may_fail=False):
        done = subprocess.run([program("augurctl"), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0 and not may_fail:
            self.problem(f"augurctl {' '.join(map(str, words))}: exit {done.returncode}: {done.stderr.strip()}")
        return done.returncode == 0

    @contextlib.contextmanager
    def little_memory(self, limit_bytes):
        self.group.set_memory(limit_bytes)
        try:
            yield
        finally:
            self.group.set_memory(ROOM_BYTES)

    def set_clock(self, seconds):
        """The daemon's clock reads the file at each look."""
        (self.work / "clock").write_text(f"{seconds:+}", encoding="ascii")

    # ---- what is looked at

    def problem(self, text):
        self.problems.append(text)
        print(f"soak: PROBLEM: {text}", flush=True)

    def look(self):
        """At any time."""
        for task in self.stuck.look():
            self.problem(f"{task} has waited for a disk for {STUCK_S} s")
        now_s = time.monotonic()
        for kind, reader in self.readers.items():
            if reader.poll() is not None:
                self.problem(f"the reader {kind} ended with {reader.returncode}: {reader.stderr.read()[-500:]}")
                self.start_reader(kind)
            reads = self.read_progress(kind).get("reads", 0)
            before, since_s = self.progress.get(kind, (-1, now_s))
            if reads != before:
                self.progress[kind] = (reads, now_s)
            elif now_s - since_s > STUCK_S:
                self.problem(f"the reader {kind} has waited for {STUCK_S} s")
                self.progress[kind] = (reads, now_s)
            self.look_at_problems(kind)

    def look_at_problems(self, kind):
        path = self.work / f"{kind}.problems"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines[self.told.get(kind, 0):]:
            one = json.loads(line)
            if one["error"] != "EIO" or not any(begin <= one["time"] <= end + GRACE_S for begin, end in self.storms):
                self.problem(f"{kind}: {one['text']}")
        self.told[kind] = len(lines)

    def read_progress(self, kind):
        path = self.work / f"{kind}.progress"
        return json.loads(path.read_text(encoding="ascii")) if path.exists() else {}

    def quiet_minute(self):
        """Nobody reads: all must be done, and every byte right."""
        (self.work / "rest").touch()
        try:
            if not is_mounted(self.point):
                self.problem("the mount is gone")
            time.sleep(0.5)
            for text in compare_all(self.point, self.data):
                self.problem(f"compared: {text}")
            self.compared += 1
            self.control("drop", self.point)  # what is kept for readers that may come
            busy = wait_until_idle(self.point)
            if busy:
                self.problem(f"nobody reads, and there is still: {busy}")
            now = footprint(self.processes)
            self.growth.note(now)
            text = "; ".join(f"{name} {one['kilobytes'] >> 10} MiB, {one['descriptors']} fds, {one['threads']} threads" for name, one in now.items())
            print(f"soak: compared all, nothing under way; {text}", flush=True)
        finally:
            (self.work / "rest").unlink()

    # ---- the run

    def start_reader(self, kind):
        words = [sys.executable, pathlib.Path(__file__).with_name("soak_reader.py"), kind, self.work, str(self.chance.randrange(1 << 32))]
        self.readers[kind] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait_for_readers(self):
        """The loader imports PyTorch first, which takes a minute on a machine that is busy."""
        end_s = time.monotonic() + READY_S
        while slow := [kind for kind in READERS if not self.read_progress(kind)]:
            if time.monotonic() > end_s or any(self.readers[kind].poll() is not None for kind in slow):
                self.problem(f"these readers have not begun: {', '.join(slow)}")
                return
            time.sleep(0.1)

    def one_fault(self, name, seed):
        print(f"soak: {time.monotonic() - self.begun_s:7.1f} s: {name} (seed {seed})", flush=True)
        self.counts[name] = self.counts.get(name, 0) + 1
        begun_s = time.monotonic()
        self.is_stopped = name in ("stop", "stuck_disk", "kill", "crash", "little_memory")
        may_fail = name in Faults.MAY_FAIL
        if may_fail:
            self.storms.append((begun_s, float("inf")))
        try:
            with self.faults.begin(name, random.Random(seed)):
                self.look()
        except OSError as failure:
            self.problem(f"{name}: {failure}")
        finally:
            if may_fail:
                self.storms[-1] = (begun_s, time.monotonic())
            time.sleep(1)
            self.is_stopped = False

    def run(self):
        self.chance = random.Random(self.options.seed)
        self.data = Data(self.work, self.options.files, self.options.seed)
        with augurfs(self.data.store, self.point):
            self.data.expect_views(self.point)
        self.set_clock(0)
        with contextlib.ExitStack() as stack:
            far = self.work / "far"
            far.mkdir()
            self.far = stack.enter_context(FarFolder(build_dir() / "tools" / "far_folder", self.work / "disk", far))
            self.group = stack.enter_context(cgroup.group(ROOM_BYTES))
            stack.callback(end_daemons, "augurfs", self.point)
            stack.callback(unmount, self.point)
            words = augurfs_words(program("augurfs"), far / "store", self.point,
                                  ["memory=128M", "cache=shm", f"decoded-cache={self.work / 'decoded'}", f"log={self.work / 'log'}"])
            run(*self.group.prefix, *words, env=self.environment())
            self.readers = {}
            stack.callback(self.end_readers)
            self.faults = Faults(self)
            self.stuck = Stuck(self.processes)
            for kind in READERS:
                self.start_reader(kind)
            self.wait_for_readers()
            self.growth = Growth(min(WARM_S, self.options.seconds / 3))
            self.begun_s = time.monotonic()
            probe = StatusProbe(self.point, lambda: self.is_stopped)
            stack.callback(probe.end)
            self.storm()
            self.quiet_minute()
            self.last_words(probe)
        return not self.problems

    def environment(self):
        words = dict(os.environ, XDG_CACHE_HOME=str(self.work / "cache"))
        if os.path.exists(FAKETIME):
            words |= {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(self.work / "clock"), "FAKETIME_NO_CACHE": "1",
                      "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}
        return words

    def storm(self):
        names = self.options.only or [name for name in self.faults.names if name != "clock" or os.path.exists(FAKETIME)]
        if "clock" not in names and not self.options.only:
            print("soak: no libfaketime, so no clock jumps", flush=True)
        minute_s = time.monotonic() + 60
        for name, seed in plan(names, self.options.seed):
            left_s = self.options.seconds - (time.monotonic() - self.begun_s)
            if left_s <= 0 and set(self.options.only or ()) <= set(self.counts):
                return
            self.one_fault(name, seed)
            self.look()
            if time.monotonic() >= minute_s:
                self.quiet_minute()
                minute_s = time.monotonic() + 60

    def end_readers(self):
        (self.work / "stop").touch()
        for reader in self.readers.values():
            try:
                reader.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                reader.kill()
                reader.communicate()

    def last_words(self, probe):
        for text in self.growth.problems():
            self.problem(text)
        for text in sorted(set(probe.failures)):
            self.problem(f"augurctl status: {text}")
        if probe.slowest_s > self.options.status_s:
            self.problem(f"augurctl status took {probe.slowest_s:.2f} s")
        counters = statistics(self.point)["counters"]
        progress = {kind: self.read_progress(kind) for kind in READERS}
        self.report = {"seconds": time.monotonic() - self.begun_s, "seed": self.options.seed, "faults": self.counts, "readers": progress,
                       "compared": self.compared, "status_asked": probe.asked, "status_slowest_s": probe.slowest_s,
                       "longest_wait_for_disk_s": self.stuck.longest_s, "footprint_base": self.growth.base, "footprint_after": self.growth.last,
                       "restarts": counters["restarts"], "problems": self.problems}
        for kind, one in progress.items():
            print(f"soak: {kind}: {one.get('reads', 0):,} reads, the slowest {one.get('slowest_s', 0):.1f} s")
        print(f"soak: {sum(self.counts.values())} faults in {self.report['seconds']:.0f} s; {counters['restarts']} restarts; all files compared "
              f"{self.compared} times; status {probe.asked} times, the slowest {probe.slowest_s:.2f} s; {len(self.problems)} problems", flush=True)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    time_of = parser.add_mutually_exclusive_group(required=True)
    time_of.add_argument("--hours", type=float, dest="hours")
    time_of.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--files", type=int, default=600)
    parser.add_argument("--only", nargs="+", metavar="FAULT")
    parser.add_argument("--status-s", type=float, default=1.0)
    parser.add_argument("--work")
    parser.add_argument("--json")
    options = parser.parse_args(words)
    options.seconds = 3600 * options.hours if options.hours else 60 * options.minutes
    unknown = set(options.only or ()) - {name.removeprefix("do_") for name in dir(Faults) if name.startswith("do_")}
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    return options


def main(words):
    options = parse(words)
    if missing := cgroup.missing():
        sys.exit(f"soak: {missing}")
    if INSIDE not in os.environ:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        # All processes end with the first one of the namespace, and its mounts with them.
        prefix = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]
        with tempfile.TemporaryDirectory(prefix="augur-soak.", dir=options.work) as work:
            seeded = [*words, "--seed", str(options.seed), "--work", work]
            return subprocess.run([*prefix, sys.executable, __file__, *seeded], env=dict(os.environ, **{INSIDE: work})).returncode
    print(f"soak: seed {options.seed}, {options.seconds:.0f} s", flush=True)
    soak = Soak(os.environ[INSIDE], options)
    # In a /run of its own: who removes the folder elsewhere would take the mount on it away here, too (rmdir(2) does).
    run("mount", "-t", "tmpfs", "-o", "mode=0755", "augur-soak", "/run")
    # libfaketime leaves two files a process there, when the process is killed.
    run("mount", "-t", "tmpfs", "-o", "mode=1777", "augur-soak", "/dev/shm")
    soak.shared_memory.mkdir(mode=0o700)
    run("mount", "-t", "tmpfs", "-o", f"size={SHARED_MIB}M,mode=0700", "augur-soak", soak.shared_memory)
    good = False
    try:
        good = soak.run()
    finally:
        if not good:
            log = soak.work / "log"
            print(f"soak: FAILED; the log of the mount:\n{log.read_text(encoding='utf-8')[-6000:] if log.exists() else 'none'}")
            print("soak: FAILED:", *soak.problems, sep="\n  ", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(soak.report, indent=1), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
