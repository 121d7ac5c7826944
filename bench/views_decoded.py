# SPDX-License-Identifier: Apache-2.0
"""Four times more decoded data than memory: plain pixels with and without a decoded cache on the disk, beside the folder of JPEGs. Script and
daemon are in one control group, and the folder's page cache counts there just as the daemon's memory does."""

import itertools
import json
import os
import shutil

import cgroup
import measure
import mounts
from given_orders import MIB
from measure import Table
from peak import Peak
from views_check import Check
from views_row import COUNTED, Row

EPOCHS = 2
PART = 4
# With less, the daemon has no room for the largest of the images.
BUDGET_MIN = 128 * MIB

FOLDER = Row("folder")
MOUNT = Row("mount", view="")
VIEW = Row("png", view="pixels")
FILLING = Row("png decoded-cache", view="pixels")
LATER = Row("png decoded-cache later", view="pixels")


def decoded_bytes(rows, spec):
    """The size of all files of a view together."""
    with rows.mounted() as (point, _):
        os.stat(os.path.join(point, ".augur", "views", spec))
        listed = json.loads(mounts.run(mounts.program("augurctl"), "views", point, "--json"))["views"]
    return next(view["bytes"] for view in listed if view["view"] == spec)


def _script_bytes(rows, workers):
    """What the script itself takes, with a few workers, when nothing is short."""
    with cgroup.whole_machine() as group, Peak(group.held_bytes, 0.01) as held:
        rows.epochs(FOLDER, workers, 1, prefix=group.prefix)
    return held.peak


def decoded(rows):
    """Epochs one and two, each beside the folder's in the same group."""
    why_not = cgroup.missing()
    if why_not:
        measure.say(f"left out: decoded: {why_not}")
        return []
    args = rows.args
    people = rows.able((FOLDER, MOUNT, VIEW, FILLING))
    if not people:
        return []
    Check(rows).views(people)
    whole = decoded_bytes(rows, VIEW.view)
    budget = max(BUDGET_MIN, whole // PART)
    found = []
    for workers in args.workers:
        limit = budget + _script_bytes(rows, workers) + cgroup.SLACK_BYTES
        title = f"{whole / MIB:,.0f} MiB decoded, memory for {budget / MIB:,.0f}, {workers} worker{'s' * (workers != 1)}"
        measure.say(f"{title}: a group of {limit / MIB:,.0f} MiB")
        tables = [Table(f"{title}: epoch {epoch + 1}", "samples/s", FOLDER.name) for epoch in range(EPOCHS)]
        did = Table(f"{title}: what the daemon did, all epochs together", "for each file of the folder")
        run = _Runs(rows, workers, limit, budget, 2 * whole + 64 * MIB, tables, did)
        for number in range(args.rounds):
            for row in measure.in_turn(people, number):
                run.one(row)
                measure.say(f"{title}: round {number + 1} of {args.rounds}: {row.name}")
        found += [*tables, did]
    return found


class _Runs:
    """Runs a row in a new group and puts its figures into the tables."""

    def __init__(self, rows, workers, limit, budget, cache_bytes, tables, did):
        self.rows, self.workers, self.limit, self.budget, self.cache_bytes = rows, workers, limit, budget, cache_bytes
        self.tables, self.did = tables, did
        self._number = itertools.count()

    def one(self, row):
        if row is not FILLING:
            self._epochs(row)
            return
        place = os.path.join(self.rows.args.work, f"decoded-{next(self._number)}")
        options = (f"decoded-cache={place}", f"decoded-cache-size={self.cache_bytes}")
        try:
            self._epochs(row, options)
            self._epochs(LATER, options)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _epochs(self, row, options=()):
        with cgroup.group(self.limit) as group:
            result = self.rows.epochs(row, self.workers, EPOCHS, prefix=group.prefix, options=options, memory=self.budget)
        for table, rate in zip(self.tables, result["rates"]):
            table.add(row.name, rate)
        for counter, name in COUNTED.items():
            if result["counters"].get(counter):
                self.did.add(f"{row.name}: {name}", result["counters"][counter] / self.rows.args.file_count)
