# SPDX-License-Identifier: Apache-2.0
"""Our samplers take the same indices as TensorFlow and Keras, for random sizes and seeds.

Each test asks the real library in this process and shuffle_dump beside it. The numbers come from a seed that is printed by a
failure (AUGUR_TEST_SEED repeats it). A library that is not installed is skipped by name.
"""

import numpy
import pytest
from shuffle_support import dump, rng, size_of  # noqa: F401

STATE = 0  # ListShuffler
ONCE = 0  # ListEpochs
RESHUFFLED, SAME = 0, 1  # TfEpochs
ALL, TRAINING, VALIDATION = 0, 1, 2  # KerasImageSampler::Part


# TensorFlow


@pytest.fixture
def tf():
    """TensorFlow without a global seed, which other tests may have set."""
    tensorflow = pytest.importorskip("tensorflow")
    from tensorflow.python.eager import context

    context.context()._clear_caches()
    context.context()._seed = None
    yield tensorflow
    context.context()._seed = None


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
