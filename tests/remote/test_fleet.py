# SPDX-License-Identifier: Apache-2.0
"""The cache of a fleet, -o fleet-cache=: what one machine has read is not asked of the store's server again by another, whatever
happens to the memcached servers, every byte is right, and the mount is as good without them."""

import concurrent.futures
import contextlib
import dataclasses
import pathlib
import random
import subprocess

import mounts
import pytest
from fleet_machines import Fleet, in_time
from fleet_servers import Memcached

pytestmark = pytest.mark.usefixtures("aws_environment")


@pytest.fixture
def members():
    with Memcached() as one, Memcached() as two:
        yield [one, two]


@pytest.fixture
def fleet(remote_store, folder, proxy, members):
    return Fleet(remote_store, folder, proxy, members)


# ---- what one machine has read is not asked for again ----


@pytest.mark.parametrize("predict", ["predict=on", "predict=off"])
def test_the_second_machine_asks_for_nothing(fleet, predict):
    fleet.fill()
    assert fleet.asked_for() and all(member.keys() for member in fleet.members)

    def read(_):
        fleet.server.forget()
        with fleet.machine(1, predict) as point:
            fleet.read_all(point)
            statistics = fleet.statistics(point)
            assert statistics["fleet_hits"] >= len(fleet.paths) and statistics["fleet_members"] == 2, statistics
        assert not fleet.asked_for()

    in_time(read)


def test_two_machines_that_read_halves_have_all(fleet):
    half = len(fleet.paths) // 2
    with fleet.machine(0, "predict=off") as one, fleet.machine(1, "predict=off") as two:
        fleet.read_all(one, fleet.paths[:half])
        fleet.read_all(two, fleet.paths[half:])
        fleet.wait_for(one, "fleet_kept", half)
        fleet.wait_for(two, "fleet_kept", len(fleet.paths) - half)
        assert len(fleet.asked_for()) == len(fleet.paths)

    def read(_):
        fleet.server.forget()
        with fleet.machine(0, "predict=off") as one, fleet.machine(1, "predict=off") as two:
            fleet.read_all(two, fleet.paths[:half])
            fleet.read_all(one, fleet.paths[half:])
        assert not fleet.asked_for()

    in_time(read)


