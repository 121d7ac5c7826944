# SPDX-License-Identifier: Apache-2.0
"""Our samplers take the same indices as NumPy, Python, DALI and webdataset, for random sizes and seeds.

Each test asks the real library in this process and shuffle_dump beside it. The numbers come from a seed that is printed by a
failure (AUGUR_TEST_SEED repeats it). A library that is not installed is skipped by name.
"""

import random

import numpy
import pytest
from shuffle_support import dump, interleaved, interleaved_unequal, rng, size_of  # noqa: F401

STATE, GENERATOR, PYTHON = 0, 1, 2  # ListShuffler
ONCE, SEED_PLUS_EPOCH, CONTINUED, IN_PLACE = 0, 1, 2, 3  # ListEpochs
SAMPLED_ONCE, SAMPLED_ON, FASTAI = 0, 1, 2  # SampleEpochs
RANDOM_SHUFFLE, AFTER_EPOCH = 0, 1  # DaliFileSampler::Epochs


# NumPy and Python


@pytest.mark.parametrize("samples", [1, 2, 3, 4, 5, 255, 256, 257, 65535, 65536, 65537, 1281167])
def test_lists_on_both_sides_of_powers_of_two(dump, samples):
    numbers = list(range(samples))
    random.Random(samples).shuffle(numbers)
    assert dump("list", samples, 0, 0, STATE, 7, ONCE) == numpy.random.RandomState(7).permutation(samples).tolist()
    assert dump("list", samples, 0, 0, GENERATOR, 7, ONCE) == numpy.random.default_rng(7).permutation(samples).tolist()
    assert dump("list", samples, 0, 0, PYTHON, samples, ONCE) == numbers


def test_numpy_of_random_sizes_and_seeds(dump, rng):
    for _ in range(60):
        samples, epoch, seed = size_of(rng), rng.randrange(5), rng.randrange(2**32)
        count = rng.randrange(samples) + 1
        state = numpy.random.RandomState(seed)
        for _ in range(epoch + 1):
            order = state.permutation(samples).tolist()
        assert dump("list", samples, epoch, count, STATE, seed, CONTINUED) == order[:count], (samples, epoch, seed)
        state, order = numpy.random.RandomState(seed), list(range(samples))
        for _ in range(epoch + 1):
            state.shuffle(order)
        assert dump("list", samples, epoch, 0, STATE, seed, IN_PLACE) == order, (samples, epoch, seed)


def test_numpy_generator_of_random_sizes_and_seeds(dump, rng):
    for _ in range(60):
        samples, epoch, seed = size_of(rng), rng.randrange(5), rng.randrange(2 ** rng.choice((8, 32, 64)) - 10)
        fresh = numpy.random.default_rng(seed + epoch)  # FFCV's order
        assert dump("list", samples, epoch, 0, GENERATOR, seed, SEED_PLUS_EPOCH) == fresh.permutation(samples).tolist()
        generator, order = numpy.random.default_rng(seed), numpy.arange(samples)
        for _ in range(epoch + 1):
            generator.shuffle(order)
        assert dump("list", samples, epoch, 0, GENERATOR, seed, IN_PLACE) == order.tolist(), (samples, epoch, seed)


def test_python_of_random_sizes_and_seeds(dump, rng):
    for _ in range(60):
        samples, epoch, seed = size_of(rng), rng.randrange(4), rng.randrange(2 ** rng.choice((8, 32, 33, 64)))
        generator = random.Random(seed)
        for _ in range(epoch + 1):
            order = list(range(samples))
            generator.shuffle(order)
        assert dump("list", samples, epoch, 0, PYTHON, seed, CONTINUED) == order, (samples, epoch, seed)
        count = rng.randrange(samples + 1)
        sample = random.Random(seed).sample(range(samples), count)
        assert dump("python-sample", seed, samples, count) == sample, (samples, count, seed)
        generator = random.Random(seed)
        chosen = [generator.choice(range(samples)) for _ in range(20)]
        assert dump("python-choice", seed, 20, samples) == chosen, (samples, seed)


