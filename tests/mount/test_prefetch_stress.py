# SPDX-License-Identifier: Apache-2.0
"""Readers of every kind beside each other, while orders, wrong orders, drops, little memory and a kill happen to the daemon: no
wrong byte, no failed read but by the kill, and in the end, when all orders have been read, nothing is under way or held."""

import hashlib
import mmap
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import time

# Its reader processes run this file by itself.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from kernel_caches import drop_caches  # noqa: E402
from mounts import is_running  # noqa: E402
from patience import PATIENCE_S, wait_until  # noqa: E402
from prefetching import DataSet, Prediction  # noqa: E402
from program_runs import run  # noqa: E402
from skips import needs_root  # noqa: E402

pytestmark = needs_root

ROUND_S = 6
WRONG_BYTES, FAILED = 10, 11  # what a reader ends with
# In the end, when what is kept has been dropped. (buffer_bytes is what the record cache has; inodes go when the kernel likes.)
ZERO_GAUGES = ("reads_in_flight", "pushes_waiting", "orders_queued", "push_window_bytes", "staging_bytes", "rendered_held_bytes",
               "retained_cache_bytes", "retained_cache_blocks")


def read(path, by_map):
    if not by_map:
        return path.read_bytes()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:
        return bytes(view)


def reader(kind, point, plan, stop, seed):
    """A reader process: until there is a file `stop`, or ("once") to the end of the order. Says what it was that went wrong."""
    sums, order = pickle.loads(pathlib.Path(plan).read_bytes())
    paths = list(sums)
    chance = random.Random(seed)
    step = -1 if kind == "once" else chance.randrange(len(order))
    while not os.path.exists(stop) and not (kind == "once" and step + 1 == len(order)):
        step = (step + 1) % len(order)
        path = order[step] if kind in ("follow", "once") else chance.choice(paths)
        try:
            content = read(pathlib.Path(point) / path, kind == "map")
        except OSError as failure:
            print(f"{path}: {failure}", file=sys.stderr)
            return FAILED
        if hashlib.blake2b(content).digest() != sums[path]:
            print(f"{path}: wrong bytes", file=sys.stderr)
            return WRONG_BYTES
    return 0


class Readers:
    """Reader processes of one round."""

    def __init__(self, room, point, data, order, chance, kinds=("follow", "follow", "jump", "jump", "map")):
        self.stop = room / "stop"
        self.stop.unlink(missing_ok=True)
        plan = room / "plan"
        plan.write_bytes(pickle.dumps((data.sums, order)))
        self.processes = [subprocess.Popen([sys.executable, __file__, kind, point, plan, self.stop, str(chance.randrange(1 << 32))],
                                           stderr=subprocess.PIPE, text=True)
                          for kind in kinds]

    def end(self, stop=True):
        """What each ended with, and what it said."""
        if stop:
            self.stop.touch()
        return [(process.communicate(timeout=60)[1], process.returncode) for process in self.processes]

    def kill(self):
        for process in self.processes:
            process.kill()
            process.communicate()


def disturb(data, ahead, order, chance, hinted):
    """One of the things that happen. Adds to what was hinted."""
    what = chance.randrange(7)
    if what <= 1:
        lines = order
    elif what == 2:
        lines = data.shuffled(chance.randrange(1 << 32))[:200]  # which nobody follows
    elif what == 3:
        lines = chance.sample(data.paths, 50) * 2
    elif what == 4:
        return drop_caches()
    elif what == 5:
        return ahead.drop()
    else:
        return ahead.scan()
    done = ahead.try_hint(lines)
    assert done.returncode == 0 or "raise memory=" in done.stderr, done  # orders that nobody follows pile up
    if done.returncode == 0:
        hinted += lines
    return None


def read_rest(room, point, data, ahead, hinted, chance):
    """Reads what is still predicted, by one reader and in its order, until nothing is: the last files, of which an open may be
    lost, are waited for only until enough others were read. What the daemon has predicted of the readers ends with them."""
    end = time.monotonic() + 4 * PATIENCE_S
    while (gauges := ahead.gauges())["orders_queued"] > 0:
        assert time.monotonic() < end, ahead.status()
        left = min(gauges["order_files"] - gauges["order_position"], len(hinted))
        order = hinted[len(hinted) - left:][:2000]
        readers = Readers(room, point, data, order + chance.sample(data.paths, 100), chance, ["once"])
        try:
            assert readers.end(stop=False) == [("", 0)]
        finally:
            readers.kill()
        ahead.wait_settled(0.1)


def test_stress(room, mounts, point, augurpack, augurctl, shared_memory):
    seed = int(os.environ.get("AUGUR_SEED", random.SystemRandom().randrange(1 << 32)))
    print("AUGUR_SEED", seed)
    chance = random.Random(seed)
    folder = room / "data"
    folder.mkdir()
    data = DataSet(augurpack, folder, 700, 100_000, seed)
    ahead = Prediction(augurctl, point)
    for number, (options, kill) in enumerate([(["memory=40M"], False), (["memory=64M", "cache=shm", "restart=no"], True),
                                              (["memory=64M", "cache=shm"], False), (["memory=48M", "cache=none", "push=off"], False)]):
        pid = mounts.mount(data.store, point, *options)
        order = data.shuffled(number)
        hinted = []
        readers = Readers(room, point, data, order, chance)
        try:
            end = time.monotonic() + ROUND_S
            while time.monotonic() < end:
                disturb(data, ahead, order, chance, hinted)
                time.sleep(chance.random() / 10)
            if kill:
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda pid=pid: not is_running(pid), "the daemon is dead")
                assert run(["umount", "-l", point]).returncode == 0
            results = readers.end()
        finally:
            readers.kill()
        for said, code in results:
            assert code == 0 or (kill and code in (FAILED, -signal.SIGBUS)), (code, said)
        if kill:
            continue
        read_rest(room, point, data, ahead, hinted, chance)
        now = ahead.status()
        assert now["counters"]["read_failures"] == 0 and now["counters"]["corrupt_blocks"] == 0
        # Where all was pushed in time, no reader has asked.
        assert now["counters"]["reads"] + now["counters"]["pushes"] > 0
        assert now["gauges"]["buffer_bytes"] <= now["gauges"]["buffer_bytes_max"]
        assert now["gauges"]["order_position"] == now["gauges"]["order_files"], now
        ahead.drop()
        wait_until(lambda: all(ahead.gauges()[name] == 0 for name in ZERO_GAUGES), lambda: f"nothing is under way or held: {ahead.status()}")
        assert run(["umount", point]).returncode == 0
        wait_until(lambda pid=pid: not is_running(pid), "the daemon ends")


if __name__ == "__main__":
    sys.exit(reader(*sys.argv[1:]))
