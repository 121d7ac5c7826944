# SPDX-License-Identifier: Apache-2.0
"""Those who are compared: the plain folder, the mount of a store, and the images that people use today.

A contender is made once from the tree (prepare) and then mounted as often as wanted (mounted). `bases` are the files that
hold its bytes; `before` is done after the caches have been dropped and before the clock starts.
"""

import contextlib
import os
import shutil
import subprocess

import measure
import mounts


class Folder:
    """The plain folder, on whatever file system it lies: ext4, for published figures."""

    name = "folder"
    needs = ()
    root_only = False
    cold_only = False  # elsewhere it is no different from another contender
    direct = False     # an image is read past the page cache: for groups with a memory limit, see mounts.loop
    options = ()       # of the daemon
    prefix = ()        # words that run the daemon in a control group

    def __init__(self, tree, work):
        self.tree, self.work = str(tree), str(work)
        self.path = os.path.join(self.work, self.name)
        self.point = self.path + ".mnt"

    def prepare(self):
        pass

    def run_in(self, group, memory):
        """From now on in this group; `memory`: the daemon's budget, bytes."""
        self.prefix, self.options, self.direct = group.prefix, (f"memory={memory}",), True

    @contextlib.contextmanager
    def mounted(self):
        yield self.tree

    def before(self):
        pass

    def missing(self):
        """Why this contender cannot run here, or nothing."""
        if self.root_only and not measure.is_root():
            return "needs root"
        absent = [need for need in self.needs if not shutil.which(need)]
        return f"needs {' and '.join(absent)}" if absent else ""


class AugurFS(Folder):
    """The store, mounted by augurfs with its default options."""

    name = "augurfs"

    def prepare(self):
        if not os.path.exists(self.path):
            mounts.create_store(self.tree, self.path)

    @contextlib.contextmanager
    def mounted(self):
        with mounts.augurfs(self.path, self.point, *self.options, prefix=self.prefix) as self.daemon:
            yield self.point


class AugurFSNothingPredicted(AugurFS):
    """The same store by a daemon that reads only what is asked for. The default one may find out the order while it is read."""

    name = "augurfs predict=off"
    options = ("predict=off",)
    cold_only = True

    def __init__(self, tree, work):
        super().__init__(tree, work)
        self.path = os.path.join(self.work, AugurFS.name)


class Squashfs(Folder):
    """A squashfs image without compression, mounted by the kernel over a loop device."""

    name = "squashfs"
    needs = ("mksquashfs",)
    root_only = True

    @property
    def image(self):
        return os.path.join(self.work, "image.squashfs")

    def prepare(self):
        if not os.path.exists(self.image):
            mounts.run("mksquashfs", self.tree, self.image, "-noI", "-noD", "-noF", "-noX", "-no-progress", "-quiet")

    @contextlib.contextmanager
    def mounted(self):
        with mounts.loop("squashfs", self.image, self.point, self.direct):
            yield self.point


class Squashfuse(Squashfs):
    """The same image, mounted by squashfuse."""

    name = "squashfuse"
    needs = ("mksquashfs", "squashfuse")
    root_only = False

    @contextlib.contextmanager
    def mounted(self):
        with mounts.squashfuse(self.image, self.point):
            yield self.point


class Erofs(Folder):
    """An EROFS image without compression, mounted by the kernel over a loop device."""

    name = "erofs"
    needs = ("mkfs.erofs",)
    root_only = True

    @property
    def image(self):
        return os.path.join(self.work, "image.erofs")

    def prepare(self):
        if not os.path.exists(self.image):
            mounts.run("mkfs.erofs", "--quiet", self.image, self.tree)

    @contextlib.contextmanager
    def mounted(self):
        with mounts.loop("erofs", self.image, self.point, self.direct):
            yield self.point


class ErofsInMemory(Erofs):
    """The same image, read into the page cache by cat beforehand: what a clever user does today. The time of the cat is not
    counted."""

    name = "erofs after cat"
    cold_only = True

    def before(self):
        with open(os.devnull, "w", encoding="ascii") as nowhere:
            subprocess.run(["cat", self.image], stdout=nowhere, check=True)


ALL = (Folder, AugurFS, AugurFSNothingPredicted, Squashfs, Erofs, Squashfuse, ErofsInMemory)


def prepared(tree, work, names=None):
    """[contender, ...], each with its image made; who cannot run here is named and left out."""
    found = []
    for kind in ALL:
        if names and kind.name not in names and kind is not Folder:
            continue
        contender = kind(tree, work)
        why_not = contender.missing()
        if why_not:
            measure.say(f"left out: {contender.name}: {why_not}")
            continue
        contender.prepare()
        found.append(contender)
    return found
