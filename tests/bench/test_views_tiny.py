# SPDX-License-Identifier: Apache-2.0
"""bench/views.py runs, on little data, and stops at a sample that differs. No figure is checked but memory that must be kept within."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from photographs import make_photographs

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))
import cgroup  # noqa: E402
import views_check  # noqa: E402

EPOCHS = 2  # of --tiny: the first is cold

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounts and control groups")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    pytest.importorskip("PIL")
    return make_photographs(tmp_path_factory.mktemp("views") / "tree", 40)


@pytest.fixture
def bench(tree, tmp_path):
    """Runs a scenario; returns its tables by title, after a look at what it has left."""

    def run(what, *words):
        work = tmp_path / "work"
        work.mkdir()
        command = [sys.executable, BENCH / "views.py", what, "--tiny", "--json", "--tree", tree, "--memory", "512M", "--work", work, *words]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not list(work.iterdir()), "the working folder was left"
        assert str(work) not in pathlib.Path("/proc/self/mountinfo").read_text()
        tables = {table["title"]: table for table in json.loads(done.stdout)["tables"]}
        for table in tables.values():
            assert all(len(values) == 1 for values in table["rounds"].values()), table
            if table["base"]:
                assert all(values[0] > 0 for values in table["rounds"].values()) and table["ratio"][table["base"]] == 1, table
        return tables, done.stderr

    return run


def assert_epochs(tables, title, names, views):
    """The four tables of rows that run epochs; each daemon has decoded every image of its view, once as long as the kernel keeps what was
    read. One that gives idle page cache back to its host (DAMON) takes new pages that lie among idle ones within seconds."""
    assert set(tables[f"{title}: first epoch, cold"]["rounds"]) == {"folder", *names}
    assert set(tables[f"{title}: first epoch, cold, beside the hot folder"]["rounds"]) == {"folder", "folder, hot", *names}
    assert set(tables[f"{title}: later epochs, hot"]["rounds"]) == {"folder", *names}
    did = tables[f"{title}: what the daemon did, all epochs together"]["rounds"]
    assert {name.rpartition(":")[0] for name in did if name.endswith("images decoded")} == set(views)
    assert all(1 <= did[f"{view}: images decoded"][0] <= EPOCHS for view in views), did


@root_only
def test_epoch(bench):
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    tables, said = bench("epoch", "--only", "png,png files")
    assert "equal to the folder's: 40 samples of pixels\n" in said
    assert_epochs(tables, "epoch, 1 worker", ["png", "png files"], ["png"])


@root_only
@pytest.mark.parametrize("name, module", [("DALI", "nvidia.dali"), ("WebDataset", "webdataset")])
def test_epoch_of_other_libraries(bench, name, module):
    for needed in ("torchvision", module):
        pytest.importorskip(needed, reason=f"framework not installed: {needed}")
    tables, _ = bench("epoch", "--only", name)
    assert set(tables["epoch, 1 worker: later epochs, hot"]["rounds"]) == {"folder", name}
    assert not any("daemon did" in title for title in tables)


@root_only
@pytest.mark.parametrize("what, title, view", [("npy", "npy, augmented", "npy"), ("ready", "npy, ready tensors", "npy ready")])
def test_arrays(bench, what, title, view):
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    tables, said = bench(what, "--only", view)
    assert_epochs(tables, f"{title}, 1 worker", [view], [view])
    assert said.count("equal to the folder's: 40 samples of npy") == 1


@root_only
@pytest.mark.skipif(bool(cgroup.missing()), reason="needs control groups that can be made")
def test_decoded(bench):
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    tables, _ = bench("decoded", "--only", "png decoded-cache")
    for epoch in (1, 2):
        (table,) = [table for title, table in tables.items() if title.endswith(f"epoch {epoch}")]
        assert set(table["rounds"]) == {"folder", "png decoded-cache", "png decoded-cache later"}
    (did,) = [table["rounds"] for title, table in tables.items() if "daemon did" in title]
    assert did["png decoded-cache: images decoded"] == [1]
    assert "png decoded-cache later: images decoded" not in did, "the disk had all of it"


@root_only
def test_tensorflow(bench):
    pytest.importorskip("tensorflow", reason="framework not installed: tensorflow")
    tables, _ = bench("tensorflow", "--only", "png")
    for name in ("Keras directory", "tf.data"):
        assert_epochs(tables, f"{name}, 1 thread", ["png"], ["png"])


@root_only
def test_native(bench):
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    tables, said = bench("native")
    for spec in ("npy", "npy+size=256+crop=224"):
        assert f"equal to the folder's: 40 samples of {spec}\n" in said
        for what in ("np.load", "readfiles"):
            assert set(tables[f"native, {spec}, hot: {what}"]["rounds"]) == {"native files", "view"}


@root_only
def test_memory(bench):
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    tables, said = bench("memory")
    assert said.count("memory=1G, the view alone") == 3
    *peaks, came, flight = tables.values()
    assert len(peaks) == 3
    for peak in peaks:
        (budget,) = peak["rounds"].pop("the budget")
        assert len(peak["rounds"]) == 6 and all(0 < most <= budget for (most,) in peak["rounds"].values()), peak
    assert len(came["rounds"]) == 9
    assert all(part == [100] for name, part in came["rounds"].items() if "the view alone" in name), came
    assert set(flight["rounds"]) == {"npy", "pixels", "npy+size=256", "pixels of one image"}


@root_only
def test_interrupted_it_leaves_nothing(tree, tmp_path):
    bench = subprocess.Popen([sys.executable, BENCH / "views.py", "native", "--tiny", "--tree", tree, "--work", tmp_path, "--no-check",
                              "--epochs", "1000000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text():
            assert bench.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        bench.send_signal(signal.SIGINT)
        assert bench.wait(timeout=60) != 0
    finally:
        bench.kill()
        bench.wait()
    assert not list(tmp_path.iterdir())
    assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text()


def test_a_sample_that_differs_ends_the_run():
    views_check.Check.same("npy", {"a": "1", "b": "2"}, {"b": "2", "a": "1"})
    with pytest.raises(RuntimeError, match="1 of 2 samples differ from the folder's, e.g. \\['b'\\]"):
        views_check.Check.same("npy", {"a": "1", "b": "2"}, {"a": "1", "b": "3"})
    with pytest.raises(RuntimeError, match="other files"):
        views_check.Check.same("npy", {"a": "1", "b": "2"}, {"a": "1"})
