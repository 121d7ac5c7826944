# SPDX-License-Identifier: Apache-2.0
"""One tree, packed and mounted once for all frameworks; and the runs of each framework on the folder and on the mount."""

import concurrent.futures
import importlib.util
import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench")]
import mounts  # noqa: E402
from container_dump import ContainerDump  # noqa: E402
from frameworks import CLASSES, PHOTOS, run_script  # noqa: E402
from order_dump import OrderDump  # noqa: E402

# transformers and lightning import triton. Its LLVM aborts the process when TensorFlow's is there already; the other way
# round they bear each other.
try:
    import torch._dynamo  # noqa: E402, F401
except ImportError:
    pass


def make_arrays(folder):
    """Arrays of several shapes and layouts, over and under one block (1 MiB) of a store, and an HDF5 file where h5py is there."""
    import numpy

    rng = numpy.random.default_rng(1)
    folder.mkdir()
    numpy.save(folder / "small.npy", rng.integers(0, 255, (32, 32, 3), dtype=numpy.uint8))
    numpy.save(folder / "large.npy", rng.standard_normal((300, 64, 64)).astype(numpy.float32))  # 4.7 MiB
    numpy.save(folder / "fortran_order.npy", numpy.asfortranarray(rng.integers(0, 9, (70, 90), dtype=numpy.int16)))
    numpy.save(folder / "empty.npy", numpy.zeros((0, 3)))
    numpy.save(folder / "structured.npy", numpy.array([(1, 2.5), (3, 4.5)], dtype=[("index", "<i4"), ("weight", "<f8")]))
    if importlib.util.find_spec("h5py"):
        import h5py

        with h5py.File(folder / "data.h5", "w") as file:
            file["contiguous"] = rng.integers(0, 255, (100, 64, 64), dtype=numpy.uint8)
            file.create_dataset("chunked", data=rng.standard_normal((400, 50)), chunks=(16, 50))
            file.create_dataset("group/compressed", data=rng.integers(0, 5, (200, 300)), chunks=True, compression="gzip")


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """train: photographs in ImageNet's layout; odd: what real collections hold beside them; arrays: .npy and .h5."""
    folder = tmp_path_factory.mktemp("tree")
    maker = [sys.executable, ROOT / "bench" / "dataset.py", "--quiet", "--seed", "1"]
    mounts.run(*maker, "--files", PHOTOS, "--classes", CLASSES, folder / "train")
    mounts.run(*maker, "--files", 0, "--odd", folder)
    make_arrays(folder / "arrays")
    return folder


@pytest.fixture(scope="session")
def mounted(tree, tmp_path_factory):
    """The same tree, packed and mounted."""
    where = tmp_path_factory.mktemp("mounted")
    mounts.create_store(tree, where / "store")
    with mounts.augurfs(where / "store", where / "mount"):
        yield where / "mount"


@pytest.fixture(scope="session")
def runs(tree, mounted, tmp_path_factory):
    """runs(framework): ({run: samples} on the folder, the same on the mount). Each script runs once in a process of its own."""
    results = tmp_path_factory.mktemp("results")
    known = {}

    def run(framework):
        if framework not in known:
            def on(place):
                name, folder = place
                result = results / f"{framework}-{name}.json"
                done = run_script(f"run_{framework}.py", folder, result)
                if done.returncode != 0:
                    return f"{framework} on the {name}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
                return json.loads(result.read_text(encoding="ascii"))

            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                known[framework] = list(pool.map(on, (("folder", tree), ("mount", mounted))))
        for one in known[framework]:
            assert isinstance(one, dict), one
        return known[framework]

    return run


@pytest.fixture(scope="session")
def order():
    """order(samples, epoch, sampler, *words, count=0): what our sampler takes; see order_dump.py."""
    dump = OrderDump(str(mounts.program("order_dump")))
    yield dump
    dump.close()


@pytest.fixture(scope="session")
def container_dump(tmp_path_factory):
    """What views make of images; see container_dump.py."""
    program = mounts.build_dir() / "tests" / "container_dump"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    dump = ContainerDump(str(program), tmp_path_factory.mktemp("container_dump"))
    yield dump
    dump.close()
