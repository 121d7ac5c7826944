# SPDX-License-Identifier: Apache-2.0
"""What a soak reads: real photographs, packed, and for each path the contents that a reader may find there."""

import hashlib
import json
import os
import pathlib
import shutil
import sys

from mounts import ROOT, program, run

VIEW = "npy+size=64"


def digest(content):
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def read_table(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


class Data:
    """A folder of photographs and its store, to which files are added. The first half of the paths is never replaced. `table` is a file
    that the readers look at: for each path the digest of its content, and where it was replaced that of the one before too."""

    def __init__(self, work, files, seed):
        self.tree = work / "tree"
        self.store = work / "disk" / "store"
        self.table = work / "table.json"
        self.more = work / "more"
        self.added = 0
        self.store.parent.mkdir(parents=True)
        run(sys.executable, ROOT / "bench" / "dataset.py", "--files", files, "--seed", seed, self.tree)
        paths = sorted(str(path.relative_to(self.tree)) for path in self.tree.rglob("*") if path.is_file())
        self.fixed, self.replaced = paths[:len(paths) // 2], paths[len(paths) // 2:]
        self.contents = {path: [digest((self.tree / path).read_bytes())] for path in paths}
        self.views = {}  # of the fixed paths
        run(program("augurpack"), "create", "--quiet", self.tree, self.store)
        self.write_table()

    def write_table(self):
        partial = self.table.with_suffix(".partial")
        partial.write_text(json.dumps({"contents": self.contents, "views": self.views}), encoding="utf-8")
        os.replace(partial, self.table)

    def expect_views(self, point):
        """Takes the contents of the view's files from a mount to which nothing happens."""
        for path in self.fixed:
            self.views[path] = digest(view_file(point, path).read_bytes())
        self.write_table()

    def append(self, chance):
        """A new generation: one file more, and another content in place of one. The mount has it when it is told so."""
        shutil.rmtree(self.more, ignore_errors=True)
        self.added += 1
        changed = chance.choice(self.replaced)
        new = f"{pathlib.PurePath(changed).parent}/added-{self.added:05}.JPEG"
        for path, source in ((changed, chance.choice(self.fixed)), (new, chance.choice(self.fixed))):
            # What follows the end of an image is nobody's pixel.
            content = (self.tree / source).read_bytes() + chance.randbytes(1 + chance.randrange(1000))
            (self.more / path).parent.mkdir(parents=True, exist_ok=True)
            (self.more / path).write_bytes(content)
        self.contents[changed] = [self.contents[changed][-1], digest((self.more / changed).read_bytes())]
        self.write_table()
        run(program("augurpack"), "append", "--quiet", "--replace", self.more, self.store)
        shutil.copytree(self.more, self.tree, dirs_exist_ok=True)
        return new

    def shown(self, new):
        """The mount has the generation in which this file was added."""
        self.contents[new] = [digest((self.tree / new).read_bytes())]
        self.write_table()


def view_file(point, path):
    return pathlib.Path(point) / ".augur" / "views" / VIEW / pathlib.PurePath(path).with_suffix(".npy")
