# SPDX-License-Identifier: Apache-2.0
"""What must hold in a soak, at any time and once a minute."""

import contextlib
import os
import pathlib
import subprocess
import threading
import time

from mounts import mounted_times, program, statistics
from soak_data import digest, view_file

QUIET_S = 60     # in which a mount that nobody reads must have nothing left to do
STUCK_STATE = "D"  # of proc(5): a thread that waits for a disk
STUCK_S = 60     # how long a thread may wait for a disk, and a reader for its file
GROWTH = 1.1     # of memory and descriptors, from the first hour to the end
SPARE = {"kilobytes": 8 << 10, "descriptors": 8, "threads": 2}  # what two looks may differ by
WARM_S = 3600    # after which caches are full; before that memory grows, and says nothing
# The others are what caches keep. While a reader rests in the middle of an order, what comes next is held for it (staging_bytes).
IDLE = ("reads_in_flight", "pushes_waiting", "staging_bytes")


class StatusProbe:
    """Asks `augurctl status` all the time, from a thread of its own. `slowest_s` is without the time in which a process of ours was
    stopped or the kernel had ended it: `is_exempt()`."""

    def __init__(self, point, is_exempt):
        self.point = point
        self.is_exempt = is_exempt
        self.slowest_s = 0.0
        self.asked = 0
        self.failures = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self):
        while not self._end.wait(1.0):
            exempt = self.is_exempt()
            begun_s = time.monotonic()
            done = subprocess.run([program("augurctl"), "status", self.point], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            taken_s = time.monotonic() - begun_s
            self.asked += 1
            if exempt or self.is_exempt():
                continue
            self.slowest_s = max(self.slowest_s, taken_s)
            if done.returncode != 0:
                self.failures.append(done.stderr.strip())

    def end(self):
        self._end.set()
        self._thread.join()


def busy_gauges(point):
    gauges = statistics(point)["gauges"]
    return {name: gauges[name] for name in IDLE if gauges[name] and not (name == "staging_bytes" and gauges["orders_queued"])}


def wait_until_idle(point):
    """What is not zero though nobody reads; nothing when all is."""
    end_s = time.monotonic() + QUIET_S
    while (busy := busy_gauges(point)) and time.monotonic() < end_s:
        time.sleep(0.1)
    return busy


def compare_all(point, data):
    """The paths whose bytes are not those of the folder or of the view, each of them read."""
    wrong = []
    for path, allowed in data.contents.items():
        try:
            if digest((pathlib.Path(point) / path).read_bytes()) != allowed[-1]:
                wrong.append(path)
        except OSError as failure:
            wrong.append(f"{path}: {failure}")
    for path, wanted in list(data.views.items())[::7]:
        try:
            if digest(view_file(point, path).read_bytes()) != wanted:
                wrong.append(f"view of {path}")
        except OSError as failure:
            wrong.append(f"view of {path}: {failure}")
    return wrong


def descriptors(folder):
    """How many a process has open, beside those of shards: each `augurpack append` adds a shard, which the next daemon opens once."""
    count = 0
    for link in (folder / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            count += not os.path.basename(os.readlink(link)).startswith("shard-")
    return count


def footprint(processes):
    """Memory (RssAnon), descriptors and threads of each process of ours, by name."""
    found = {}
    for name, pids in processes.by_name().items():
        for pid in pids[:1]:
            folder = pathlib.Path(f"/proc/{pid}")
            try:
                fields = dict(line.split(":", 1) for line in (folder / "status").read_text(encoding="utf-8").splitlines())
                found[name] = {"kilobytes": int(fields["RssAnon"].split()[0]), "descriptors": descriptors(folder),
                               "threads": int(fields["Threads"])}
            except (OSError, KeyError):  # it has ended; a zombie has no memory
                continue
    return found


class Growth:
    """Whether the processes grow: what each holds when nobody reads, in the first `base_s` seconds and after them."""

    def __init__(self, base_s):
        self.base_s = base_s
        self.begun_s = time.monotonic()
        self.base, self.last = {}, {}

    def note(self, footprints):
        in_base = time.monotonic() - self.begun_s < self.base_s
        for name, values in footprints.items():
            place = self.base if in_base or name not in self.base else self.last
            before = place.setdefault(name, dict(values))
            for what, value in values.items():
                before[what] = max(before[what], value)

    def problems(self):
        return [f"{name}: {what} grew from {self.base[name][what]} to {value}"
                for name, values in self.last.items() for what, value in values.items()
                if value > self.base[name][what] * GROWTH + SPARE[what] and (what != "kilobytes" or self.base_s >= WARM_S)]


class Stuck:
    """Threads of ours that wait for a disk (state D), looked at again and again."""

    def __init__(self, processes):
        self.processes = processes
        self.since_s = {}
        self.longest_s = 0.0

    def look(self):
        """The threads that have waited too long."""
        now_s = time.monotonic()
        waiting = set()
        for pids in self.processes.by_name().values():
            for pid in pids:
                for task in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
                    try:
                        if task.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0] == STUCK_STATE:
                            waiting.add(str(task.parent))
                    except OSError:
                        continue
        self.since_s = {task: self.since_s.get(task, now_s) for task in waiting}
        self.longest_s = max([self.longest_s, *(now_s - since_s for since_s in self.since_s.values())])
        return [task for task, since_s in self.since_s.items() if now_s - since_s > STUCK_S]


def is_mounted(point):
    return mounted_times(point) == 1
