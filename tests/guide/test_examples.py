# SPDX-License-Identifier: Apache-2.0
"""examples/: each script reads every image of a mount, as it stands there."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import mounts  # noqa: E402

EXAMPLES = ROOT / "examples"
IMAGES, CLASSES = 48, 3
LIMIT_S = 600  # against a hang: a busy machine takes minutes to import a framework
# Script: (module that it needs, words before it, epochs).
SCRIPTS = {
    "pytorch_imagefolder.py": ("torchvision", [], 1),
    "pytorch_ddp.py": ("torchvision", ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"], 2),
    "timm_loader.py": ("timm", [], 1),
    "lightning_module.py": ("lightning", [], 1),
    "keras_directory.py": ("keras", [], 1),
    "tfdata_files.py": ("tensorflow", [], 1),
    "jax_torch_loader.py": ("jax", [], 1),
    "dali_pipeline.py": ("nvidia.dali", [], 1),
    "huggingface_imagefolder.py": ("datasets", [], 1),
    "h5py_dataset.py": ("h5py", [], 1),
    "zarr_dataset.py": ("zarr", [], 1),
    "mosaicml_streaming.py": ("streaming", [], 1),
    "webdataset_pipeline.py": ("webdataset", [], 1),
    "timm_webdataset.py": ("timm", [], 1),
    "timm_tfds.py": ("tensorflow_datasets", [], 1),
    "tfdata_tfrecord.py": ("tensorflow", [], 1),
    "dali_tfrecord.py": ("nvidia.dali", [], 1),
}


@pytest.fixture(scope="module")
def mounted(tmp_path_factory):
    """A mount of photographs in three folders."""
    room = tmp_path_factory.mktemp("examples")
    mounts.run(sys.executable, ROOT / "bench" / "dataset.py", "--quiet", "--files", IMAGES, "--classes", CLASSES, room / "photos")
    mounts.create_store(room / "photos", room / "store")
    with mounts.augurfs(room / "store", room / "mount"):
        yield room / "mount"


@pytest.fixture
def environment(tmp_path):
    """As a user has it, with homes for what frameworks write; what was installed apart is behind the environment's own packages."""
    variables = {**os.environ, "HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf"), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    apart = [os.environ[name] for name in ("AUGUR_EXAMPLES", "AUGUR_FORMATS") if os.environ.get(name)]
    return {**variables, "PYTHONPATH": ":".join(apart)} if apart else variables


def reads_all(done, epochs=1):
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if re.match("(trained on|read) ", line)]
    assert re.fullmatch(rf"(trained on|read) {epochs * IMAGES} images of {CLASSES} classes", line), line


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script(name, mounted, environment):
    module, words, epochs = SCRIPTS[name]
    if subprocess.run([sys.executable, "-c", f"import {module}"], env=environment, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{module} is not installed")
    done = subprocess.run([sys.executable, *words, EXAMPLES / name, "--data", mounted], env=environment, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    reads_all(done, epochs)


def test_plain_c(mounted, tmp_path):
    mounts.run("cc", "-O2", "-Wall", "-Werror", EXAMPLES / "read_files.c", "-o", tmp_path / "read_files")
    reads_all(subprocess.run([tmp_path / "read_files", mounted], capture_output=True, text=True, timeout=LIMIT_S, check=False))


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.iterdir()} == {*SCRIPTS, "read_files.c", "README.md"}