def test_what_is_read_ahead_comes_from_it(fleet, augurctl):
    fleet.fill()
    order = random.Random(1).sample(fleet.paths, len(fleet.paths))
    hint = fleet.folder / "order.txt"
    hint.write_text("".join(f"{path}\n" for path in order))

    def read(_):
        fleet.server.forget()
        with fleet.machine(1) as point:
            subprocess.run([augurctl, "hint", point, "--order", hint], check=True, stdin=subprocess.DEVNULL)
            fleet.wait_for(point, "pushes", len(order) * 3 // 4)
            fleet.read_all(point, order)
            statistics = fleet.statistics(point)
            assert statistics["misses"] < len(order) / 2 and statistics["fleet_hits"] >= len(order), statistics
        assert not fleet.asked_for()

    in_time(read)


def test_the_local_copy_comes_first(fleet):
    fleet.fill()

    def read(number):
        copy = f"disk-cache={fleet.folder / f'copy-{number}'}"
        with fleet.machine(1, copy, "predict=off") as point:
            fleet.read_all(point)
            fleet.wait_for(point, "disk_cache_kept", len(fleet.paths))
            assert fleet.statistics(point)["fleet_hits"] == len(fleet.paths)
        return copy

    copy = in_time(read)
    with fleet.machine(1, copy, "predict=off") as point:
        fleet.read_all(point)
        statistics = fleet.statistics(point)
        assert statistics["fleet_hits"] == 0 and statistics["disk_cache_hits"] == len(fleet.paths)


def test_the_stores_server_may_be_away(fleet):
    fleet.fill()

    def read(_):
        with fleet.machine(1, "io-timeout=2", "predict=off") as point:
            fleet.server.refuse_connections()
            try:
                fleet.read_all(point)
            finally:
                fleet.server.accept_connections()

    in_time(read)


def test_the_status_has_a_line(fleet, augurctl):
    fleet.fill()

    def read(_):
        with fleet.machine(1, "predict=off") as point:
            fleet.read_all(point)
            out = subprocess.run([augurctl, "status", point], check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
        assert f"{len(fleet.paths)} records from 2 servers of the fleet, 0 not there, 0 given to it" in out

    in_time(read)


# ---- what happens to its servers ----


@pytest.mark.parametrize("predict", ["predict=on", "predict=off"])
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_server_that_goes_costs_its_share(fleet, how, predict):
    """What the other server has comes from it; but one that is late on a busy machine is asked of the store's server, too."""
    fleet.fill()
    others = len(fleet.members[1].keys())
    fleet.server.forget()
    with fleet.machine(1, predict) as point:
        if how == "killed":
            fleet.members[0].kill()
        else:
            fleet.members[0].stop()
        fleet.read_all(point)
        statistics = fleet.statistics(point)
        assert statistics["fleet_members_out"] == 1 and statistics["read_failures"] == 0
        assert statistics["fleet_hits"] >= others // 2
    if predict == "predict=off":
        assert statistics["fleet_hits"] + statistics["fleet_misses"] == len(fleet.paths)
        assert len(fleet.asked_for()) == statistics["fleet_misses"] >= len(fleet.paths) - others
    assert fleet.asked_for()


def test_a_server_that_goes_while_it_is_used(fleet):
    fleet.fill()
    with fleet.machine(1, "predict=off") as point:
        fleet.read_all(point, fleet.paths[:40])
        fleet.members[0].stop()
        fleet.read_all(point, fleet.paths[40:80])
        fleet.members[0].kill()
        fleet.members[1].kill()
        fleet.read_all(point, fleet.paths[80:])
        assert fleet.statistics(point)["read_failures"] == 0


def test_a_full_server_keeps_what_it_has(remote_store, augurpack, folder, proxy):
    """6 MB of files for 2 MB of memory. The daemon of the second machine finds what the first one's could put there."""
    tree, store = pathlib.Path(folder) / "large-tree", pathlib.Path(folder) / "large"
    tree.mkdir()
    for number in range(60):
        (tree / f"{number:02}").write_bytes(random.Random(number).randbytes(100_000))
    mounts.run(augurpack, "create", "--quiet", tree, store)
    for path in store.iterdir():
        remote_store.bucket.put(f"large.augur/{path.name}", path.read_bytes())
    large = dataclasses.replace(remote_store, prefix="large.augur", tree=tree, store=store)
    with Memcached("-M", "-I", "512k", "-m", "2") as member:
        fleet = Fleet(large, folder, proxy, [member])
        with fleet.machine(0, "predict=off") as point:
            fleet.read_all(point)
            fleet.wait_for(point, "fleet_refused", 1)
            statistics = fleet.statistics(point)
            assert statistics["fleet_members_out"] == 0
        kept = len(member.keys())
        assert 0 < kept < len(fleet.paths)
        fleet.server.forget()
        with fleet.machine(1, "predict=off") as point:
            fleet.read_all(point)
            statistics = fleet.statistics(point)
            assert kept // 2 <= statistics["fleet_hits"] <= len(member.keys())
        assert len(fleet.asked_for()) == statistics["fleet_misses"] == len(fleet.paths) - statistics["fleet_hits"]


@pytest.mark.parametrize("predict", ["predict=on", "predict=off"])
def test_wrong_bytes_are_not_believed(fleet, predict):
    """Each value is replaced by as many other bytes; a file of one byte may have them by chance."""
    fleet.fill()

    def read_wrong_ones(number):
        for member in fleet.members:
            for key in member.keys():
                size = int(key.rsplit("-", 1)[1], 16)
                member.put(key, random.Random(key).randbytes(size))
        log = fleet.folder / f"log-{number}"
        fleet.server.forget()
        with fleet.machine(1, predict, f"log={log}") as point:
            fleet.read_all(point)
            assert fleet.statistics(point)["fleet_wrong"] >= len(fleet.paths) - 1
            fleet.wait_for(point, "fleet_kept", len(fleet.paths) - 1)  # and made anew
        assert fleet.asked_for()
        assert log.read_text().count("a server gave other bytes than the record has") <= 2

    def read(_):
        fleet.server.forget()
        with fleet.machine(0, "predict=off") as point:
            fleet.read_all(point)
            assert fleet.statistics(point)["fleet_wrong"] == 0
        assert not fleet.asked_for()

    in_time(read_wrong_ones)
    in_time(read)


def test_a_list_in_a_file(fleet):
    path = fleet.folder / "servers"
    path.write_text("# of the rack\n" + "".join(f"{member.address}\n" for member in fleet.members))
    fleet.fill()
    fleet.list = f"@{path}"

    def read(_):
        fleet.server.forget()
        with fleet.machine(1) as point:
            fleet.read_all(point)
        assert not fleet.asked_for()

    in_time(read)


# ---- what is wrong is said ----


@pytest.mark.parametrize("what, said", [
    ("node7", "'node7' is no address of a server: HOST:PORT is wanted"),
    ("node7:0", "'node7:0' is no address"),
    ("a:1_a:1", "a:1 is there twice"),
    ("_", "there is no server in the list"),
    ("@", "the name of a file is missing"),
    ("@/nowhere/list", "/nowhere/list: No such file or directory"),
])
def test_a_wrong_list_is_said(fleet, what, said):
    fleet.list = what
    (fleet.folder / "machine-0").mkdir()
    done = subprocess.run(fleet.words(0), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 2 and "-o fleet-cache: " in done.stderr and said in done.stderr


def test_a_store_in_a_folder_needs_none(fleet):
    log, point = fleet.folder / "log", fleet.folder / "machine-0"
    with mounts.augurfs(fleet.store.store, point, f"fleet-cache={fleet.list}", f"log={log}"):
        fleet.read_all(point)
    assert "fleet-cache: not used: nothing of the store is on a server" in log.read_text()
    assert not any(member.keys() for member in fleet.members)


# ---- what leaves the store's server ----


def test_a_fleet_reads_each_byte_once(remote_store, augurpack, augurctl, folder, proxy):
    """Three epochs of four machines, each of which reads its quarter of a new shuffle ahead. Without a fleet each machine would ask the
    server for most of its quarter in each epoch."""
    tree, store = pathlib.Path(folder) / "large-tree", pathlib.Path(folder) / "large"
    tree.mkdir()
    for number in range(480):
        (tree / f"{number:03}").write_bytes(random.Random(number).randbytes(50_000))
    mounts.run(augurpack, "create", "--quiet", tree, store)
    for path in store.iterdir():
        remote_store.bucket.put(f"large.augur/{path.name}", path.read_bytes())
    machines = 4
    with contextlib.ExitStack() as stack:
        members = [stack.enter_context(Memcached()) for _ in range(machines)]
        fleet = Fleet(dataclasses.replace(remote_store, prefix="large.augur", tree=tree, store=store), folder, proxy, members)
        points = [stack.enter_context(fleet.machine(number)) for number in range(machines)]
        before = sum(fleet.statistics(point)["server_bytes"] for point in points)
        for epoch in range(3):
            order = random.Random(epoch).sample(fleet.paths, len(fleet.paths))

            def read(number, order=order, epoch=epoch):
                share = order[number::machines]
                hint = fleet.folder / f"order-{number}-{epoch}"
                hint.write_text("".join(f"{path}\n" for path in share))
                subprocess.run([augurctl, "hint", points[number], "--order", hint], check=True, stdin=subprocess.DEVNULL)
                fleet.read_all(points[number], share)

            with concurrent.futures.ThreadPoolExecutor(machines) as pool:
                list(pool.map(read, range(machines)))
        read = sum(fleet.statistics(point)["server_bytes"] for point in points) - before
    assert read <= 1.05 * 480 * 50_000, f"{read / 480 / 50_000} of the data"