def test_python_samples_of_random_sizes_and_seeds(dump, rng):
    for samples in (1, 2, 3, 20, 21, 22, 1023, 1024, 1025, *(size_of(rng) for _ in range(30))):
        seed, epoch, count = rng.randrange(2 ** rng.choice((8, 32, 64))), rng.randrange(4), rng.randrange(samples) + 1
        generator = random.Random(seed)
        orders = [generator.sample(range(samples), samples) for _ in range(epoch + 1)]
        assert dump("python-epoch", samples, epoch, 0, seed, SAMPLED_ON) == orders[epoch], (samples, epoch, seed)
        assert dump("python-epoch", samples, epoch, count, seed, SAMPLED_ONCE) == orders[0][:count], (samples, seed)
        few = max(1, samples // 100)  # so few that no list of all is laid out
        assert dump("python-epoch", samples, epoch, few, seed, SAMPLED_ON) == orders[epoch][:few], (samples, epoch, seed)


class AsFastaiDraws:
    """What fastai/data/load.py documents of the generator of a DataLoader."""

    def __init__(self, samples):
        self.samples, self.rng = samples, random.Random(random.randint(0, 2**32 - 1))

    def epoch(self):
        self.rng = random.Random(self.rng.randint(0, 2**32 - 1))
        return self.rng.sample(list(range(self.samples)), self.samples)


def fastai_loader(samples):
    loader = pytest.importorskip("fastai.data.load").DataLoader
    made = loader(range(samples), bs=7, shuffle=True)

    def epoch():
        made.randomize()
        return list(made.get_idxs())

    made.epoch = epoch
    return made


@pytest.mark.parametrize("make", [AsFastaiDraws, fastai_loader], ids=["documented", "fastai"])
def test_fastai_of_random_sizes_and_seeds(dump, rng, make):
    make(1)  # an import may draw, too
    for _ in range(40):
        samples, seed, before = size_of(rng), rng.randrange(2 ** rng.choice((8, 32, 64))), rng.randrange(3)
        random.seed(seed)
        loader = [make(samples) for _ in range(before + 1)][before]
        for epoch in range(4):
            order = loader.epoch()
            assert dump("python-epoch", samples, epoch, 0, seed, FASTAI, before) == order, (samples, epoch, seed, before)


def test_fastai_reads_in_this_order(dump):
    """By its batches, with and without workers."""
    loader = pytest.importorskip("fastai.data.load").DataLoader
    for workers in (0, 2):
        random.seed(42)
        made = loader(list(range(100)), bs=8, shuffle=True, num_workers=workers)
        for epoch in range(3):
            read = [int(index) for batch in made for index in batch]
            assert read == dump("python-epoch", 100, epoch, 0, 42, FASTAI)


def test_batches_as_fairseq_shuffles_them(dump, rng):
    """fairseq's EpochBatchIterator: numpy.random.seed(seed + epoch), then numpy.random.shuffle of the list of batches."""
    for _ in range(20):
        samples, size, seed, epoch = size_of(rng, 20000), rng.randint(1, 40), rng.randrange(1000), rng.randrange(1, 20)
        batches = [list(range(i, min(i + size, samples))) for i in range(0, samples, size)]
        numpy.random.seed(seed + epoch)
        numpy.random.shuffle(batches)
        assert dump("list", samples, epoch, 0, STATE, seed, SEED_PLUS_EPOCH, size) == sum(batches, [])


# DALI


@pytest.fixture(scope="module")
def dali():
    return pytest.importorskip("nvidia.dali")


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbered")
    paths = [folder / f"{number:06}" for number in range(600)]
    for path in paths:
        path.write_bytes(b"x")
    return [str(path) for path in paths]


def read_by_dali(dali, paths, samples, epochs, checkpointing=False, **options):
    """The numbers of the files in the order of the reader's outputs: epochs times all of its shard."""
    shards, shard = options.get("num_shards", 1), options.get("shard_id", 0)
    pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None, enable_checkpointing=checkpointing)
    with pipe:
        _, labels = dali.fn.readers.file(files=paths[:samples], labels=list(range(samples)), **options)
        pipe.set_outputs(labels)
    pipe.build()
    each = samples * (shard + 1) // shards - samples * shard // shards
    return [[int(pipe.run()[0].as_array()[0][0]) for _ in range(each)] for _ in range(epochs)]


