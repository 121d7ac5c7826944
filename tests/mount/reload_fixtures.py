# SPDX-License-Identifier: Apache-2.0
"""What the tests of 'augurctl reload' share: a store that grows by generations, and the reload itself."""

import json
import os
import pathlib
import random
import shutil

import pytest

from program_runs import run


def reload(ctl, point, *options, prefix=()):
    """It must succeed. Returns what augurctl prints as JSON."""
    done = run([*prefix, ctl, "reload", "--json", point, *options])
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def bytes_of(path, version, size=20_000):
    """What a file holds: other bytes for each path and version."""
    return random.Random(f"{path} {version}").randbytes(size)


class Store:
    """A store that grows by generations. `files`: the bytes of the newest one, by path."""

    def __init__(self, augurpack, room, files, *options):
        self.augurpack, self.room, self.path = augurpack, room, room / "store"
        self.files = {}
        self.add(files, *(options or ("create",)))

    def add(self, files, *words):
        """Makes the next generation: these files beside the others, or in their place."""
        source = self.room / "source"
        for path, data in files.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_bytes(data)
            os.utime(source / path, (1_600_000_000, 1_600_000_000))
        done = run([self.augurpack, *(words or ("append", "--replace")), "--quiet", source, self.path])
        assert done.returncode == 0, done.stderr
        shutil.rmtree(source)
        if "create" in words:
            self.files = {}
        self.files.update(files)

    def check(self, point):
        """The mount has these files, and no others."""
        found = {}
        for folder, _, names in os.walk(point):
            for name in names:
                path = pathlib.Path(folder) / name
                found[str(path.relative_to(point))] = path.read_bytes()
        assert found == self.files


@pytest.fixture
def grown(augurpack, room):
    """A store of 120 files in three folders."""
    return Store(augurpack, room, {f"f{i % 3}/{i:03}": bytes_of(f"f{i % 3}/{i:03}", 0) for i in range(120)})


def changes(path):
    """Whether each generation of the tests with readers has other bytes there: one file in four."""
    return int(path[-3:]) % 4 == 0


def next_version(store, versions):
    versions["packed"] += 1
    version = versions["packed"]
    store.add({path: bytes_of(path, version) for path in list(store.files) if path[-3:].isdigit() and changes(path)} |
              {f"f{version % 3}/added {version}": b"added"})
