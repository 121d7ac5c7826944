# SPDX-License-Identifier: Apache-2.0
"""The views h5 and h5+encoded under another h5py than that of the other tests, in four workers. VIEWS.md, Archives. AUGUR_OLD_H5PY names
a Python that has it; h5py 3.1, the oldest that may share a file between workers, has wheels for Python 3.6 to 3.9:
    python3.9 -m venv OLD && OLD/bin/pip install h5py==3.1.0 numpy==1.19.5
    AUGUR_OLD_H5PY=OLD/bin/python pytest tests/mount/test_old_h5py.py"""

import os
import pathlib
import pickle
import subprocess

import pytest
from patience import PATIENCE_S
from skips import needs_root

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

from archive_fixtures import archive_store, archive_tree, ask, mounted, readers, view  # noqa: E402, F401
from test_stacked_arrays import LARGE, SIZE, pixels  # noqa: E402

OLD = os.environ.get("AUGUR_OLD_H5PY")
pytestmark = [needs_root, pytest.mark.skipif(not OLD, reason="AUGUR_OLD_H5PY is not set: a Python with another h5py")]

SCRIPT = pathlib.Path(__file__).with_name("h5_workers.py")
ROUNDS = 3  # of the script


@pytest.fixture(scope="module")
def samples(readers, archive_tree):  # noqa: F811
    """(path, label) in the order of torchvision."""
    return ask(readers, "image_folder", str(archive_tree / "train"))[0]


@pytest.fixture(scope="module")
def version():
    done = subprocess.run([OLD, "-c", "import h5py; print(h5py.version.version)"], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return tuple(int(part) for part in done.stdout.split(".")[:2])


def all_of(found, name):
    """What each round read of a dataset, in the order of the samples; the rounds are the same."""
    count = len(found[name]) // ROUNDS
    assert set(found[name]) == {(turn, i) for turn in range(ROUNDS) for i in range(count)}
    for turn in range(1, ROUNDS):
        assert all(found[name][turn, i] == found[name][0, i] for i in range(count))
    return [numpy.frombuffer(data, kind).reshape(shape) for kind, shape, data in (found[name][0, i] for i in range(count))]


@pytest.mark.parametrize("when,method", [("early", "fork"), ("late", "fork"), ("late", "spawn")])
@pytest.mark.parametrize("words", [SIZE, LARGE, "encoded", f"encoded+{SIZE}"])
def test_samples(mounted, samples, version, words, when, method):  # noqa: F811
    """All images, files and labels."""
    if when == "early" and version < (3, 1):
        pytest.skip("its HDF5 reads at a position that forked workers share")
    path = view(mounted, f"h5+{words}") / "train.h5"
    done = subprocess.run([OLD, SCRIPT, path, when, method, "4"], capture_output=True, timeout=4 * PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr.decode()
    versions, found = pickle.loads(done.stdout)
    print(versions)
    assert [int(one) for one in all_of(found, "labels")] == [label for _, label in samples]
    assert ("images" in found, "encoded" in found) == ("size" in words, "encoded" in words)
    if "images" in found:
        width, height = (260, 200) if LARGE in words else (40, 30)
        images = all_of(found, "images")
        assert len(images) == len(samples)
        assert all(numpy.array_equal(image, pixels(name, width, height)) for image, (name, _) in zip(images, samples))
    if "encoded" in found:
        assert [one.tobytes() for one in all_of(found, "encoded")] == [pathlib.Path(name).read_bytes() for name, _ in samples]