def test_dali_random_shuffle(dump, dali, numbered, rng):
    for samples in (1, 2, 3, 10, 99, 600):
        # With a buffer of one the outputs are in the order of the reads; the seed changes nothing.
        orders = read_by_dali(dali, numbered, samples, 3, random_shuffle=True, initial_fill=1, seed=rng.randrange(100))
        for epoch, order in enumerate(orders):
            assert dump("dali", samples, epoch, 0, RANDOM_SHUFFLE, 0, 1) == order, samples
    shards = [read_by_dali(dali, numbered, 501, 1, random_shuffle=True, initial_fill=1, num_shards=3, shard_id=i)[0]
              for i in range(3)]
    assert dump("dali", 501, 0, 0, RANDOM_SHUFFLE, 0, 3) == interleaved(shards)


@pytest.mark.parametrize("checkpointing", [False, True])
def test_dali_shuffle_after_epoch(dump, dali, numbered, rng, checkpointing):
    for samples in (2, 3, 100, 600):
        for seed in (None, 0, 524287, rng.randrange(2**31)):
            words = {} if seed is None else {"shuffle_after_epoch_seed": seed}
            orders = read_by_dali(dali, numbered, samples, 3, checkpointing, shuffle_after_epoch=True, **words)
            for epoch, order in enumerate(orders):
                ours = dump("dali", samples, epoch, 0, AFTER_EPOCH, 524287 if seed is None else seed, 1, int(checkpointing))
                assert ours == order, (samples, seed, epoch)
    shards = [read_by_dali(dali, numbered, 100, 2, checkpointing, shuffle_after_epoch=True, num_shards=3, shard_id=i)
              for i in range(3)]
    for epoch in range(2):
        ours = dump("dali", 100, epoch, 0, AFTER_EPOCH, 524287, 3, int(checkpointing))
        assert ours == interleaved_unequal([shard[epoch] for shard in shards])


def test_dali_shuffles_a_list_too_long_for_two_places_a_draw(dump, dali, numbered):
    """std::shuffle has a second way from 65,536 on, for a 32 bit engine. Nothing has to be read more than once for it."""
    samples = 65536 + 1000
    paths = [numbered[i % len(numbered)] for i in range(samples)]
    order = read_by_dali(dali, paths, samples, 1, random_shuffle=True, initial_fill=1)[0]
    assert dump("dali", samples, 0, 0, RANDOM_SHUFFLE, 0, 1) == order


# webdataset and streaming


def test_webdataset_shards(dump, rng):
    webdataset = pytest.importorskip("webdataset")
    for _ in range(100):
        shards, buffer, initial = rng.randint(1, 2000), rng.randint(1, 500), rng.choice((1, 10, 100))
        seed, workers = rng.randrange(10**6 + 1), rng.choice((1, 2, 4, 7))
        parts = []
        for worker in range(min(workers, shards)):
            own = list(range(worker, shards, workers))
            parts.append(list(webdataset.filters._shuffle(iter(own), buffer, initial, seed=seed)))
        about = (shards, buffer, initial, seed, workers)
        assert dump("webdataset", shards, 0, 0, seed, buffer, initial, 0, workers) == interleaved_unequal(parts), about
    stage = webdataset.filters.detshuffle(bufsize=100, seed=17)
    for epoch in range(3):
        assert dump("webdataset", 333, epoch, 0, 17, 100, 100, 1, 1) == list(stage.run(iter(range(333))))


def test_webdataset_pipeline(dump):
    """The dataset itself, up to the shards: who shuffles, with which arguments."""
    webdataset = pytest.importorskip("webdataset")
    urls = [f"{number}.tar" for number in range(250)]
    dataset = webdataset.WebDataset(urls, shardshuffle=120, seed=33)
    stages = webdataset.DataPipeline(*dataset.pipeline[:4])
    read = [int(sample["url"][:-4]) for sample in stages]
    assert dump("webdataset", 250, 0, 0, 33, 120, 100, 0, 1) == read


# The search of seeds


@pytest.mark.parametrize("shuffler", [STATE, GENERATOR, PYTHON])
def test_search_finds_the_seed_and_no_other(dump, rng, shuffler):
    samples, seed = 50000, rng.randrange(20000)
    whole = list(range(samples))
    {STATE: numpy.random.RandomState, GENERATOR: numpy.random.default_rng, PYTHON: random.Random}[shuffler](seed).shuffle(whole)
    # Half of the reads were not seen, and those that were came out of order.
    reads = sorted(rng.sample(range(600), 300), key=lambda place: place + rng.uniform(0, 64))
    reads = [whole[place] for place in reads]
    assert dump("search", shuffler, samples, 400, 0, 20000, *reads) == [seed]
