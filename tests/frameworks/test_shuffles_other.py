# SPDX-License-Identifier: Apache-2.0
"""Our samplers take the same indices as NumPy, Python, TensorFlow, Keras, DALI and webdataset, for random sizes and seeds.

Each test asks the real library in this process and shuffle_dump beside it. The numbers come from a seed that is printed by a
failure (AUGUR_TEST_SEED repeats it). A library that is not installed is skipped by name.
"""

import os
import random
import subprocess

import mounts  # of bench/
import numpy
import pytest

STATE, GENERATOR, PYTHON = 0, 1, 2  # ListShuffler
ONCE, SEED_PLUS_EPOCH, CONTINUED, IN_PLACE = 0, 1, 2, 3  # ListEpochs
SAMPLED_ONCE, SAMPLED_ON, FASTAI = 0, 1, 2  # SampleEpochs
RESHUFFLED, SAME = 0, 1  # TfEpochs
ALL, TRAINING, VALIDATION = 0, 1, 2  # KerasImageSampler::Part
RANDOM_SHUFFLE, AFTER_EPOCH = 0, 1  # DaliFileSampler::Epochs


@pytest.fixture(scope="session")
def dump():
    program = mounts.program("shuffle_dump")

    def ask(*words):
        run = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True)
        return list(map(int, run.stdout.split()))

    return ask


