# SPDX-License-Identifier: Apache-2.0
"""Our samplers take the same indices as torch's and as those of the frameworks on it, for random sizes and seeds.

Each test asks the real library in this process and order_dump beside it. The numbers come from a seed that is printed by a
failure (AUGUR_TEST_SEED repeats it). A framework that is not installed is skipped by name.
"""

import os
import random

import pytest
from shuffle_support import epochs, interleaved, rng  # noqa: F401

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, SubsetRandomSampler  # noqa: E402

SIZES = (1, 2, 3, 10, 227, 228, 65535, 65536, 65537, 1281167)
SEEDS = (0, 1, 42, 2**31, 2**32 - 1, 2**32, 2**32 + 42, 2**63 - 1, 2**63, 2**64 - 1, -1, -42, -(2**63))


def generator(seed):
    made = torch.Generator()
    made.manual_seed(seed)
    return made


# randperm and randint

@pytest.mark.parametrize("samples", SIZES)
def test_randperm_of_every_kind_of_seed(order, samples):
    for seed in SEEDS:
        assert order(samples, 0, "fresh", "--seed", seed) == torch.randperm(samples, generator=generator(seed)).tolist(), seed


def test_randperm_of_random_sizes_and_seeds_whole_and_its_beginning(order, rng):
    for _ in range(200):
        samples, seed = int(2 ** rng.uniform(0, 18)), rng.randrange(-(2**63), 2**64)
        whole = torch.randperm(samples, generator=generator(seed)).tolist()
        assert order(samples, 0, "fresh", "--seed", seed) == whole, (samples, seed)
        count = rng.randint(1, samples)
        assert order(samples, 0, "fresh", "--seed", seed, count=count) == whole[:count], (samples, seed, count)


@pytest.mark.parametrize("samples", [3, 1000, 2**28 - 1, 2**28, 2**28 + 5, 2**32 - 1])
def test_randint_on_both_sides_of_the_length_from_which_it_takes_64_bits(order, samples):
    for seed in SEEDS:
        sampler = RandomSampler(range(samples), replacement=True, num_samples=77, generator=None)
        torch.manual_seed(seed)
        torch.empty((), dtype=torch.int64).random_()  # a DataLoader's base_seed
        assert order(samples, 0, "replacement", "--seed", seed, "--draws", 77) == list(sampler), seed


# torch.utils.data

def test_distributed_sampler(order, rng):
    for _ in range(100):
        samples, world_size = int(2 ** rng.uniform(0, 14)), rng.choice((1, 2, 3, 4, 7, 8, 16, 64))
        seed, epoch, drop_last, shuffle = rng.randrange(2**63), rng.randrange(500), rng.random() < 0.5, rng.random() < 0.9
        ranks = []
        for rank in range(world_size):
            sampler = DistributedSampler(range(samples), world_size, rank, shuffle=shuffle, seed=seed, drop_last=drop_last)
            sampler.set_epoch(epoch)
            ranks.append(list(sampler))
        words = ["distributed" if shuffle else "sequential", "--seed", seed, "--world-size", world_size]
        words += ["--drop-last"] if drop_last else []
        assert order(samples, epoch, *words) == interleaved(ranks), (samples, *words)
        here = sorted(rng.sample(range(world_size), rng.randint(1, world_size)))
        words += ["--ranks", ",".join(map(str, here))]
        assert order(samples, epoch, *words) == interleaved([ranks[rank] for rank in here]), (samples, *words)


def test_distributed_sampler_whose_epoch_is_never_set(order):
    sampler = DistributedSampler(range(1003), 1, 0, seed=5)
    for epoch in range(3):
        assert order(1003, epoch, "distributed", "--seed", 5, "--same-epoch") == list(sampler)


def test_data_loader_after_manual_seed(order, rng):
    for _ in range(20):
        samples, seed, drawn = int(2 ** rng.uniform(0, 10)), rng.randrange(2**64), rng.randrange(2000)
        torch.manual_seed(seed)
        torch.rand(drawn)  # a small model, say: one output a number
        for epoch, indices in enumerate(epochs(DataLoader(range(samples), batch_size=8, shuffle=True), 5)):
            assert order(samples, epoch, "torch", "--seed", seed, "--position", drawn + 3) == indices, (samples, seed, drawn, epoch)


