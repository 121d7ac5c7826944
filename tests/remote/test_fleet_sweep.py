# SPDX-License-Identifier: Apache-2.0
"""The sweep of a fleet, -o fleet-self=: each machine reads its share of the store once, in large requests, and gives it to all."""

import contextlib
import dataclasses
import itertools
import json
import pathlib
import random
import subprocess
import tempfile

import faults
import mounts
import pytest
from bucket_support import put_folder, wait_until
from fleet_machines import Fleet, in_time
from fleet_servers import Memcached

pytestmark = pytest.mark.usefixtures("aws_environment")

MACHINES, FILES, FILE_BYTES = 4, 480, 200_000
PIECES = 12  # of 8 MiB, 41 files each
TREE_BYTES = FILES * FILE_BYTES


@dataclasses.dataclass(frozen=True)
class Store:
    bucket: object
    tree: pathlib.Path
    store: pathlib.Path

    @property
    def url(self):
        return f"s3://{self.bucket.bucket}/large.augur"


@pytest.fixture(scope="module")
def large_store(s3_server):
    """Of 96 MB."""
    bucket = s3_server.client("augur-sweep")
    bucket.create_bucket()
    with tempfile.TemporaryDirectory(prefix="augur-sweep-") as folder:
        tree, store = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "store"
        tree.mkdir()
        for number in range(FILES):
            (tree / f"{number:03}").write_bytes(random.Random(number).randbytes(FILE_BYTES))
        mounts.run(mounts.program("augurpack"), "create", "--quiet", tree, store)
        put_folder(bucket, store, "large.augur")
        try:
            yield Store(bucket, tree, store)
        finally:
            for key in bucket.keys():
                bucket.delete(key)
            bucket.must("DELETE")
            bucket.close()


def is_of_shard(request):
    return request.method == "GET" and "/shard-" in request.path


class SweepingFleet(Fleet):
    def self_of(self, number):
        return f"fleet-self={self.members[number].address}"

    def sweeping(self, number, *options):
        return self.machine(number, self.self_of(number), "predict=off", *options)

    def kill_while_held(self, held, is_so):
        """The first machine's daemon, while requests wait and this is so."""
        with self.server.playing(held), self.daemon(0, self.self_of(0), "predict=off") as daemon:
            try:
                wait_until(lambda: held.count > 0 and is_so())
            finally:
                daemon.kill()
                held.release()

    def said(self, point):
        return json.loads((point / ".augur" / "stats.json").read_bytes())["mount"]["fleet_sweep"]

    def wait_until_over(self, point):
        wait_until(lambda: self.said(point).startswith("the sweep is over"))

    def count_there(self):
        """Records in all servers, without the notes of machines that have begun a piece."""
        return sum(not key.endswith("-note") for member in self.members for key in member.keys())

    def swept(self, points):
        return sum(self.statistics(point)["fleet_swept_bytes"] for point in points)


@pytest.fixture
def fleet(large_store, folder, proxy):
    with contextlib.ExitStack() as stack:
        members = [stack.enter_context(Memcached("-M", "-I", "2m", "-m", "64")) for _ in range(MACHINES)]
        yield SweepingFleet(large_store, folder, proxy, members)


