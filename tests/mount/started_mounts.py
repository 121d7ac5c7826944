# SPDX-License-Identifier: Apache-2.0
"""Mounts of a test. Whatever it does, its mounts and processes are gone afterwards."""

import contextlib
import glob
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from mounts import augurfs_words, end, end_daemons, start, unmount
from patience import PATIENCE_S
from processes import lone_daemon
from program_runs import run, without_notice
from rooms import make_room
from transports import TRANSPORT, uring_switched_on


def remove_logs(folder):
    """The logs of mounts below a folder, which outlive them where there is no system log."""
    name = str(folder).strip("/").replace("/", "-")
    for path in [*glob.glob(f"/run/augurfs/{name}*"), *glob.glob(f"/tmp/augurfs-*/{name}*")]:
        os.unlink(path)


class Mounts:
    """Starts augurfs and remembers what has to be ended."""

    def __init__(self, program, transport):
        self.program = program
        self.options = ["transport=uring"] if transport == "uring" else []
        self.points = []
        self.processes = []

    def start(self, store, point, *options, prefix=(), **popen_options):
        """augurfs in the background; returns the outcome of the command that the caller waits for."""
        self.points.append(point)
        return without_notice(run([*prefix, *self.words(store, point, options)], **popen_options))

    def words(self, store, point, options):
        """The command line; what the test says about the transport holds."""
        return augurfs_words(self.program, store, point, [*self.options, *options])

    def mount(self, store, point, *options, says="", **start_options):
        """The same, and it must succeed, with one warning that matches `says`, or without a word. Returns the process id of the daemon."""
        done = self.start(store, point, *options, **start_options)
        assert (done.returncode, done.stdout) == (0, ""), done
        assert re.fullmatch(f"augurfs: warning: .*(?:{says}).*\n" if says else "", done.stderr), done.stderr
        return self.pid(point)

    def foreground(self, store, point, *options, prefix=(), **popen_options):
        """augurfs -f, once its mount is there; stderr is a pipe."""
        self.points.append(point)
        words = [*prefix, *self.words(store, point, options), "-f"]
        self.processes.append(start(words, point, PATIENCE_S, **popen_options))
        return self.processes[-1]

    def pid(self, point):
        """The one daemon of this mount point."""
        return lone_daemon(self.program, point)

    def clear(self):
        for point in self.points:
            unmount(point, patience_s=0)
            end_daemons(self.program, point)
        for process in self.processes:
            end(process)
        for point in self.points:
            remove_logs(pathlib.Path(point).resolve())


@pytest.fixture(scope="session")
def augurfs(augurfs, session_room):
    """A copy that every user can run: the build may lie in a home that is closed to others."""
    copy = session_room / "augurfs"
    shutil.copy(augurfs, copy)
    return str(copy)


@pytest.fixture
def mounts(augurfs, transport):
    """Mounts of one test."""
    all_mounts = Mounts(augurfs, transport)
    try:
        yield all_mounts
    finally:
        all_mounts.clear()


@pytest.fixture(scope="module")
def module_mounts(augurfs):
    """Mounts that the tests of a file share."""
    with uring_switched_on() if TRANSPORT == "uring" else contextlib.nullcontext():
        all_mounts = Mounts(augurfs, TRANSPORT)
        try:
            yield all_mounts
        finally:
            all_mounts.clear()


@pytest.fixture(scope="module", params=["io=uring", "io=pread", "transport=uring"])
def mounted(request, store, tree, module_mounts):
    """The store mounted for all, by each engine and over each transport (R7)."""
    room = make_room()
    try:
        (room / "mount").mkdir()
        with uring_switched_on() if request.param == "transport=uring" else contextlib.nullcontext():
            module_mounts.mount(store, room / "mount", request.param, "allow_other")
        yield room / "mount"
    finally:
        subprocess.run(["umount", "-l", room / "mount"], check=True)
        shutil.rmtree(room)
