#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak_reader.py KIND ROOM SEED: a process that reads a mount until there is a file ROOM/stop, and rests while there is a file
ROOM/rest.

KIND is `loader` (epochs of a PyTorch DataLoader with two workers, shuffled), `walk` (names, sizes, and some files), `jump` (pieces at
random, by read and by mmap) or `views` (np.load of a view). Each content is compared with ROOM/table.json. What went wrong is a line of
ROOM/KIND.problems: JSON with the time and the text. ROOM/KIND.progress has the number of reads and the slowest one, in seconds.
"""

import errno
import io
import json
import mmap
import os
import pathlib
import random
import signal
import sys
import time

import numpy

from soak_data import digest, read_table, view_file


class Room:
    """What a reader shares with the one that disturbs."""

    def __init__(self, kind, folder):
        self.kind = kind
        self.folder = pathlib.Path(folder)
        self.point = self.folder / "mount"
        self.reads = 0
        self.slowest_s = 0.0
        self._told_s = 0.0
        self._table = None
        self._table_time = None

    def table(self):
        path = self.folder / "table.json"
        changed = path.stat().st_mtime_ns
        if changed != self._table_time:
            self._table_time, self._table = changed, read_table(path)
        return self._table

    def stops(self):
        while (self.folder / "rest").exists() and not (self.folder / "stop").exists():
            self.tell(now=True)
            time.sleep(0.05)
        return (self.folder / "stop").exists()

    def problem(self, what, failure=None):
        number = getattr(failure, "errno", None)
        line = {"time": time.monotonic(), "kind": self.kind, "error": errno.errorcode.get(number, ""), "text": f"{what}: {failure or 'wrong bytes'}"}
        with open(self.folder / f"{self.kind}.problems", "a", encoding="utf-8") as file:  # lines of several workers stay whole
            file.write(json.dumps(line) + "\n")

    def check(self, what, read, wanted):
        """The content that `read` gives must be one of those; an error is told."""
        begun = time.monotonic()
        try:
            content = read()
        except (OSError, ValueError) as failure:
            self.problem(what, failure)
            time.sleep(0.1)
        else:
            # Another content may have been published while it was read.
            if digest(content) not in wanted():
                self.problem(what)
        self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
        self.reads += 1
        self.tell()

    def check_file(self, path):
        self.check(path, lambda: read_and_forget(self.point / path), lambda: self.table()["contents"][path])

    def tell(self, now=False):
        if not now and time.monotonic() < self._told_s + 0.5:
            return
        self._told_s = time.monotonic()
        path = self.folder / f"{self.kind}.progress"
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps({"reads": self.reads, "slowest_s": self.slowest_s}), encoding="ascii")
        os.replace(partial, path)


def read_and_forget(path):
    """The content, of which the page cache keeps nothing: the next reader asks the daemon."""
    with open(path, "rb") as file:
        content = file.read()
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return content


class LoadedFiles:
    """The data set of the loader. Its workers read; a record is what the reader's process counts."""

    def __init__(self, room):
        self.room = room
        self.paths = sorted(room.table()["contents"])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        if self.room.stops():
            return 0.0
        begun = time.monotonic()
        self.room.check_file(self.paths[index])
        return time.monotonic() - begun


def load(room, chance):
    from torch.utils.data import DataLoader
    import torch

    room.tell(now=True)
    while not room.stops():
        generator = torch.Generator().manual_seed(chance.randrange(1 << 31))
        for seconds in DataLoader(LoadedFiles(room), batch_size=8, shuffle=True, num_workers=2, generator=generator):
            room.reads += len(seconds)
            room.slowest_s = max(room.slowest_s, float(max(seconds)))
            room.tell()
            if room.stops():
                break


def walk(room, chance):
    while not room.stops():
        known = set(room.table()["contents"])
        seen = set()
        try:
            for folder, _, names in os.walk(room.point, onerror=raise_it):
                if ".augur" in folder:
                    continue
                for name in names:
                    path = pathlib.Path(folder, name)
                    seen.add(str(path.relative_to(room.point)))
                    path.stat()
                if room.stops():
                    return
        except OSError as failure:
            room.problem("walk", failure)
            time.sleep(0.1)
        else:
            # What was added meanwhile may be seen or not.
            seen = {path for path in seen if not path.startswith(".augur/")}
            if not known <= seen:
                room.problem(f"walk: {sorted(known - seen)[:3]} not there", OSError(errno.ENOENT, "missing names"))
        for path in chance.sample(sorted(known), min(20, len(known))):
            room.check_file(path)
            if room.stops():
                return


def raise_it(failure):
    raise failure


def read_in_pieces(path, chance):
    """The whole content, in pieces out of order."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        step = 1 + chance.randrange(50_000)
        pieces = list(range(0, size, step))
        chance.shuffle(pieces)
        content = bytearray(size)
        for offset in pieces:
            piece = os.pread(file.fileno(), step, offset)
            content[offset:offset + len(piece)] = piece
        return bytes(content)


def read_by_map(path):
    """By a process of its own. Where a page cannot be had, SIGBUS ends it, or its write has EFAULT: EIO, then."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        code = 255
        try:
            with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view, open(theirs, "wb") as out:
                out.write(view)
            code = 0
        except OSError as failure:
            code = failure.errno
        finally:
            os._exit(code)
    os.close(theirs)
    with open(ours, "rb") as file:
        content = file.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        lost = code in (-signal.SIGBUS, errno.EFAULT)
        raise OSError(errno.EIO if lost else code, f"a reader that maps it ended with {code}")
    return content


def jump(room, chance):
    while not room.stops():
        path = chance.choice(sorted(room.table()["contents"]))
        by_map = chance.randrange(4) == 0

        def read(path=path, by_map=by_map):
            return read_by_map(room.point / path) if by_map else read_in_pieces(room.point / path, chance)

        room.check(path, read, lambda path=path: room.table()["contents"][path])


def views(room, chance):
    while not room.stops():
        path = chance.choice(sorted(room.table()["views"]))

        def read(path=path):
            content = read_and_forget(view_file(room.point, path))
            numpy.load(io.BytesIO(content))
            return content

        room.check(f"view of {path}", read, lambda path=path: [room.table()["views"][path]])


if __name__ == "__main__":
    kind, folder, seed = sys.argv[1:]
    {"loader": load, "walk": walk, "jump": jump, "views": views}[kind](Room(kind, folder), random.Random(seed))
