# SPDX-License-Identifier: Apache-2.0
"""A row of a comparison of views: a script in a process of its own, on the folder, on a mount that was made for this row alone, or on a
file that another library makes of the folder."""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess

import given_orders
import measure
import mounts
from measure import Table

SCRIPTS = pathlib.Path(__file__).resolve().parent / "views_scripts"
COUNTED = {"images_decoded": "images decoded", "reads": "requests", "pushes": "files pushed", "decoded_hits": "from the decoded cache"}


@dataclasses.dataclass(frozen=True)
class Row:
    """Which script reads what. `view` is a SPEC, or "" for the JPEGs of the mount; a row without a view reads the folder, or what its
    `peer` has made of it. `module` is what its Python must have; `--python-of` may name one for it."""

    name: str
    script: str = "image_folder.py"
    view: str | None = None
    words: tuple = ()
    module: str = "torchvision"
    peer: str = ""
    make_words: tuple = ()
    copied: str = ""  # the peer is no library's: the files of this view, copied to the disk
    cold_words: tuple = ()  # for a script that must drop the caches itself, once more


class Rows:
    """Runs rows, each with cold caches at the beginning; holds what they share."""

    def __init__(self, args):
        self.args = args
        self.store = os.path.join(args.work, "store")
        self._number = itertools.count()
        if not os.path.exists(self.store):
            mounts.create_store(args.tree, self.store)

    def python(self, module):
        return self.args.python_of.get(module, self.args.python)

    def _why_not(self, row):
        """Why the row cannot run here, or nothing. What its library reads is made meanwhile, so that no run ends halfway for want of it."""
        python = self.python(row.module)
        find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({row.module!r}) is None)"
        if subprocess.run([python, "-c", find], capture_output=True, stdin=subprocess.DEVNULL).returncode != 0:
            return f"{python} has no {row.module}"
        try:
            if row.peer:
                self.made(row)
        except RuntimeError as error:
            return str(error).strip().splitlines()[-1]
        return ""

    def able(self, rows):
        """Those that can run here and were asked for. The first one is the base: always taken, and without it there is nothing to compare."""
        found = []
        for row in rows:
            if found and self.args.only and row.name not in self.args.only:
                continue
            why_not = self._why_not(row)
            if not why_not:
                found.append(row)
                continue
            measure.say(f"left out: {row.name}: {why_not}")
            if not found:
                return []
        return found

    def script(self, row, *words, prefix=()):
        """The JSON of a script."""
        out = mounts.run(*prefix, self.python(row.module), SCRIPTS / row.script, *words)
        return json.loads(out.splitlines()[-1]) if out.strip() else None

    def made(self, row):
        """What the row's library reads, made when it is not there yet."""
        place = os.path.join(self.args.work, row.peer)
        if not os.path.exists(place):
            measure.say(f"making {row.peer}")
            if row.copied:
                with self.mounted() as (point, _):
                    shutil.copytree(view_path(point, row.copied), place)
            else:
                self.script(row, place, "--make", self.args.tree, *row.make_words)
        return place

    @contextlib.contextmanager
    def mounted(self, *options, store=None, memory=None, prefix=()):
        """A new mount whose daemon knows nothing of earlier ones; yields (mount point, daemon)."""
        place = os.path.join(self.args.work, f"mount-{next(self._number)}")
        point = os.path.join(place, "point")
        os.makedirs(point)
        try:
            options = (f"memory={memory or self.args.memory}", f"log={place}/log", *options)
            with mounts.augurfs(store or self.store, point, *options, prefix=prefix) as daemon:
                yield point, daemon
        except RuntimeError as error:
            with contextlib.suppress(OSError), open(f"{place}/log", encoding="utf-8", errors="replace") as log:
                error.add_note("The daemon's last words:\n" + "".join(log.readlines()[-5:]))
            raise
        finally:
            if not mounts.mounted_times(point):
                shutil.rmtree(place)

    def drop_caches(self):
        if not self.args.keep_caches:
            measure.drop_caches()

    def store_of(self, row):
        """The store whose mount the row reads."""
        return self.store

    def requests(self, point):
        """READ requests of the kernel so far."""
        return given_orders.status(point)["counters"]["reads"]

    def epochs(self, row, workers, epochs, prefix=(), options=(), memory=None):
        """One run of the row: {"rates": [samples/s, ...], "counters": {...} of its mount, and what the script says}."""
        place = self.made(row) if row.peer else self.args.tree
        cold_words = () if self.args.keep_caches else row.cold_words
        self.drop_caches()
        with contextlib.ExitStack() as stack:
            point = None
            if row.view is not None:
                point, _ = stack.enter_context(self.mounted(*options, store=self.store_of(row), memory=memory, prefix=prefix))
                place = view_path(point, row.view)
            result = self.script(row, place, "--workers", workers, "--epochs", epochs, *row.words, *cold_words, prefix=prefix)
            result["counters"] = given_orders.status(point)["counters"] if point else {}
        seen = {epoch["samples"] for epoch in result["epochs"]}
        if seen != {self.args.file_count}:
            raise RuntimeError(f"{row.name}: epochs of {seen} samples, {self.args.file_count} files")
        result["rates"] = [epoch["samples"] / epoch["seconds"] for epoch in result["epochs"]]
        return result


def view_path(point, view):
    return os.path.join(point, ".augur", "views", view) if view else point


class Figures:
    """The tables of rows that run epochs: the first one, cold, beside the folder's first and beside its hot ones; the later ones, hot; and
    what the daemons did."""

    def __init__(self, title, base, unit="samples/s"):
        hot = f"{base}, hot"
        self.base, self.hot_base = base, hot
        self.cold = Table(f"{title}: first epoch, cold", unit, base)
        self.cold_to_hot = Table(f"{title}: first epoch, cold, beside the hot folder", unit, hot)
        self.hot = Table(f"{title}: later epochs, hot", unit, base)
        self.did = Table(f"{title}: what the daemon did, all epochs together", "for each file of the folder")

    def add(self, row, result, files):
        cold, hot = result["rates"][0], statistics.median(result["rates"][1:])
        self.cold.add(row.name, cold)
        self.cold_to_hot.add(row.name, cold)
        if row.name == self.base:
            self.cold_to_hot.add(self.hot_base, hot)
        self.hot.add(row.name, hot)
        for counter, name in COUNTED.items():
            if result["counters"].get(counter):
                self.did.add(f"{row.name}: {name}", result["counters"][counter] / files)
        if result["counters"]:
            self.did.add(f"{row.name}: orders found, in all", result["counters"]["orders_found"])

    def tables(self):
        return [table for table in (self.cold, self.cold_to_hot, self.hot, self.did) if table.rounds]


def compare(rows, people, title, workers):
    """All rounds of these rows with so many workers; the first one is the base."""
    args = rows.args
    figures = Figures(title, people[0].name)
    for number in range(args.rounds):
        for row in measure.in_turn(people, number):
            figures.add(row, rows.epochs(row, workers, args.epochs), args.file_count)
            measure.say(f"{title}: round {number + 1} of {args.rounds}: {row.name}")
    return figures.tables()