def test_data_loader_beside_a_validation_loader(order):
    torch.manual_seed(42)
    train, validation = DataLoader(range(500), batch_size=8, shuffle=True), DataLoader(range(50), batch_size=8)
    for epoch in range(4):
        assert order(500, epoch, "torch", "--seed", 42, "--stride", 6) == epochs(train, 1)[0]
        epochs(validation, 1)


def test_data_loader_with_persistent_workers(order):
    torch.manual_seed(42)
    loader = DataLoader(range(500), batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)
    for epoch, indices in enumerate(epochs(loader, 4)):
        assert order(500, epoch, "torch", "--seed", 42, "--stride", 2) == indices, epoch


def test_random_samplers_that_draw_more_or_fewer_than_there_are(order, rng):
    for _ in range(20):
        samples, seed, draws = rng.randint(1, 300), rng.randrange(2**64), rng.randint(1, 1000)
        for replacement in (False, True):
            torch.manual_seed(seed)
            sampler = RandomSampler(range(samples), replacement=replacement, num_samples=draws)
            name = "replacement" if replacement else "torch"
            for epoch, indices in enumerate(epochs(DataLoader(range(samples), batch_size=8, sampler=sampler), 3)):
                assert order(samples, epoch, name, "--seed", seed, "--draws", draws) == indices, (samples, seed, draws, epoch)


def test_generators_that_live_for_the_whole_run(order, rng):
    for _ in range(20):
        samples, seed = int(2 ** rng.uniform(0, 12)), rng.randrange(2**64)
        loader = DataLoader(range(samples), batch_size=8, shuffle=True, generator=generator(seed))
        sampler = RandomSampler(range(samples), generator=generator(seed))
        own = DataLoader(range(samples), batch_size=8, sampler=sampler)
        for name, real in (("generator", loader), ("sampler-generator", own)):
            for epoch, indices in enumerate(epochs(real, 4)):
                assert order(samples, epoch, name, "--seed", seed) == indices, (name, samples, seed, epoch)
        assert order(samples, 1, "generator", "--seed", seed) == order(samples, 1, "generator", "--seed", seed)


def test_subset_random_sampler(order, rng):
    for _ in range(20):
        samples, seed = int(2 ** rng.uniform(0, 12)), rng.randrange(2**64)
        torch.manual_seed(seed)
        loader = DataLoader(range(samples), batch_size=8, sampler=SubsetRandomSampler(range(samples)))
        for epoch, indices in enumerate(epochs(loader, 3)):
            assert order(samples, epoch, "subset", "--seed", seed) == indices, (samples, seed, epoch)


def test_fastai_behind_its_random_splitter(order, rng):
    """RandomSplitter(valid_pct, seed): the training part is randperm of the global generator without its beginning, and the
    loader draws from that part (fastai/data/transforms.py, fastai/data/load.py)."""
    for _ in range(20):
        samples, seed, split_seed = rng.randint(10, 2000), rng.randrange(2**64), rng.randrange(2**32)
        cut = int(rng.choice([0.1, 0.2, 0.5]) * samples)
        random.seed(seed)
        torch.manual_seed(split_seed)
        part = torch.randperm(samples).tolist()[cut:]
        draws = random.Random(random.randint(0, 2**32 - 1))
        words = ["--seed", seed, "--split-seed", split_seed, "--split-from", cut, "--split-size", samples - cut]
        for epoch in range(3):
            draws = random.Random(draws.randint(0, 2**32 - 1))
            read = [part[place] for place in draws.sample(list(range(len(part))), len(part))]
            assert order(samples, epoch, "fastai", *words) == read, words


def test_random_split_with_a_generator(order, rng):
    for _ in range(20):
        samples, seed, split_seed = rng.randint(2, 2000), rng.randrange(2**64), rng.randrange(-(2**63), 2**64)
        size = rng.randint(1, samples - 1)
        sizes = [size, samples - size]
        parts = torch.utils.data.random_split(range(samples), sizes, generator=generator(split_seed))
        for part, begin, part_size in zip(parts, (0, size), sizes):
            torch.manual_seed(seed)
            words = ["--seed", seed, "--split-seed", split_seed, "--split-from", begin, "--split-size", part_size]
            for epoch, indices in enumerate(epochs(DataLoader(part, batch_size=8, shuffle=True), 3)):
                assert order(samples, epoch, "torch", *words) == indices, (samples, *words, epoch)


