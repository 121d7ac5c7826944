# SPDX-License-Identifier: Apache-2.0
"""What happens to a mount in a soak. Each fault is a context: it begins, lasts, and ends with its cause mended."""

import contextlib
import os
import random
import signal
import time

from mounts import children, daemons, holders, is_running, statistics

STORM_S = 5  # how long a fault lasts that lasts
SHARED_MIB = 96  # of the shared memory of the soak


class Processes:
    """Those of ours that serve the mount."""

    def __init__(self, point):
        self.point = str(point)

    def by_name(self):
        """{"daemon": [pid], ...}; helper and broker are the daemon's children."""
        found = {"daemon": daemons("augurfs", self.point), "holder": holders(self.point), "helper": [], "broker": []}
        for daemon in found["daemon"]:
            for name, pid in children(daemon).items():
                found.setdefault(name.removeprefix("augur-"), []).append(pid)
        return found

    def signal(self, name, number):
        for pid in self.by_name()[name][:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            return pid
        return None


class Faults:
    """All of them, by name. `soak` has what they are done to."""

    def __init__(self, soak):
        self.soak = soak
        self.processes = soak.processes
        self.names = [name.removeprefix("do_") for name in dir(self) if name.startswith("do_")]
        self.deaths_s = []  # when daemons died that the holder counts, the last ones

    # Faults of the disk, after which a READ may fail. The others must not be seen.
    MAY_FAIL = ("disk_errors", "wrong_bits")

    @contextlib.contextmanager
    def begin(self, name, chance):
        with getattr(self, f"do_{name}")(chance):
            yield

    # ---- processes

    def _may_die_in_s(self):
        """When a daemon may die of itself: three in ten seconds end the mount, as they should."""
        return max(0.0, self.deaths_s[-2] + 11 - time.monotonic()) if len(self.deaths_s) > 1 else 0.0

    def _kill(self, number):
        time.sleep(self._may_die_in_s())
        pid = self.processes.signal("daemon", number)
        self.deaths_s.append(time.monotonic())
        end_s = time.monotonic() + 30
        while pid is not None and is_running(pid) and time.monotonic() < end_s:
            time.sleep(0.01)

    @contextlib.contextmanager
    def do_kill(self, chance):
        for kill in range(1 + chance.randrange(5)):
            # A SIGKILL before the daemon takes requests counts as one that died of itself.
            if kill == 1 and self._may_die_in_s() == 0.0:
                self.deaths_s.append(time.monotonic())
            else:
                statistics(self.soak.point)  # waits for a daemon that answers
            self.processes.signal("daemon", signal.SIGKILL)
            time.sleep(chance.random())
        yield

    @contextlib.contextmanager
    def do_crash(self, chance):
        self._kill(chance.choice((signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)))
        yield

    @contextlib.contextmanager
    def do_kill_helper(self, chance):
        self.processes.signal(chance.choice(("helper", "broker")), signal.SIGKILL)
        yield

    @contextlib.contextmanager
    def do_stop(self, chance):
        """A process that gets no processor for a while."""
        pid = self.processes.signal(chance.choice(("daemon", "holder", "helper", "broker")), signal.SIGSTOP)
        try:
            time.sleep(1 + 3 * chance.random())
            yield
        finally:
            with contextlib.suppress(ProcessLookupError, TypeError):
                os.kill(pid, signal.SIGCONT)

    # ---- what a user does

    @contextlib.contextmanager
    def do_restart(self, chance):
        memory = chance.choice((96, 128, 160))
        self.soak.control("restart", self.soak.point, "-o", f"memory={memory}M")
        yield

    @contextlib.contextmanager
    def do_reload(self, chance):
        new = self.soak.data.append(chance)
        if self.soak.control("reload", self.soak.point):
            self.soak.data.shown(new)
        yield

    @contextlib.contextmanager
    def do_hint(self, chance):
        """An order that somebody may follow, or nobody."""
        lines = chance.sample(self.soak.data.fixed, min(200, len(self.soak.data.fixed)))
        path = self.soak.work / "order"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        self.soak.control("hint", self.soak.point, "--order", path, may_fail=True)  # too many orders pile up: a clear refusal
        yield

    @contextlib.contextmanager
    def do_drop(self, chance):
        for _ in range(1 + chance.randrange(5)):
            self.soak.control("drop", self.soak.point)
            time.sleep(chance.random())
        yield

    # ---- the disk below

    @contextlib.contextmanager
    def _disk(self, begin, end, seconds=STORM_S):
        assert self.soak.far.tell(begin) == "done"
        try:
            time.sleep(seconds)
            yield
        finally:
            assert self.soak.far.tell(end) == "done"

    def do_disk_errors(self, chance):
        return self._disk(f"fail {3 + chance.randrange(20)}", "fail 0")

    def do_wrong_bits(self, chance):
        return self._disk(f"flip {3 + chance.randrange(20)}", "flip 0")

    def do_slow_disk(self, chance):
        return self._disk(f"delay {50 + chance.randrange(200)}", "delay 0")

    def do_stuck_disk(self, chance):
        return self._disk("pause", "resume", 5 + 10 * chance.random())

    def do_short_reads(self, _chance):
        return self._disk("short", "whole")

    @contextlib.contextmanager
    def do_stale_handles(self, chance):
        for _ in range(1 + chance.randrange(3)):
            assert self.soak.far.tell("stale") == "done"
            time.sleep(chance.random())
        yield

    # ---- the machine

    @contextlib.contextmanager
    def do_little_memory(self, chance):
        """The daemon's control group has less than it holds: the kernel takes page cache first, then ends it."""
        with self.soak.little_memory((48 + chance.randrange(100)) << 20):
            time.sleep(STORM_S)
            yield

    @contextlib.contextmanager
    def do_full_shared_memory(self, _chance):
        path = self.soak.shared_memory / "full"
        with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
            for _ in range(SHARED_MIB):
                file.write(bytes(1 << 20))
        try:
            time.sleep(STORM_S)
            yield
        finally:
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def do_clock(self, chance):
        """The machine's clock jumps, for the daemon alone."""
        self.soak.set_clock(chance.choice((-86_400, -3_600, -60, 60, 3_600, 2 * 86_400)))
        try:
            time.sleep(STORM_S)
            yield
        finally:
            self.soak.set_clock(0)


def plan(names, seed):
    """Faults without end, each with its own seed: every one comes once before any comes again."""
    chance = random.Random(seed)
    while True:
        for name in chance.sample(names, len(names)):
            yield name, chance.randrange(1 << 32)
