# SPDX-License-Identifier: Apache-2.0
"""What the tests of the prefetch share: data sets, mounts with a control program, and a reader that is paced by events."""

import hashlib
import itertools
import json
import pathlib
import random
import shutil
import time

import pytest
from mounts import statistics
from patience import PATIENCE_S, wait_until
from program_runs import run
from stores import pack

FILES_PER_FOLDER = 100
# Of the 18 MB of the fixture `data`: 8 MiB of it for files pushed ahead, 29 for kept ones; and all of the data fits.
SMALL = "memory=64M"
LARGE = "memory=256M"


def log_of(room):
    return (room / "log").read_text(encoding="utf-8")


def make_tree(folder, file_count, bytes_max, seed):
    """A data set: folders of 100 files of up to that many bytes. Returns the paths, in path order, with their checksums."""
    chance = random.Random(seed)
    sums = {}
    for number in range(file_count):
        path = pathlib.Path(f"class{number // FILES_PER_FOLDER:02}") / f"{number:05}.jpg"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        content = chance.randbytes(chance.randrange(1, bytes_max))
        (folder / path).write_bytes(content)
        sums[str(path)] = hashlib.blake2b(content).digest()
    return sums


class DataSet:
    """A packed tree and what its files must hold."""

    def __init__(self, augurpack, folder, file_count, bytes_max, seed=1):
        tree = folder / "tree"
        self.sums = make_tree(tree, file_count, bytes_max, seed)
        self.sizes = {path: (tree / path).stat().st_size for path in self.sums}
        self.store = pack(augurpack, tree, folder / "store")
        shutil.rmtree(tree)

    @property
    def paths(self):
        return list(self.sums)

    @property
    def bytes(self):
        return sum(self.sizes.values())

    def shuffled(self, seed):
        paths = self.paths
        random.Random(f"order {seed}").shuffle(paths)
        return paths

    def check(self, point, path):
        """Reads the file of the mount; its bytes must be right."""
        content = (point / path).read_bytes()
        assert hashlib.blake2b(content).digest() == self.sums[path], f"{path}: wrong bytes"


class Prediction:
    """A mount's prefetch, asked and told from outside."""

    def __init__(self, augurctl, point, prefix=()):
        self.augurctl = augurctl
        self.point = pathlib.Path(point)
        self.prefix = list(prefix)
        self.before = None  # status when the orders that are followed were given

    def status(self):
        """By the file of the mount, which is the same as `augurctl status --json` and quicker."""
        return statistics(self.point)

    def counters(self):
        return self.status()["counters"]

    def gauges(self):
        return self.status()["gauges"]

    def try_hint(self, lines, *options):
        order = self.point.parent / "order"
        order.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        order.chmod(0o644)
        return run([*self.prefix, self.augurctl, "hint", self.point, "--order", order, *options])

    def hint(self, lines, *options):
        self.before = self.before or self.status()
        done = self.try_hint(lines, *options)
        assert (done.returncode, done.stderr) == (0, ""), done
        assert done.stdout == f"accepted: {len(lines)} files\n"

    def drop(self):
        done = run([*self.prefix, self.augurctl, "drop", "--json", self.point])
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def scan(self):
        """Looks every file up, as a data set's constructor does."""
        for folder in sorted(self.point.iterdir()):
            if folder.is_dir():
                for file in sorted(folder.iterdir()):
                    file.stat()

    def wait_idle(self):
        """Nothing is under way."""
        wait_until(lambda: all(self.gauges()[name] == 0 for name in ("reads_in_flight", "pushes_waiting")), "nothing is under way")

    def wait_settled(self, quiet_s, opens=0):
        """Nothing is under way, and nothing was begun for so long and in ten answers of the daemon, after it has heard of that
        many opens, where it hears of any."""
        last, answers = None, 0
        since = begun = time.monotonic()
        while time.monotonic() < begun + PATIENCE_S:
            status = self.status()
            now = [status["gauges"][name] for name in ("reads_in_flight", "pushes_waiting", "order_position")]
            now += [status["counters"][name] for name in ("pushes", "pushes_unknown", "disk_reads", "dropped_files", "opens")]
            # An open may be lost; that must cost no more than time.
            heard = status["mount"]["progress"] != "opens" or now[-1] >= opens or time.monotonic() > begun + 2
            if now != last or not heard:
                last, answers, since = now, 0, time.monotonic()
                continue
            answers += 1
            if now[0] + now[1] == 0 and answers >= 10 and time.monotonic() - since >= quiet_s:
                return
            time.sleep(0.004)
        pytest.fail(f"in {PATIENCE_S} s not settled: {last}")

    def follow(self, data, order, batch=20):
        """Reads the files in the order that was hinted; before each batch it waits until what can be there is there, however
        slow the machine is. Returns the share of files that had not been pushed when they were opened, and READ requests a
        file."""
        start, self.before = self.before or self.status(), None
        wait_until(lambda: self.gauges()["orders_queued"] > 0, "the order has come")
        for begin in range(0, len(order), batch):
            self.wait_settled(0.3 if begin == 0 else 0.04, start["counters"]["opens"] + begin)
            for path in order[begin:begin + batch]:
                data.check(self.point, path)
        self.wait_settled(0.04, start["counters"]["opens"] + len(order))
        now = self.status()
        pushed = [status["histograms"]["lead_time_us"]["count"] for status in (start, now)]
        return 1 - (pushed[1] - pushed[0]) / len(order), (now["counters"]["reads"] - start["counters"]["reads"]) / len(order)

    def assert_follows(self, data, order, misses_max=0.03, lines=None):
        """Hints the order (by these lines, or by its paths) and reads it: all but so many files must have been pushed when they
        are opened, where the daemon sees opens; where not, so few may take requests. The machine may take back pages before
        they are used, some of a file or all (other tests drop its page cache; virtual machines give memory back to their host):
        that makes requests, but that it does so to most files in each of four epochs is not credible."""
        shares, requests_max = [], 0
        while not shares or (shares[-1][1] > requests_max and len(shares) < 4):
            self.hint(lines or order)
            shares.append(self.follow(data, order))
            opens = self.status()["mount"]["progress"] == "opens"
            requests_max = 0.5 if opens else misses_max
        told = f"{shares}: {self.status()}"  # what a failure needs to be understood
        assert shares[-1][1] <= requests_max, told
        # In a later epoch some are in the page cache since the one before.
        assert not opens or shares[0][0] <= misses_max, told

    def wait_for_the_end(self, data):
        """The orders have ended. An open that was not seen is waited for only until enough others were read: in no order that
        would itself be followed, and as many as it takes, as some of these may not be seen either."""
        seeds = itertools.count(99)

        def have_ended():
            for path in data.shuffled(next(seeds))[:100]:
                data.check(self.point, path)
            return self.gauges()["orders_queued"] == 0

        wait_until(have_ended, lambda: f"the orders have ended: {self.status()}")
        self.wait_idle()