# The frameworks on torch

def test_torchdata_stateful_data_loader(order, rng):
    loader_module = pytest.importorskip("torchdata.stateful_dataloader")
    for _ in range(10):
        samples, seed = int(2 ** rng.uniform(0, 12)), rng.randrange(2**63)
        torch.manual_seed(seed)
        drawn = torch.empty((), dtype=torch.int64).random_().item()
        torch.manual_seed(seed)
        loader = loader_module.StatefulDataLoader(range(samples), batch_size=8, shuffle=True)
        for epoch, indices in enumerate(epochs(loader, 4)):
            assert order(samples, epoch, "stateful", "--seed", drawn) == indices, (samples, seed, epoch)
        loader = loader_module.StatefulDataLoader(range(samples), batch_size=8, shuffle=True, generator=generator(seed))
        for epoch, indices in enumerate(epochs(loader, 4)):
            assert order(samples, epoch, "stateful-generator", "--seed", seed) == indices, (samples, seed, epoch)


@pytest.mark.parametrize(("workers", "persistent"), [(1, False), (2, False), (4, False), (1, True), (2, True), (4, True)])
def test_torchdata_stateful_data_loader_with_workers(order, rng, workers, persistent):
    """However many they are, one permutation is drawn and not used before the first epoch."""
    loader_module = pytest.importorskip("torchdata.stateful_dataloader")
    samples, seed = rng.randint(2, 2000), rng.randrange(2**63)
    torch.manual_seed(seed)
    drawn = torch.empty((), dtype=torch.int64).random_().item()
    torch.manual_seed(seed)
    loader = loader_module.StatefulDataLoader(range(samples), batch_size=8, shuffle=True, num_workers=workers,
                                              persistent_workers=persistent)
    name = "stateful-persistent" if persistent else "stateful-workers"
    for epoch, indices in enumerate(epochs(loader, 3)):
        assert order(samples, epoch, name, "--seed", drawn) == indices, (samples, seed, epoch)


def shards_of_accelerate(module, world_size, split_batches, make_loader, seed, **options):
    """The loader of each rank, as its own process would make it after manual_seed(seed)."""
    loaders = []
    for rank in range(world_size):
        torch.manual_seed(seed)
        loaders.append(module.prepare_data_loader(make_loader(), num_processes=world_size, process_index=rank, put_on_device=False,
                                                  split_batches=split_batches, rng_types=None, **options))
    return loaders


def by_batches(loaders):
    """One epoch of all ranks in the order of the batches."""
    ranks = [[batch.tolist() for batch in loader] for loader in loaders]
    assert len({len(batches) for batches in ranks}) == 1
    return [index for row in zip(*ranks, strict=True) for batch in row for index in batch]


