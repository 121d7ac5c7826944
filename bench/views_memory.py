# SPDX-License-Identifier: Apache-2.0
"""The daemon's memory while large images are decoded: it stays within a small budget, and what an image in flight takes."""

import concurrent.futures
import contextlib
import os
import pathlib
import threading

import foretold
import measure
import mounts
from foretold import MIB
from measure import Table
from views_check import Check, expected, kind_of
from views_row import Row, view_path

BUDGET = "256M"
ROOMY = "4G"
SPECS = ("npy", "pixels", "npy+size=256")


def memory(rows):
    """Peaks of RssAnon + RssShmem of the daemon and what it has started: as much as asked for at once, in a budget; and one by one, with room."""
    args = rows.args
    tree, store = (os.path.join(args.work, name) for name in ("large", "large.store"))
    sizes = rows.script(Row("large", script="large_images.py"), tree, "--images", args.large, "--megapixels", args.megapixels)
    mounts.create_store(tree, store)
    pixels_mib = 3 * max(width * height for width, height in sizes) / MIB
    budget = Table(f"{len(sizes)} images of {args.megapixels:g} megapixels ({pixels_mib:.0f} MiB decoded), memory={BUDGET}: peak of the daemon", "MiB")
    flight = Table(f"one image of {args.megapixels:g} megapixels after the other, memory={ROOMY}: peak above what the daemon had before", "MiB for one image")
    for number in range(args.rounds):
        for spec in measure.in_turn(SPECS, number):
            if number == 0 and not args.no_check:
                _check(rows, tree, store, spec)
            for threads in (1, 4):
                _, peak = _peak(rows, store, spec, BUDGET, threads)
                budget.add(f"{spec}, {threads} reader{'s' * (threads != 1)}", peak / MIB)
            idle, peak = _peak(rows, store, spec, ROOMY, 1, "foresee=off", "cache=none")
            flight.add(spec, (peak - idle) / MIB)
        measure.say(f"memory: round {number + 1} of {args.rounds}")
    budget.add("the budget", int(BUDGET[:-1]))
    flight.add("pixels of one image", pixels_mib)
    return [budget, flight]


def _check(rows, tree, store, spec):
    """Every image is Pillow's, read under the small budget."""
    check = Check(rows)
    with rows.mounted(store=store, memory=BUDGET) as (point, _):
        check.same(spec, check.digests(tree, *expected(spec)), check.digests(view_path(point, spec), *kind_of(spec)))


def held(pid):
    """Bytes that a process and what it has started have allocated: anonymous and shared pages, no mapped files."""
    total = 0
    for one in foretold.family(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{one}/status", encoding="ascii", errors="replace") as file:
            total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith(("RssAnon:", "RssShmem:")))
    return total


class Watch:
    """Looks at a process every few milliseconds; `peak` is the most that it has seen."""

    def __init__(self, pid):
        self.pid, self.peak = pid, held(pid)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self):
        while not self._end.wait(0.004):
            self.peak = max(self.peak, held(self.pid))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()


def _read(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(MIB):
            pass


def _peak(rows, store, spec, budget, threads, *options):
    """(bytes held before, most while all files of the view are read by so many threads)."""
    rows.drop_caches()
    with rows.mounted(*options, store=store, memory=budget) as (point, daemon):
        paths = sorted(path for path in pathlib.Path(view_path(point, spec)).rglob("*") if path.is_file())
        with Watch(daemon.pid) as watch:
            idle = watch.peak
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                list(pool.map(_read, paths))
    return idle, watch.peak