@pytest.fixture
def rng():
    seed = int(os.environ.get("AUGUR_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"AUGUR_TEST_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def tf():
    """TensorFlow without a global seed, which other tests may have set."""
    tensorflow = pytest.importorskip("tensorflow")
    from tensorflow.python.eager import context

    context.context()._clear_caches()
    context.context()._seed = None
    yield tensorflow
    context.context()._seed = None


def size_of(rng, most=200000):
    return int(2 ** rng.uniform(0, numpy.log2(most)))


def interleaved(parts):
    """The first of each part, the second of each, ...; parts may be one shorter than others."""
    longest = max(map(len, parts))
    return [part[i] for i in range(longest) for part in parts if i < len(part)]


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


# TensorFlow


def test_tensorflow_makes_two_seeds_of_one(dump, tf, rng):
    from tensorflow.python.data.util import random_seed

    def pair(seed):
        return [int(tensor) for tensor in random_seed.get_seed(seed)]

    seeds = [0, 1, 42, 2**31 - 2, 2**31 - 1, 2**31, 2**40 + 3, -1, *(rng.randrange(2**63) for _ in range(20))]
    for seed in seeds:
        assert dump("tf-seed", 0, seed) == pair(seed), seed
    for seed in seeds:
        for op_seed in (0, 1, 2**31 - 1, rng.randrange(2**31)):
            tf.random.set_seed(seed)
            assert dump("tf-seed", 1, seed, op_seed) == pair(op_seed), (seed, op_seed)
        tf.random.set_seed(seed)
        for call in range(5):
            assert dump("tf-seed", 2, seed, call) == pair(None), (seed, call)


def epochs_of(dataset, count):
    """In batches, because TensorFlow hands over 30,000 single elements a second."""
    batches = dataset.batch(4096)
    return [[int(number) for batch in batches.as_numpy_iterator() for number in batch] for _ in range(count)]


def test_tf_data_shuffle(dump, tf, rng):
    for _ in range(40):
        samples, seed = size_of(rng, 20000), rng.randrange(2**31 - 1)
        buffer = rng.choice((1, 2, rng.randint(1, samples), samples, samples + 1, 3 * samples))
        pair = dump("tf-seed", 0, seed)
        about = (samples, buffer, seed)
        numbers = tf.data.Dataset.range(samples)
        for epoch, order in enumerate(epochs_of(numbers.shuffle(buffer, seed), 3)):
            assert dump("tf", samples, epoch, 0, *pair, buffer, RESHUFFLED) == order, about
        for epoch, order in enumerate(epochs_of(numbers.shuffle(buffer, seed, reshuffle_each_iteration=False), 2)):
            assert dump("tf", samples, epoch, 0, *pair, buffer, SAME) == order, about
        repeated = epochs_of(numbers.shuffle(buffer, seed).repeat(3), 1)[0]
        assert sum((dump("tf", samples, epoch, 0, *pair, buffer, RESHUFFLED) for epoch in range(3)), []) == repeated, about


def test_tf_data_shuffle_fused_with_repeat(dump, tf, rng):
    """The op that TensorFlow's optimizer may make of the two: today its epochs are those of the two ops."""
    from tensorflow.python.data.ops import dataset_ops
    from tensorflow.python.ops import gen_dataset_ops

    for _ in range(10):
        samples, seed, seed2 = size_of(rng, 2000), rng.randrange(1, 2**31), rng.randrange(2**31)
        buffer = rng.choice((rng.randint(1, samples), samples, 3 * samples))
        source = tf.data.Dataset.range(samples)
        for way, reshuffle in ((RESHUFFLED, True), (SAME, False)):
            variant = gen_dataset_ops.shuffle_and_repeat_dataset(
                source._variant_tensor, buffer, seed, seed2, 3, output_types=[tf.int64],
                output_shapes=[tf.TensorShape([])], reshuffle_each_iteration=reshuffle)
            order = epochs_of(dataset_ops._VariantDataset(variant, source.element_spec), 1)[0]
            ours = sum((dump("tf", samples, epoch, 0, seed, seed2, buffer, way) for epoch in range(3)), [])
            assert ours == order, (samples, buffer, seed, seed2, reshuffle)


def test_list_files(dump, tf, tmp_path):
    for number in range(300):
        (tmp_path / f"{number:05}.jpg").touch()

    def opened(dataset):
        return [int(path[-9:-4]) for path in dataset.as_numpy_iterator()]

    for seed in (0, 42):
        dataset = tf.data.Dataset.list_files(str(tmp_path / "*.jpg"), shuffle=True, seed=seed)
        for epoch in range(2):
            assert dump("tf", 300, epoch, 0, *dump("tf-seed", 0, seed), 0, RESHUFFLED) == opened(dataset)
    tf.random.set_seed(5)
    dataset = tf.data.Dataset.list_files(str(tmp_path / "*.jpg"))
    assert dump("tf", 300, 0, 0, *dump("tf-seed", 2, 5, 0), 0, RESHUFFLED) == opened(dataset)


# Keras


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """A folder of 701 images in 5 classes, and their paths in the order of Keras' list. Reading them is not needed here."""
    folder = tmp_path_factory.mktemp("images")
    for number in range(701):
        place = folder / f"class{number % 5}"
        place.mkdir(exist_ok=True)
        (place / f"{number:05}.png").touch()
    return folder, sorted(str(path) for path in folder.rglob("*.png"))


@pytest.mark.parametrize("global_seed", [None, 77])
@pytest.mark.parametrize("batch", [1, 32, None])
@pytest.mark.parametrize("part", ["all", "training", "validation"])
def test_keras_image_dataset(dump, tf, images, monkeypatch, rng, part, batch, global_seed):
    keras = pytest.importorskip("keras")
    from keras.src.utils import image_dataset_utils

    # The path instead of the image: which files are read when is all that is asked.
    monkeypatch.setattr(image_dataset_utils, "_load_image_tf", lambda path, *_: path)
    folder, paths = images
    number = {path: index for index, path in enumerate(paths)}
    if global_seed is not None:
        keras.utils.set_random_seed(global_seed)
    seed = rng.randrange(10**6)
    split = {} if part == "all" else {"validation_split": 0.231, "subset": part}
    dataset = keras.utils.image_dataset_from_directory(
        str(folder), labels=None, shuffle=True, seed=seed, batch_size=batch, verbose=False, **split)
    listed = [number[path] for path in dataset.file_paths]
    if batch:
        dataset = dataset.unbatch()
    words = [seed, batch or 0, 1, 231 if split else 0, {"all": ALL, "training": TRAINING, "validation": VALIDATION}[part]]
    words += [] if global_seed is None else [global_seed]
    for epoch in range(3):
        order = [number[path.decode()] for path in dataset.as_numpy_iterator()]
        assert dump("keras", len(paths), epoch, 0, *words) == order, (epoch, seed)
    # Before Keras 3.3 the list itself was the order.
    assert dump("keras", len(paths), 1, 0, *words[:2], 0, *words[3:5]) == listed


def test_keras_draws_its_own_seed(dump, rng):
    for _ in range(50):
        seed = rng.randrange(2**32)
        numpy.random.seed(seed)
        assert dump("keras-seed", seed) == [numpy.random.randint(1e6)]


def test_keras_flow_from_directory(dump, images):
    pytest.importorskip("keras")
    from keras.src.legacy.preprocessing.image import ImageDataGenerator

    folder, paths = images
    number = {path: index for index, path in enumerate(paths)}
    flow = ImageDataGenerator().flow_from_directory(str(folder), shuffle=True, seed=9)
    read = []
    flow._get_batches_of_transformed_samples = lambda places: read.extend(number[flow.filepaths[place]] for place in places)
    while len(read) < len(paths):
        next(flow)
    assert dump("list", len(paths), 0, 0, STATE, 9, ONCE) == read


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
        assert ours == interleaved([shard[epoch] for shard in shards])


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
        assert dump("webdataset", shards, 0, 0, seed, buffer, initial, 0, workers) == interleaved(parts), about
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
