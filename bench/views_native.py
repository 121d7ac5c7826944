# SPDX-License-Identifier: Apache-2.0
"""Arrays of a view, all in the page cache, beside native .npy files of the same bytes on the disk's file system, also in the page cache."""

import os
import shutil
import statistics

import measure
from measure import Table
from views_check import Check
from views_row import Row, view_path

SPECS = {"npy+size=256+crop=224": ("--steps", "validation"), "npy": ()}


def native(rows):
    """np.load by a Python script, and readfiles, which has no Python: files a second, the median of the passes after the first two."""
    found = []
    row = Row("native", script="load_arrays.py")
    check = Check(rows)
    for spec, steps in SPECS.items():
        tree = os.path.join(rows.args.work, "native")
        rows.script(row, tree, "--make", rows.args.tree, *steps)
        listing = os.path.join(rows.args.work, "native.listing")
        measure.write_listing(tree, listing)
        tables = [Table(f"native, {spec}, hot: {what}", "files/s", "native files") for what in ("np.load", "readfiles")]
        did = Table(f"native, {spec}: where the bytes came from, passes after the first two", "for each file")
        # One mount for all rounds: what is to be measured is the page cache, and filling it is not.
        with rows.mounted() as (point, _):
            places = {"native files": tree, "view": view_path(point, spec)}
            if not rows.args.no_check:
                check.same(spec, check.digests(tree, "--kind", "file"), check.digests(places["view"], "--kind", "file"))
            for number in range(rows.args.rounds):
                for name in measure.in_turn(places, number):
                    for table, figure in zip(tables, _rates(rows, row, places[name], listing, point, did, name)):
                        table.add(name, figure)
                measure.say(f"native, {spec}: round {number + 1} of {rows.args.rounds}")
        found += [*tables, did]
        shutil.rmtree(tree)
    return found


def _rates(rows, row, place, listing, point, did, name):
    """(by np.load, by readfiles), and how often something else than the page cache had to answer."""
    passes = rows.args.epochs + 1
    rows.script(row, place, "--epochs", 2)
    before = rows.requests(point)
    epochs = rows.script(row, place, "--epochs", passes)["epochs"]
    count = passes * rows.args.file_count
    did.add(f"{name}: requests to the daemon", (rows.requests(point) - before) / count if name == "view" else 0)
    did.add(f"{name}: KiB from the disk", sum(epoch["disk_bytes"] for epoch in epochs) / count / 1024)
    loads = statistics.median(epoch["samples"] / epoch["seconds"] for epoch in epochs)
    reads = statistics.median(measure.read_files(place, listing=listing, seed=number)["files_per_s"] for number in range(passes))
    return loads, reads