@pytest.mark.parametrize("split_batches", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
def test_accelerate_on_several_ranks(order, rng, split_batches, drop_last):
    module = pytest.importorskip("accelerate.data_loader")
    for _ in range(10):
        samples, world_size, batch, seed = rng.randint(1, 600), rng.choice((2, 3, 4)), rng.choice((1, 5, 8)), rng.randrange(2**62)
        batch *= world_size if split_batches else 1
        words = ["--world-size", world_size, "--batch-size", batch]
        words += ["--split-batches"] * split_batches + ["--drop-last"] * drop_last

        def make_loader():
            return DataLoader(range(samples), batch_size=batch, shuffle=True, drop_last=drop_last)

        # use_seedable_sampler: seed + epoch, the seed being the script's.
        loaders = shards_of_accelerate(module, world_size, split_batches, make_loader, seed, use_seedable_sampler=True)
        for epoch in range(3):
            for loader in loaders:
                loader.set_epoch(epoch)
            wanted = by_batches(loaders)
            assert order(samples, epoch, "accelerate-seedable", "--seed", seed, *words) == wanted, (samples, seed, words, epoch)
            assert order(samples, epoch, "transformers", "--seed", seed, *words) == wanted

        # Without it every rank's generator has one seed, drawn at prepare().
        torch.manual_seed(seed)
        drawn = torch.empty((), dtype=torch.int64).random_().item()
        loaders = shards_of_accelerate(module, world_size, split_batches, make_loader, seed)
        for epoch in range(3):
            got = order(samples, epoch, "accelerate", "--seed", drawn, *words)
            assert got == by_batches(loaders), (samples, seed, words, epoch)
            here = order(samples, epoch, "accelerate", "--seed", drawn, "--ranks", world_size - 1, *words)
            size = batch // world_size if split_batches else batch
            assert here == [index for at, index in enumerate(got) if at // size % world_size == world_size - 1]


def test_accelerate_with_a_generator_that_nobody_seeded(order):
    """What accelerate 0.30 to 1.5 give every rank: its constant is torch's."""
    sampler = RandomSampler(range(1003), generator=torch.Generator())
    assert [order(1003, epoch, "accelerate") for epoch in range(3)] == [list(sampler) for _ in range(3)]


def test_transformers_trainer(order, tmp_path):
    transformers = pytest.importorskip("transformers")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

    for words, seed in (([], None), (["--seed", 99], 99)):
        chosen = {} if seed is None else {"seed": seed}
        arguments = transformers.TrainingArguments(output_dir=str(tmp_path), use_cpu=True, report_to=[], **chosen)
        trainer = transformers.Trainer(model=Model(), args=arguments, train_dataset=list(range(301)), data_collator=list)
        loader = trainer.get_train_dataloader()
        for epoch in range(3):
            loader.set_epoch(epoch)
            assert order(301, epoch, "transformers", *words) == epochs(loader, 1)[0], (seed, epoch)


def test_lightning_on_one_device(order, tmp_path):
    """A whole fit: the positions of the seeds are what the trainer leaves of the stream."""
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.taken = [[]]

        def training_step(self, batch, _):
            self.taken[-1] += batch.tolist()
            return self.layer(batch[:, None].float()).sum()

        def on_train_epoch_end(self):
            self.taken.append([])

        def validation_step(self, batch, _):
            return batch.float().sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-9)

    for validation, stride in ((False, 4), (True, 6)):
        lightning.seed_everything(77)
        module = Module()  # its layer draws two numbers of the stream
        trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False, default_root_dir=str(tmp_path))
        loaders = [DataLoader(range(301), batch_size=8, shuffle=True)]
        loaders += [DataLoader(range(20), batch_size=8)] * validation
        trainer.fit(module, *loaders)
        os.environ.pop("PL_GLOBAL_SEED", None)
        for epoch in range(3):
            words = ["--seed", 77, "--position", 5, "--stride", stride]
            assert order(301, epoch, "lightning", *words) == module.taken[epoch], (validation, epoch)


def test_lightning_distributed_sampler(order):
    connector = pytest.importorskip("lightning.pytorch.trainer.connectors.data_connector")
    states = pytest.importorskip("lightning.pytorch.trainer.states")
    os.environ.pop("PL_GLOBAL_SEED", None)
    for seed in (None, 77):
        if seed is not None:
            os.environ["PL_GLOBAL_SEED"] = str(seed)
        try:
            samplers = [connector._get_distributed_sampler(DataLoader(range(1003), shuffle=True), shuffle=True, overfit_batches=0,
                                                           mode=states.RunningStage.TRAINING, num_replicas=4, rank=rank)
                        for rank in range(4)]
        finally:
            os.environ.pop("PL_GLOBAL_SEED", None)
        for epoch in range(3):
            for sampler in samplers:
                sampler.set_epoch(epoch)
            words = ["--world-size", 4] + (["--seed", seed] if seed is not None else [])
            assert order(1003, epoch, "lightning", *words) == interleaved([list(sampler) for sampler in samplers])


def test_ultralytics_loader(order):
    build = pytest.importorskip("ultralytics.data.build")
    for seed in (0, 7):
        torch.manual_seed(seed)
        loader = build.build_dataloader(range(301), batch=16, workers=0, shuffle=True, rank=-1, device="cpu")
        for epoch in range(4):
            assert order(301, epoch, "ultralytics", "--seed", seed) == epochs(loader, 1)[0], (seed, epoch)
