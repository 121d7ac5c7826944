# SPDX-License-Identifier: Apache-2.0
"""bench/formats.py runs, on little data, and stops at a sample that differs. No figure is checked."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from photographs import make_photographs

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import formats_rows  # noqa: E402

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounts")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    for needed in ("PIL", "torchvision", "h5py"):
        pytest.importorskip(needed, reason=f"not installed: {needed}")
    return make_photographs(tmp_path_factory.mktemp("formats") / "tree", 40)


def run(tree, work, *words):
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.environ.get("AUGUR_FORMATS", "")}
    command = [sys.executable, BENCH / "formats.py", *words, "--tiny", "--json", "--tree", tree, "--work", work]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(work.iterdir()), "the working folder was left"
    assert str(work) not in pathlib.Path("/proc/self/mountinfo").read_text()
    return {table["title"]: table for table in json.loads(done.stdout)["tables"]}, done.stderr


def test_storages(tree, tmp_path):
    tables, said = run(tree, tmp_path / "work", "h5")
    assert "equal: 40 samples of h5: files, view, packed\n" in said
    for part in ("first epoch, cold", "later epochs, hot"):
        assert set(tables[f"h5, 0 workers: {part}"]["rounds"]) == {"files", "view", "packed"}


def test_adopted(tree, tmp_path):
    tables, _ = run(tree, tmp_path / "work", "adopted")
    assert len(tables) == 3 and all(set(table["rounds"]) == {"file", "mount", "packed", "folder"} for table in tables.values())


def test_peers(tree, tmp_path):
    pytest.importorskip("webdataset", reason="framework not installed: webdataset")
    tables, said = run(tree, tmp_path / "work", "webdataset", "ffcv")
    assert set(tables["WebDataset, tar, 0 workers: later epochs, hot"]["rounds"]) == {"files", "view"}
    assert "left out: FFCV JPEG: " in said


def test_each_name_is_one_of_its_script():
    done = subprocess.run([sys.executable, BENCH / "formats.py", "--help"], capture_output=True, text=True, check=True, timeout=60)
    for name in (*formats_rows.STORAGES, *formats_rows.PEERS):
        assert name in done.stdout
        script = "stored_arrays.py" if name in formats_rows.STORAGES else "stored_files.py"
        assert f'"{name}"' in (BENCH / "views_scripts" / script).read_text(encoding="utf-8")
