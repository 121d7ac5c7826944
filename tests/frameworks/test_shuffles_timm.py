# SPDX-License-Identifier: Apache-2.0
"""Our samplers take the same indices as timm's loader of training and its own samplers, for random sizes and epochs.

Each test asks timm in this process and order_dump beside it. The numbers come from a seed that is printed by a failure
(AUGUR_TEST_SEED repeats it). Without timm the tests are skipped.
"""

import pytest
from shuffle_support import epochs, interleaved, rng  # noqa: F401

torch = pytest.importorskip("torch")


class Numbered(torch.utils.data.Dataset):
    """Samples that are their own indices. timm's create_loader gives it a transform, which it does not use."""

    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        return index


def timm_loader(samples, **options):
    """The loader of training, as train.py makes it. It drops a last batch that is not full, so batches have one sample."""
    create_loader = pytest.importorskip("timm.data").create_loader
    return create_loader(Numbered(samples), input_size=8, batch_size=1, is_training=True, use_prefetcher=False, **options)


def test_timm_loader_on_several_devices(order, rng, monkeypatch):
    for _ in range(10):
        samples, world_size = rng.randint(1, 300), rng.choice((2, 3, 4, 8))
        monkeypatch.setattr(torch.distributed, "get_world_size", lambda: world_size)
        loaders = []
        for rank in range(world_size):
            monkeypatch.setattr(torch.distributed, "get_rank", lambda: rank)
            loaders.append(timm_loader(samples, num_workers=0, distributed=True))
        for epoch in (0, 1, rng.randrange(300)):
            for loader in loaders:
                loader.sampler.set_epoch(epoch)
            ranks = [epochs(loader, 1)[0] for loader in loaders]
            assert order(samples, epoch, "timm", "--world-size", world_size) == interleaved(ranks), (samples, world_size, epoch)


@pytest.mark.parametrize(("workers", "words"), [(0, []), (2, ["--stride", 2])])
def test_timm_loader_on_one_device(order, workers, words):
    """Its workers are persistent ones."""
    torch.manual_seed(42)
    for epoch, indices in enumerate(epochs(timm_loader(301, num_workers=workers), 3)):
        assert order(301, epoch, "timm", "--seed", 42, *words) == indices, epoch


def test_timm_samplers(order, rng):
    module = pytest.importorskip("timm.data.distributed_sampler")
    for _ in range(50):
        samples, world_size, epoch = int(2 ** rng.uniform(0, 13)), rng.choice((1, 2, 3, 4, 8)), rng.randrange(300)
        repeated = []
        for rank in range(world_size):
            sampler = module.RepeatAugSampler(range(samples), world_size, rank)
            sampler.set_epoch(epoch)
            repeated.append(list(sampler))
        assert order(samples, epoch, "timm-repeat", "--world-size", world_size) == interleaved(repeated), (samples, world_size)
        ordered = [list(module.OrderedDistributedSampler(range(samples), world_size, rank)) for rank in range(world_size)]
        assert order(samples, 0, "sequential", "--world-size", world_size) == interleaved(ordered), (samples, world_size)


def test_timm_repeats_as_guessed_without_the_ranks(order, rng):
    """Unasked, the ranks are not known: all of theirs together is the beginning of what is predicted, and all but a few of it."""
    module = pytest.importorskip("timm.data.distributed_sampler")
    for samples in (200, 256, 1000, rng.randrange(257, 20000)):
        predicted = order(samples, 5, "timm-repeat")
        for world_size in (1, 2, 3, 8):
            ranks = [module.RepeatAugSampler(range(samples), world_size, rank) for rank in range(world_size)]
            for sampler in ranks:
                sampler.set_epoch(5)
            read = interleaved([list(sampler) for sampler in ranks])
            common = min(len(read), len(predicted))
            assert read[:common] == predicted[:common], (samples, world_size)
            assert abs(len(read) - len(predicted)) < world_size, (samples, world_size)
