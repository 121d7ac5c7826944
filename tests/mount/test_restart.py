# SPDX-License-Identifier: Apache-2.0
"""A daemon dies and another one goes on with the mount: SEMANTICS.md, L8."""

import hashlib
import io
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from kernel_caches import drop_caches
from patience import PATIENCE_S, wait_until
from prefetching import SMALL, DataSet, Prediction, log_of
from program_runs import run
from restart_fixtures import assert_open_stays_usable, killer  # noqa: F401
from skips import needs_root, no_error_at_a_crash

pytestmark = needs_root

KILLS = 20


def run_epoch(room, sums, folder, killer):
    """An epoch of a DataLoader in which the daemon is killed KILLS times, each time while its workers read."""
    (room / "sums").write_text(json.dumps(sums), encoding="utf-8")
    script = pathlib.Path(__file__).with_name("loader_epoch.py")
    epoch = subprocess.Popen([sys.executable, script, room / "sums", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        batches = -(-len(sums) // 10)
        kills_before = killer.kills
        for number in range(batches):
            line = epoch.stdout.readline()
            if not line:
                pytest.fail(epoch.communicate()[1])
            epoch.stdin.write("\n")
            epoch.stdin.flush()
            due = KILLS * (number + 1) // batches
            while killer.kills - kills_before < due:
                drop_caches()
                killer.kill()
        _, errors = epoch.communicate(timeout=PATIENCE_S)
        assert epoch.returncode == 0, errors
        assert killer.kills - kills_before == KILLS
    finally:
        epoch.kill()
        epoch.communicate()


@no_error_at_a_crash
def test_an_epoch_of_a_dataloader(room, mounts, point, killer, augurpack, ahead):
    """L8, R1: 20 kills in an epoch, with an order that is followed, files that are pushed, and files that are dropped."""
    pytest.importorskip("torch")
    folder = room / "own"
    folder.mkdir()
    data = DataSet(augurpack, folder, 400, 60_000)
    mounts.mount(data.store, point, "memory=64M", f"log={room}/log")
    sums = {path: hashlib.sha256((point / path).read_bytes()).hexdigest() for path in data.paths}
    for path in data.paths:
        data.check(point, path)
    drop_caches()
    run_epoch(room, sums, point, killer)
    now = ahead.status()
    assert now["counters"]["restarts"] == KILLS
    assert now["counters"]["read_failures"] == 0 and now["counters"]["corrupt_blocks"] == 0
    assert now["counters"]["reads"] + now["counters"]["pushes"] >= len(data.paths)  # those of all daemons


@no_error_at_a_crash
def test_an_epoch_of_a_view(room, mounts, point, killer, view_images, view_images_store):
    """L8, W1: the arrays are Pillow's, whichever daemon has decoded them."""
    pytest.importorskip("torch")
    numpy = pytest.importorskip("numpy")
    image = pytest.importorskip("PIL.Image")
    mounts.mount(view_images_store, point, f"log={room}/log")
    sums = {}
    for path, data in view_images.items():
        file = io.BytesIO()
        numpy.save(file, numpy.asarray(image.open(io.BytesIO(data)).convert("RGB")))
        sums[f"{os.path.splitext(path)[0]}.npy"] = hashlib.sha256(file.getvalue()).hexdigest()
    run_epoch(room, sums, point / ".augur" / "views" / "npy", killer)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash(room, mounts, point, killer, data, ctl, number):
    """L8: told in the log and in the status, with the signal."""
    mounts.mount(data.store, point, f"log={room}/log")
    killer.kill(number)
    drop_caches()
    for path in data.paths:
        data.check(point, path)
    name = {signal.SIGSEGV: "SEGV", signal.SIGABRT: "ABRT"}[number]
    assert re.search(rf"process \d+\) was killed by signal {int(number)} \({name}\)", log_of(room))
    screen = run([ctl, "status", point]).stdout
    assert re.search(rf"restarts +1 daemon has gone on .* killed by signal {int(number)} \({name}\)", screen), screen


def test_what_is_open_stays_usable(room, mounts, point, killer, view_images, view_images_store):
    """L8"""
    mounts.mount(view_images_store, point, f"log={room}/log")
    assert_open_stays_usable(point, view_images, killer.kill)


def test_status_is_told_while_daemons_die(room, mounts, point, killer, small_store, augurctl):
    mounts.mount(small_store, point, f"log={room}/log")
    end, outcomes = threading.Event(), []

    def ask():
        while not end.is_set():
            outcomes.append(run([augurctl, "status", point]))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        for _ in range(10):
            killer.kill()
    finally:
        end.set()
        thread.join()
    assert outcomes and {done.returncode for done in outcomes} == {0}, [done.stderr for done in outcomes if done.returncode]


def test_the_retained_cache_is_found_again(room, mounts, point, killer, own_data, shared_memory, ctl):
    """L8: records in shared memory are there for the next daemon."""
    mounts.mount(own_data.store, point, "cache=shm", "memory=256M", f"log={room}/log")
    done = run([ctl, "warm", point])
    assert done.returncode == 0, done.stderr
    kept = Prediction(ctl, point).status()["gauges"]["retained_cache_bytes"]
    killer.kill()
    assert Prediction(ctl, point).status()["gauges"]["retained_cache_bytes"] == kept > 0
    drop_caches()
    for path in own_data.paths:
        own_data.check(point, path)


def assert_numbers_go_on(before, now):
    """No counter and no bucket of a histogram has gone back."""
    for name, value in before["counters"].items():
        assert now["counters"][name] >= value, name
    for name, values in before["histograms"].items():
        assert now["histograms"][name]["count"] >= values["count"] and now["histograms"][name]["sum"] >= values["sum"], name


def test_statistics_go_on(room, mounts, point, killer, data, ahead):
    """L8: also those of what was pushed, and how long before its open. What the dead daemon had under way is gone."""
    mounts.mount(data.store, point, SMALL, f"log={room}/log")
    for number in range(3):
        ahead.assert_follows(data, data.shuffled(number), misses_max=1)
        before = ahead.status()
        assert before["counters"]["pushes"] > 0 and before["counters"]["orders_accepted"] == number + 1
        killer.kill()
        now = ahead.status()
        assert_numbers_go_on(before, now)
        assert now["counters"]["restarts"] == before["counters"]["restarts"] + 1
        assert now["gauges"]["orders_queued"] == now["gauges"]["reads_in_flight"] == now["gauges"]["pushes_waiting"] == 0


def read_until_found(data, point, ahead, coming, found):
    """Reads the next files of an order, each once, until as many orders were found, or all of them."""
    for path in coming:
        data.check(point, path)
        if ahead.counters()["orders_found"] == found:
            return
        time.sleep(0.02)


def test_the_order_is_found_again(room, mounts, point, killer, data, ahead):
    """L8: from the reads of the rest of the epoch."""
    torch = pytest.importorskip("torch")
    mounts.mount(data.store, point, SMALL, f"log={room}/log")
    order = [data.paths[at] for at in torch.randperm(len(data.paths), generator=torch.Generator().manual_seed(42)).tolist()]
    coming = iter(order)
    for found in (1, 2):
        before = ahead.counters()["pushes"]
        read_until_found(data, point, ahead, itertools.islice(coming, len(order) // 2), found)
        wait_until(lambda found=found: ahead.counters()["orders_found"] == found, lambda: f"found: {ahead.status()}")
        wait_until(lambda before=before: ahead.counters()["pushes"] > before, lambda: f"files are pushed: {ahead.status()}")
        killer.kill()
        drop_caches()


def test_the_order_is_taken_over(room, mounts, point, killer, data, ahead):
    """L8: one that only a hint could tell, in the midst of the epoch, and by the next daemon from the one after it."""
    torch = pytest.importorskip("torch")
    seed = 700_070_007
    mounts.mount(data.store, point, SMALL, f"log={room}/log")
    done = run([ahead.augurctl, "hint", point, "--sampler", "distributed", "--seed", str(seed)])
    assert (done.returncode, done.stderr) == (0, ""), done
    order = [data.paths[at] for at in torch.randperm(len(data.paths), generator=torch.Generator().manual_seed(seed)).tolist()]
    coming = iter(order)
    for found in (1, 2, 3):
        # A few reads tell it: one after the other of one process, of which a READ or the open may not be seen.
        read_until_found(data, point, ahead, itertools.islice(coming, len(order) // 4), found)
        how = "taken over after" if found > 1 else "as hinted"
        wait_until(lambda how=how: how in ahead.status()["mount"].get("predicted", ""), lambda: f"{how}: {ahead.status()}")
        assert ahead.counters()["orders_found"] == found
        killer.kill()
        drop_caches()


def test_decoded_images_are_found_again(room, mounts, point, killer, view_images_store, view_images, ctl):
    """L8: those that were written down; none is decoded again."""
    pytest.importorskip("numpy")
    from view_data import SPEC, ViewData, ViewPrediction, place_of

    images = ViewData(view_images_store, view_images, SPEC, place_of(SPEC))
    ahead = ViewPrediction(ctl, point, place_of(SPEC))
    mounts.mount(view_images_store, point, "cache=none", "push=off", f"decoded-cache={room}/decoded", f"log={room}/log")

    def all_kept():
        for path in images.shuffled(1):
            images.check(point, path)
        drop_caches()
        return ahead.gauges()["decoded_cache_files"] == len(images.paths)

    wait_until(all_kept, ahead.status)
    before = ahead.counters()
    killer.kill()
    drop_caches()
    for path in images.shuffled(2):
        images.check(point, path)
    now = ahead.counters()
    assert now["images_decoded"] == before["images_decoded"], now
    assert now["decoded_hits"] - before["decoded_hits"] >= len(images.paths), now
