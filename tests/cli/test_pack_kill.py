# SPDX-License-Identifier: Apache-2.0
"""augurpack ended at any point leaves the old store or none, and --resume goes on."""

import json
import os
import random
import signal
import subprocess
import time

import pytest
from pack_support import PATIENCE_S, assert_store_equals, run, store_tree, write


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    top = tmp_path_factory.mktemp("kill") / "source"
    rng = random.Random(5)
    for i in range(1500):
        write(top / f"n{i % 30:02}" / f"{i}", rng.randbytes(rng.randrange(60_000)))
    write(top / "n15" / "large", rng.randbytes(30 << 20))
    os.symlink("n01", top / "link")
    return top


def start(augurpack, *words):
    return subprocess.Popen([augurpack, *map(os.fspath, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)  # fmt: skip


def kill_after_shards(packer, store, count, delay_s):
    """Kills the packer `delay_s` after it has begun its shard number `count`, or when it has ended."""
    while packer.poll() is None and not list(store.glob(f"shard-*-{count:05}")):
        time.sleep(0.001)
    time.sleep(delay_s)
    packer.kill()
    packer.communicate()


def test_killed_at_random_moments(augurpack, source, tmp_path):
    """The moments are counted in shards, since a clock says little about how far a busy machine is: there are about 18."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    resumed = 0
    for i in range(8):
        store = tmp_path / f"store{i}"
        for _ in range(3):
            with start(augurpack, "create", "--resume", "--shard-size=4M", source, store) as packer:
                kill_after_shards(packer, store, rng.randrange(12), rng.uniform(0, 0.01))
            if (store / "manifest").exists():  # it was done: then it is whole
                break
        if not (store / "manifest").exists():
            done = run(augurpack, "create", "--resume", "--json", "--shard-size=4M", source, store)
            resumed += json.loads(done.stdout)["resumed"]
        assert_store_equals(store, source)
        run(augurpack, "verify", store)
        left = [p.name for p in store.iterdir() if p.name.endswith(".catalogue") or p.name.startswith(".")]
        assert left == []
    assert resumed > 0, "nothing was ever resumed: the test tests nothing"


def test_killed_over_an_old_store_leaves_the_old_one(augurpack, source, tmp_path):
    write(tmp_path / "old" / "a", b"old")
    run(augurpack, "create", tmp_path / "old", tmp_path / "store")
    rng = random.Random(11)
    for _ in range(6):
        with start(augurpack, "create", "--force", source, tmp_path / "store") as packer:
            time.sleep(rng.uniform(0, 0.3))
            packer.kill()
            packer.communicate()
        if store_tree(tmp_path / "store")[1] != {b"a": b"old"}:
            assert_store_equals(tmp_path / "store", source)
    run(augurpack, "create", "--force", source, tmp_path / "store")
    assert_store_equals(tmp_path / "store", source)


def test_without_resume_the_debris_is_cleared_with_a_message(augurpack, source, tmp_path):
    for _ in range(20):
        with start(augurpack, "create", source, tmp_path / "store") as packer:
            while not list(tmp_path.glob("store/shard-*")) and packer.poll() is None:
                time.sleep(0.001)
            packer.kill()
            packer.communicate()
        if not (tmp_path / "store" / "manifest").exists():
            break
        run("rm", "-r", tmp_path / "store")
    done = run(augurpack, "create", source, tmp_path / "store")
    assert "killed" in done.error or "removed" in done.error or "clear" in done.error
    assert_store_equals(tmp_path / "store", source)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_tidily_and_says_how_to_go_on(augurpack, source, tmp_path, number):
    for _ in range(20):
        with start(augurpack, "create", "--shard-size=4M", source, tmp_path / "store") as packer:
            while len(list(tmp_path.glob("store/shard-*"))) < 2 and packer.poll() is None:
                time.sleep(0.001)
            packer.send_signal(number)
            _, error = packer.communicate(timeout=PATIENCE_S)
        if packer.returncode == 2:
            break
        run("rm", "-r", tmp_path / "store")
    assert packer.returncode == 2
    assert f"stopped by {number.name}: the same command with --resume goes on from here".encode() in error
    assert not (tmp_path / "store" / "manifest").exists()
    done = run(augurpack, "create", "--resume", "--json", "--shard-size=4M", source, tmp_path / "store")
    assert json.loads(done.stdout)["resumed"] > 0
    assert_store_equals(tmp_path / "store", source)


def test_resume_sees_what_changed_meanwhile(augurpack, source, tmp_path):
    copy = tmp_path / "source"
    run("cp", "-a", source, copy)
    while True:
        with start(augurpack, "create", "--shard-size=4M", copy, tmp_path / "store") as packer:
            while len(list(tmp_path.glob("store/shard-*"))) < 3 and packer.poll() is None:
                time.sleep(0.001)
            packer.kill()
            packer.communicate()
        if not (tmp_path / "store" / "manifest").exists():
            break
        run("rm", "-r", tmp_path / "store")
    first = sorted(p for p in (copy / "n00").iterdir())
    first[0].write_bytes(b"changed")
    first[1].unlink()
    write(copy / "n00" / "0new", b"new")
    run(augurpack, "create", "--resume", "--shard-size=4M", copy, tmp_path / "store")
    assert_store_equals(tmp_path / "store", copy)
