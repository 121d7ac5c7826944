# SPDX-License-Identifier: Apache-2.0
"""augurctl hint --sampler: epochs of real torch samplers, followed because they were hinted, and wrong hints dropped."""

import json
import os
import subprocess
import sys

import pytest
from patience import wait_until
from prefetching import DataSet, Prediction
from program_runs import run
from skips import needs_root

pytest.importorskip("torch")
pytestmark = needs_root

FILES = 600
BATCH = 20
MISSES_MAX = 0.2  # of an unpredicted epoch nearly all files take a request

# Reads one batch for each line that it gets, and says so. The paths are sorted as those of the store's path order are.
READER = """
import pathlib, random, sys, torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler
root, kind, seed, epoch_from = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
class Files(Dataset):
    paths = sorted(path for folder in root.iterdir() if folder.is_dir() for path in folder.iterdir())
    def __len__(self): return len(self.paths)
    def __getitem__(self, index): return len(self.paths[index].read_bytes())
data, sampler = Files(), None
if kind == "system":  # numbers of the kernel
    sampler = [index for _ in range(20) for index in random.SystemRandom().sample(range(len(data)), len(data))]
if kind == "distributed":
    sampler = DistributedSampler(data, num_replicas=2, rank=1, seed=seed)
class Fastai:  # what fastai/data/load.py draws
    def __init__(self): self.rng = random.Random(random.randint(0, 2**32 - 1))
    def __len__(self): return len(data)
    def __iter__(self):
        self.rng = random.Random(self.rng.randint(0, 2**32 - 1))
        return iter(self.rng.sample(list(range(len(data))), len(data)))
if kind == "fastai":
    random.seed(seed)
    sampler = Fastai()
torch.manual_seed(seed)
loader = DataLoader(data, batch_size=20, sampler=sampler, shuffle=sampler is None)
print("ready", flush=True)
for epoch in range(epoch_from, 1000):
    if kind == "distributed": sampler.set_epoch(epoch)
    batches = iter(loader)
    for number in range(len(loader)):
        if not sys.stdin.readline(): sys.exit()
        next(batches)
        print("read", flush=True)
"""


@pytest.fixture(scope="module")
def data(augurpack, session_room):
    folder = session_room / "hint-sampler"
    folder.mkdir()
    return DataSet(augurpack, folder, FILES, 20_000)


class Reader:
    """A training script that reads one batch whenever it is told to."""

    def __init__(self, point, kind, seed, epoch_from=0):
        words = [sys.executable, "-c", READER, str(point), kind, str(seed), str(epoch_from)]
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1")
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout.readline() == "ready\n"

    def read(self, batches=1):
        for _ in range(batches):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "read\n"

    def close(self):
        if self.process.stdin.closed:
            return
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def readers():
    started = []

    def start(*words):
        started.append(Reader(*words))
        return started[-1]

    try:
        yield start
    finally:
        for reader in started:
            reader.close()


@pytest.fixture
def mount(room, mounts, point, data, augurctl):
    """The data set mounted; nothing is remembered from other runs (own_cache_home)."""
    mounts.mount(data.store, point)
    return Prediction(augurctl, point)


def give_hint(mount, *words):
    done = run([mount.augurctl, "hint", mount.point, *words])
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.startswith("accepted: ")
    return done.stdout.removeprefix("accepted: ").removesuffix("\n")


def facts(mount):
    return mount.status()["mount"]


def predicted(mount):
    return " ".join(text for name, text in facts(mount).items() if name.startswith("predicted"))


def locked_as_hinted(mount):
    return "as hinted" in predicted(mount) and "nothing now" not in predicted(mount)


def assert_reads_without_requests(mount, reader, batches):
    """Each batch after all that can be there is there. Next to none of its files take a READ request, but the machine may
    take back pages that nobody has used yet."""
    wait_until(lambda: mount.counters()["pushes"] > 0, lambda: f"the prefetch begins: {mount.status()}")
    mount.wait_settled(0.3)
    before = mount.counters()["reads"]
    for _ in range(batches):
        mount.wait_settled(0.04)
        reader.read()
    assert mount.counters()["reads"] - before <= MISSES_MAX * batches * BATCH, f"{mount.status()}"


