# SPDX-License-Identifier: Apache-2.0
"""The sizes of views are those of torchvision's Resize and CenterCrop, for thousands of sizes.

Random numbers come from a seed that is printed by a failure (AUGUR_TEST_SEED repeats it).
"""

import os
import random

import pytest

numpy = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
from PIL import Image  # noqa: E402
from torchvision.transforms import CenterCrop, InterpolationMode, Resize  # noqa: E402
from torchvision.transforms import functional  # noqa: E402


@pytest.fixture
def rng():
    seed = int(os.environ.get("AUGUR_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"AUGUR_TEST_SEED={seed}")
    return random.Random(seed)


def test_resize_by_its_arithmetic(container_dump, rng):
    for _ in range(5000):
        width, height = (int(2 ** rng.uniform(0, 16)) for _ in range(2))
        size = int(2 ** rng.uniform(0, 13))
        wanted = functional._compute_resized_output_size((height, width), [size])[::-1]
        assert list(container_dump.geometry(f"npy+size={size}", width, height)[0]) == wanted, (size, width, height)


def test_resize_of_whole_numbers_and_their_neighbours(container_dump):
    """Where size * long / short is a whole number, or just below one."""
    for short in range(1, 120):
        for size in (1, 7, 64, 224, 256):
            for long in {short, short + 1, 2 * short - 1, 2 * short, 3 * short + 1}:
                if long < short:
                    continue
                for width, height in ((short, long), (long, short)):
                    wanted = functional._compute_resized_output_size((height, width), [size])[::-1]
                    assert list(container_dump.geometry(f"npy+size={size}", width, height)[0]) == wanted, (size, width, height)


def test_resize_of_images(container_dump, rng):
    for _ in range(1000):
        width, height, size = (rng.randint(1, 90) for _ in range(3))
        image = Image.new("L", (width, height))
        assert container_dump.geometry(f"npy+size={size}", width, height)[0] == Resize(size, InterpolationMode.NEAREST)(image).size
        box = rng.randint(1, 90)
        squashed = Resize((box, size), InterpolationMode.NEAREST)(image).size
        assert container_dump.geometry(f"npy+size={size}x{box}", width, height)[0] == squashed


def test_long_is_the_longer_side(container_dump, rng):
    for _ in range(2000):
        width, height, size = (int(2 ** rng.uniform(0, 14)) for _ in range(3))
        resized = container_dump.geometry(f"npy+size={size}+fit=long", width, height)[0]
        short = max(1, int(size * min(width, height) / max(width, height)))
        assert resized == ((size, short) if width >= height else (short, size)), (size, width, height)


def cropped(width, height, crop, left, top):
    """The numbers of the pixels of a crop, 0 where there are none."""
    numbers = numpy.arange(1, width * height + 1).reshape(height, width)
    out = numpy.zeros((crop, crop), numbers.dtype)
    part = numbers[max(top, 0):max(top, 0) + crop, max(left, 0):max(left, 0) + crop]
    out[max(-top, 0):max(-top, 0) + part.shape[0], max(-left, 0):max(-left, 0) + part.shape[1]] = part
    return out


def test_center_crop(container_dump, rng):
    for _ in range(4000):
        width, height, crop = (rng.randint(1, 60) for _ in range(3))
        numbers = torch.arange(1, width * height + 1).reshape(1, height, width)
        wanted = CenterCrop(crop)(numbers)[0].numpy()
        _, size, (left, top) = container_dump.geometry(f"npy+crop={crop}", width, height)
        assert size == (crop, crop)
        assert (cropped(width, height, crop, left, top) == wanted).all(), (width, height, crop)


def test_center_crop_of_pixels(container_dump, rng, tmp_path):
    for number in range(200):
        width, height, crop = (rng.randint(1, 60) for _ in range(3))
        pixels = numpy.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=numpy.uint8)
        container_dump.render(f"npy+crop={crop}", pixels, tmp_path / "x.npy")
        wanted = numpy.array(CenterCrop(crop)(Image.fromarray(pixels)))
        assert (numpy.load(tmp_path / "x.npy") == wanted).all(), (width, height, crop)