def test_each_byte_leaves_the_store_once(fleet, augurctl):
    """Without a reader. Afterwards readers ask for nothing, and neither does a machine that comes back."""
    with contextlib.ExitStack() as stack:
        points = [stack.enter_context(fleet.sweeping(number)) for number in range(MACHINES)]
        for point in points:
            fleet.wait_until_over(point)
        wait_until(lambda: fleet.count_there() == FILES)
        assert TREE_BYTES <= fleet.swept(points) <= 1.02 * TREE_BYTES
        assert len(fleet.asked_for()) == PIECES
        assert all(fleet.statistics(point)["fleet_sweep_percent"] == 100 for point in points)

        def read(attempt):
            fleet.server.forget()
            for number, point in enumerate(points):
                fleet.read_all(point, fleet.paths[(number + attempt) % 7::7])
            assert not fleet.asked_for()

        in_time(read)
        out = subprocess.run([augurctl, "status", points[0]], check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
        assert "the sweep is over, " in out and "read from the store's server for the fleet" in out
    with fleet.sweeping(2) as point:
        fleet.wait_until_over(point)
        assert fleet.swept([point]) == 0
    assert not fleet.asked_for()


def test_the_pieces_of_a_killed_machine_are_taken_over(fleet):
    """It is killed while the store's server answers to none of its requests; its memcached server stays."""
    held = faults.Hold(only=is_of_shard)
    fleet.kill_while_held(held, lambda: True)
    fleet.server.forget()
    with contextlib.ExitStack() as stack:
        points = [stack.enter_context(fleet.sweeping(number)) for number in range(1, MACHINES)]
        wait_until(lambda: fleet.count_there() == FILES, patience_s=120)  # the notes of the first one last for 30 s
        assert TREE_BYTES <= fleet.swept(points) <= 1.02 * TREE_BYTES
        assert len(fleet.asked_for()) == PIECES


def test_a_machine_that_is_killed_goes_on(fleet):
    """With half of the pieces there it asks for the other half alone."""
    requests = itertools.count()
    held = faults.Hold(only=lambda request: is_of_shard(request) and next(requests) >= PIECES // 2)
    fleet.kill_while_held(held, lambda: fleet.count_there() > FILES // 3)
    there = fleet.count_there()
    with fleet.sweeping(0) as point:
        wait_until(lambda: fleet.count_there() == FILES, patience_s=120)
        assert fleet.swept([point]) <= 1.02 * (FILES - there) * FILE_BYTES


def test_a_full_fleet_ends_it(large_store, folder, proxy, augurctl):
    with contextlib.ExitStack() as stack:
        members = [stack.enter_context(Memcached("-M", "-I", "1m", "-m", "8")) for _ in range(2)]
        fleet = SweepingFleet(large_store, folder, proxy, members)
        logs = [fleet.folder / f"log-{number}" for number in range(2)]
        points = [stack.enter_context(fleet.sweeping(number, f"log={logs[number]}")) for number in range(2)]
        for point, log in zip(points, logs, strict=True):
            wait_until(lambda point=point: "the fleet is full (memcached -m)" in fleet.said(point))
            assert "the fleet is full (memcached -m)" in log.read_text()
        assert 0 < fleet.count_there() < FILES / 4
        # Two pieces have room. A machine ends at its second one that has none, with up to three more under way. One that
        # did not end would read all that are not there, and both machines would read nearly twice the tree.
        assert fleet.swept(points) <= (2 + 2 * (2 + 3)) * TREE_BYTES / PIECES
        fleet.read_all(points[0], fleet.paths[::5])


def test_a_server_that_is_gone_costs_its_share(fleet):
    fleet.members[3].kill()
    with fleet.sweeping(0) as point:
        fleet.wait_until_over(point)
        assert "do not answer is missing" in fleet.said(point)
        fleet.members.pop()
        assert FILES / 2 < fleet.count_there() < FILES
        assert fleet.statistics(point)["read_failures"] == 0


@pytest.mark.parametrize("words, said", [
    ([], "no server of the list has an address of this machine: name the machine's server with -o fleet-self=HOST:PORT"),
    (["fleet-self=node7:11211"], "-o fleet-self=node7:11211 is not in the list of servers"),
])
def test_a_machine_that_does_not_know_itself_says_so(fleet, words, said):
    log = fleet.folder / "log"
    with fleet.machine(0, f"log={log}", "predict=off", *words) as point:
        wait_until(lambda: fleet.said(point) == f"no sweep: {said}")
        assert fleet.count_there() == 0
    assert f"this machine reads no share of the store for the others: {said}" in log.read_text()


def test_a_user_may_not_want_it(fleet):
    with fleet.machine(0, "fleet-self=none", "predict=off") as point:
        facts = json.loads((point / ".augur" / "stats.json").read_bytes())["mount"]
        assert "fleet_sweep" not in facts


def test_a_wrong_name_is_said(fleet):
    (fleet.folder / "machine-0").mkdir()
    done = subprocess.run(fleet.words(0, "fleet-self=node7"), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 2 and "-o fleet-self: 'node7' is no address of a server" in done.stderr