def test_distributed_hinted_before_the_first_read(mount, readers):
    """A seed and an epoch that nothing else would try: the third of four."""
    text = give_hint(mount, "--sampler", "distributed", "--seed", "70007", "--epoch-from", "31", "--world-size", "2", "--ranks", "1")
    assert text == "torch DistributedSampler, seed 70007 + epoch, rank 1 of 2, from epoch 31"
    wait_until(lambda: "no epoch agrees yet" in facts(mount).get("hint", ""), "the hint is told")
    reader = readers(mount.point, "distributed", 70007, 31)
    reader.read(2)
    wait_until(lambda: locked_as_hinted(mount), "locked as hinted")
    assert "agrees with epoch 31" in facts(mount)["hint"]
    # The rest of this epoch, and most of the next one.
    assert_reads_without_requests(mount, reader, FILES // 2 // BATCH - 2 + 10)
    wait_until(lambda: "agrees with epoch 32" in facts(mount)["hint"], "the next epoch agrees")
    assert locked_as_hinted(mount), facts(mount)
    assert "hint_dropped" not in facts(mount)
    # What was found is told when the script is over, too.
    reader.close()
    wait_until(lambda: "of a job that has ended: torch DistributedSampler, seed 70007" in predicted(mount), "the finding is still told")


def test_random_sampler_hinted_in_mid_epoch(mount, readers):
    """manual_seed(70008): the first epoch's seed is output 3 of its stream."""
    reader = readers(mount.point, "random", 70008)
    reader.read(4)
    give_hint(mount, "--sampler", "torch", "--seed", "70008")
    wait_until(lambda: "hint" in facts(mount), "the hint waits")  # while the daemon asks itself what is read
    wait_until(lambda: locked_as_hinted(mount) or reader.read() or False, "locked as hinted")
    assert_reads_without_requests(mount, reader, 10)


def test_fastai_hinted(mount, readers):
    """A seed that nothing else would try; the second epoch comes from the generator of the first."""
    text = give_hint(mount, "--sampler", "fastai", "--seed", "70013")
    assert text == "fastai DataLoader, seed 70013, from epoch 0"
    reader = readers(mount.point, "fastai", 70013)
    reader.read(2)
    wait_until(lambda: locked_as_hinted(mount), "locked as hinted")
    assert_reads_without_requests(mount, reader, FILES // BATCH - 2 + 10)
    wait_until(lambda: "agrees with epoch 1" in facts(mount)["hint"], "the next epoch agrees")


def test_fastai_of_a_common_seed_is_found(mount, readers):
    reader = readers(mount.point, "fastai", 42)
    wait_until(lambda: "fastai DataLoader, seed 42" in predicted(mount) or reader.read() or False, "it is found")


def test_wrong_hints_are_dropped_and_told(room, mounts, point, data, augurctl, readers):
    """The reader's order is one that nobody finds. Nothing is pushed: opens of what is in memory do not tell whose they are."""
    mounts.mount(data.store, point, "push=off")
    mount = Prediction(augurctl, point)
    give_hint(mount, "--sampler", "distributed", "--seed", "70009", "--world-size", "2", "--ranks", "1")
    give_hint(mount, "--sampler", "generator", "--seed", "70010")
    wait_until(lambda: "hint_2" in facts(mount), "both hints wait")
    reader = readers(mount.point, "system", 0)
    reader.read(6)
    wait_until(lambda: "hint" not in facts(mount) and "hint_dropped_2" in facts(mount), "both hints are dropped")
    told = [facts(mount)[name] for name in ("hint_dropped", "hint_dropped_2")]
    assert any("seed 70009" in line for line in told) and any("seed 70010" in line for line in told), told
    assert all("does not agree" in line for line in told), told
    assert not locked_as_hinted(mount)
    reader.close()
    # A right one makes it good, and the line goes with its finding.
    give_hint(mount, "--sampler", "distributed", "--seed", "70011", "--world-size", "2", "--ranks", "1")
    readers(mount.point, "distributed", 70011).read(2)
    wait_until(lambda: locked_as_hinted(mount), "locked as hinted")
    wait_until(lambda: "hint_dropped" not in facts(mount), "the old line has gone")


def test_reading_in_order_denies_nothing(mount, readers, data):
    """A scan before the training says nothing of the training."""
    give_hint(mount, "--sampler", "distributed", "--seed", "70012", "--world-size", "2", "--ranks", "1")
    for path in data.paths[:200]:
        data.check(mount.point, path)
    reader = readers(mount.point, "distributed", 70012)
    reader.read(2)
    wait_until(lambda: locked_as_hinted(mount), "locked as hinted")


def test_what_does_not_resolve_is_refused(mount, augurctl):
    for words, part in (
        (["--sampler", "torhc", "--seed", "1"], "torch, torch-1.8"),
        (["--sampler", "torch"], "give --seed"),
        (["--sampler", "transformers", "--world-size", "2"], "give --batch-size"),
        (["--sampler", "numpy", "--seed", "4294967296"], "2^32"),
        (["--sampler", "distributed", "--ranks", "2"], "give --world-size"),
        (["--sampler", "torch", "--seed", "1", "--epoch-from", "10000000000"], "too large: 0 to 100000"),
        (["--sampler", "torch", "--seed", "1", "--position", "68719476736"], "too far into the stream"),
        (["--sampler", "torch", "--seed", "1", "--stride", "4294967296", "--epoch-from", "100000"], "give one up to 1"),
    ):
        done = run([augurctl, "hint", mount.point, *words])
        assert (done.returncode, done.stdout) == (2, ""), done
        assert done.stderr.startswith("augurctl: ") and part in done.stderr, done.stderr
    assert "hint" not in json.loads(run([augurctl, "status", "--json", mount.point]).stdout)["mount"]


def test_without_prediction_the_cure_is_said(room, mounts, point, data, augurctl):
    mounts.mount(data.store, point, "predict=off")
    done = run([augurctl, "hint", point, "--sampler", "distributed"])
    assert done.returncode == 2 and "-o predict=off" in done.stderr, done.stderr
