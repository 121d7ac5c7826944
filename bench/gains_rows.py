# SPDX-License-Identifier: Apache-2.0
"""The rows of gains.py: in which situation a script reads the folder and the mount."""

import dataclasses
import functools
import os
import re
import sys
import time

import cgroup
import given_orders
import measure
from peak import Peak
from views_epoch import PIXELS_SMALL, TENSORS

WORKERS = 2
SEED = ("--seed", "42")


@dataclasses.dataclass
class Gain:
    """What was measured of a row: rates of each round, and what the daemon said about the order."""

    what: str
    folder: list
    mount: list
    order: str


@dataclasses.dataclass(frozen=True)
class Row:
    """`run(bench, of_mount)` returns (files/s, what the daemon said about the order); `why_not` why it cannot, or nothing."""

    what: str
    run: object
    why_not: object = lambda bench: ""
    slow: bool = False

    def measure(self, bench):
        gain = Gain(self.what, [], [], "")
        for number in range(bench.rounds):
            for of_mount in measure.in_turn((False, True), number):
                rate, order = self.run(bench, of_mount)
                (gain.mount if of_mount else gain.folder).append(rate)
                gain.order = order if of_mount else gain.order
        return gain


def order_of(log):
    """Which order the daemon found first and after how many reads, by its log."""
    for line in log:
        found = re.search(r"the order is known: ([^,]+),.* after ([\d,]+) reads", line)
        if found:
            return f"{found.group(1)}, found after {found.group(2)} reads"
    if any("orders are not looked for" in line for line in log):
        return "not looked for: all files came from memory"
    return "not found"


def needs_root(_bench):
    return "" if measure.is_root() else "needs root, to empty the page cache"


def needs_slow_disk(bench):
    return cgroup.missing_for_disk(bench.work)


def listing(bench, of_mount):
    """Names, sizes and times of all files, none of them in memory."""

    def listed(folder):
        start, count = time.perf_counter(), 0
        for where, _, names in os.walk(folder):
            for name in names:
                os.stat(os.path.join(where, name))
                count += 1
        return count / (time.perf_counter() - start), "none is needed"

    measure.drop_caches()
    if not of_mount:
        return listed(bench.tree)
    with bench.mounted() as point:
        return listed(point)


def _of_script(bench, of_mount, rate, *, view="", options=(), script="image_folder.py", workers=WORKERS, epochs=2, folder_words=(), words=(),
               prefix=()):
    """`rate` makes one figure of the rates of the epochs. `script` and `words` are for the mount, `folder_words` for the folder."""
    if not of_mount:
        return rate(bench.rates(bench.tree, "image_folder.py", workers, epochs, (*SEED, *folder_words), prefix)), ""
    with bench.mounted(*options, prefix=prefix) as point:
        found = rate(bench.rates(os.path.join(point, view), script, workers, epochs, (*SEED, *words), prefix))
    return found, order_of(bench.log())


def of_all(rates):
    """Of all epochs together, which have as many samples each."""
    return len(rates) / sum(1 / rate for rate in rates)


def last(rates):
    return rates[-1]


def cold(bench, of_mount):
    measure.drop_caches()
    return _of_script(bench, of_mount, last, workers=1, epochs=1)


@functools.cache
def _memory(bench):
    """(bytes for half of the data, bytes that the script itself needs)."""
    data = sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(bench.tree) for name in names)
    with cgroup.whole_machine() as group, Peak(group.held_bytes, 0.01) as held:
        bench.rates(bench.tree, "image_folder.py", WORKERS, 1, SEED, group.prefix)
    return max(given_orders.MEMORY_FOR_ORDERS_MIN, data // 2), held.peak


def slow_disk(bench, of_mount, reads_per_s, mb_per_s):
    """Script and daemon share memory for half of the data, beside what the script itself needs."""
    budget, held = _memory(bench)
    with cgroup.slow_disk(bench.work, budget + held, reads_per_s, mb_per_s) as group:
        measure.drop_caches_but_libraries(sys.executable)
        return _of_script(bench, of_mount, of_all, options=(f"memory={budget}",), prefix=group.prefix)


def in_memory(bench, of_mount):
    return _of_script(bench, of_mount, last, epochs=3)


def pixels(bench, of_mount):
    return _of_script(bench, of_mount, last, view=f".augur/views/{PIXELS_SMALL}", epochs=3)


def tensors(bench, of_mount):
    return _of_script(bench, of_mount, last, view=f".augur/views/{TENSORS}", script="array_folder.py", epochs=3, words=("--transform", "ready"),
                      folder_words=("--transform", "validation"))


ROWS = (
    Row("Listing a cold tree: names, sizes, times", listing, needs_root),
    Row("First epoch from a cold disk, one worker", cold, needs_root),
    Row("Two epochs on a cloud disk (3,000 reads a second, 125 MB/s), memory for half of the data",
        functools.partial(slow_disk, reads_per_s=3000, mb_per_s=125), needs_slow_disk, slow=True),
    Row("Two epochs on a slow disk (150 reads a second), memory for half of the data",
        functools.partial(slow_disk, reads_per_s=150, mb_per_s=125), needs_slow_disk, slow=True),
    Row("An epoch with everything in memory", in_memory),
    Row(f"The same script on decoded images, view {PIXELS_SMALL}, in memory", pixels),
    Row("np.load of ready tensors in place of decoding, in memory", tensors),
)
