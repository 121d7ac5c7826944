# SPDX-License-Identifier: Apache-2.0
"""What the tests of the prefetch share: data sets, mounts with a control program, and a reader that is paced by events."""

import hashlib
import json
import pathlib
import random
import shutil

from conftest import pack, run, wait_until

FILES_PER_FOLDER = 100


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
        random.Random(seed).shuffle(paths)
        return paths

    def check(self, point, path):
        """Reads the file of the mount; its bytes must be right."""
        content = (point / path).read_bytes()
        assert hashlib.blake2b(content).digest() == self.sums[path], f"{path}: wrong bytes"


class Foresight:
    """A mount's prefetch, asked and told from outside."""

    def __init__(self, augurctl, point, prefix=()):
        self.augurctl = augurctl
        self.point = pathlib.Path(point)
        self.prefix = list(prefix)
        self.before = None  # counters when the orders that are followed were given

    def status(self):
        """By the file of the mount, which is the same as `augurctl status --json` and quicker."""
        return json.loads((self.point / ".augur" / "stats.json").read_text(encoding="utf-8"))

    def counters(self):
        return self.status()["counters"]

    def gauges(self):
        return self.status()["gauges"]

    def try_hint(self, lines):
        order = self.point.parent / "order"
        order.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        order.chmod(0o644)
        return run([*self.prefix, self.augurctl, "hint", self.point, "--order", order])

    def hint(self, lines):
        self.before = self.before or self.counters()
        done = self.try_hint(lines)
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

    def follow(self, data, order, batch=8, ahead=24):
        """Reads the files in the order that was hinted. Does not go on before so many more than the batch have been pushed (or
        been read by requests), or nothing is under way any more. Returns how many READ requests it took."""
        start, self.before = self.before or self.counters(), None
        for begin in range(0, len(order), batch):
            wanted = min(len(order) - 2 * batch, begin + batch + ahead)

            def is_ahead():
                status = self.status()
                now = status["counters"]
                idle = status["gauges"]["reads_in_flight"] + status["gauges"]["pushes_waiting"] == 0
                return now["pushes"] - start["pushes"] + now["reads"] - start["reads"] >= wanted or (begin > 0 and idle)
            wait_until(is_ahead, f"{wanted} files are there")
            for path in order[begin:begin + batch]:
                data.check(self.point, path)
        return self.counters()["reads"] - start["reads"]
