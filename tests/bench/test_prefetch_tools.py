# SPDX-License-Identifier: Apache-2.0
"""The parts of bench/prefetch.py, and what needs no order, on little data. No figure is checked."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))
import cgroup  # noqa: E402
import given_orders  # noqa: E402
import mounts  # noqa: E402

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: loop mounts and dropping caches")
grouped = pytest.mark.skipif(bool(cgroup.missing()), reason="needs control groups that can be made")


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    assert done.returncode == 0, f"{words[0]}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def tree(tmp_path):
    for number in range(20):
        path = tmp_path / "tree" / f"class{number % 3}" / f"{number:02}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number]) * (1000 + number))
    return tmp_path / "tree"


def files_of(tree):
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*.bin"))


def test_orders_are_shuffles_of_the_files_and_differ(tree, tmp_path):
    paths = files_of(tree)
    orders = [given_orders.listed(file) for file in given_orders.write_shuffled(tmp_path, paths, 3, 7)]
    assert all(sorted(order) == paths for order in orders)
    assert len({tuple(order) for order in [*orders, paths]}) == 4
    assert given_orders.size_of(tree, paths) == sum(1000 + number for number in range(20))


def test_permutations_are_those_of_torch():
    # torch.randperm(10, generator=torch.Generator().manual_seed(seed))
    assert given_orders.torch_permutation(10, 0) == [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]
    assert given_orders.torch_permutation(10, 42) == [2, 6, 1, 8, 4, 5, 0, 9, 3, 7]


def test_readfiles_reads_epochs_one_by_one(tree, tmp_path):
    paths = files_of(tree)
    epochs = [given_orders.write_order(tmp_path / "one", paths), given_orders.write_order(tmp_path / "two", paths[:5][::-1])]
    result = json.loads(call(mounts.program("readfiles"), "--root", tree, "--epoch", epochs[0], "--epoch", epochs[1], "--threads", 2))
    assert [epoch["files"] for epoch in result["epochs"]] == [20, 5]
    assert [epoch["bytes"] for epoch in result["epochs"]] == [given_orders.size_of(tree, paths), given_orders.size_of(tree, paths[:5])]
    assert (result["files"], result["failures"]) == (25, 0)


def test_readfiles_is_no_faster_than_its_pace(tree):
    result = json.loads(call(mounts.program("readfiles"), "--root", tree, "--threads", 3, "--pace", 0.2))
    # The last three files may be begun when the bytes of the others are allowed.
    assert result["seconds"] >= (result["bytes"] - 3 * 1100) / 200_000


@grouped
def test_a_group_holds_what_is_started_in_it_and_goes_away():
    with cgroup.group(memory_bytes=64 << 20) as group:
        inside = call(*group.prefix, "cat", "/proc/self/cgroup")
        assert all(folder.name in inside for folder in group.folders)
        # A shell's variable of 200 MB does not fit.
        greedy = subprocess.run([*group.prefix, sys.executable, "-c", "bytearray(200 << 20)"], capture_output=True, check=False)
        assert greedy.returncode != 0
        folders = group.folders
    assert folders and not any(folder.exists() for folder in folders)


@root_only
def test_listing(tree, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    tables = json.loads(call(sys.executable, BENCH / "prefetch.py", "listing", "--tree", tree, "--threads", "1,3", "--rounds", 2, "--json",
                             "--no-touch", "--work", work))["tables"]
    assert [set(table["rounds"]) for table in tables] == [{"folder", "augurfs"}] * 2
    assert all(len(values) == 2 and min(values) > 0 for table in tables for values in table["rounds"].values())
    assert not list(work.iterdir()), "the working folder was left"


@root_only
@pytest.mark.parametrize("what", ["cold", "paced", "unknown", "cpu", pytest.param("throttle", marks=grouped)])
def test_each_measurement_runs(tmp_path, what):
    """A fourth of the data must hold the smallest retained cache (4 MiB), and a window some files."""
    names = [f"class{number % 5}/{number:03}.bin" for number in range(240)]
    for number, name in enumerate(names):
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number]) * (90_000 + 100 * number))
    work = tmp_path / "work"
    work.mkdir()
    tables = json.loads(call(sys.executable, BENCH / "prefetch.py", what, "--tree", tmp_path / "tree", "--threads", "1", "--rounds", 1,
                             "--disk-seconds", 0.2, "--throttles", "2000x200", "--throttle-files", 120, "--json", "--no-touch",
                             "--work", work))["tables"]
    assert any(name.startswith(("augurfs", "push=on, daemon")) for table in tables for name in table["rounds"]), tables
    for table in tables:
        # A helper that was never asked has used no processor.
        assert all(len(values) == 1 and (values[0] > 0 or "helper" in name) for name, values in table["rounds"].items()), table
    assert not list(work.iterdir()), "the working folder was left"


@root_only
@grouped
def test_a_script_on_a_slow_disk(tmp_path):
    """Its path may be long: the sockets of worker processes are not below it. That the hint is followed prefetch.py sees to itself."""
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    if cgroup.missing_for_disk(tmp_path):
        pytest.skip(cgroup.missing_for_disk(tmp_path))
    for number in range(240):
        path = tmp_path / "tree" / f"class{number % 3}" / f"{number:03}.jpg"  # is not decoded
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number]) * (9_000 + 10 * number))
    work = tmp_path / "work"
    work.mkdir()
    tables = json.loads(call(sys.executable, BENCH / "prefetch.py", "unseeded", "--tree", tmp_path / "tree", "--rounds", 1,
                             "--throttles", "2000x200", "--only", "augurfs", "--json", "--no-touch", "--work", work))["tables"]
    assert len(tables) == 3
    for table in tables:
        assert set(table["rounds"]) == {"folder", "augurfs", "augurfs, hinted"}
        assert all(len(values) == 1 and values[0] > 0 for values in table["rounds"].values()), table
    assert not list(work.iterdir()), "the working folder was left"


def test_a_loaders_order_is_known_before_it_reads(tmp_path):
    torch = pytest.importorskip("torch", reason="framework not installed: torch")
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    paths = [f"class{number % 3}/{number:02}.npy" for number in range(40)]  # nothing is read
    listing = given_orders.write_order(tmp_path / "listing", paths)
    call(sys.executable, BENCH / "loader_epoch.py", "--root", tmp_path, "--listing", listing, "--kind", "npy", "--seed", 11,
         "--write-order", tmp_path / "order")
    shuffled = torch.randperm(40, generator=torch.Generator().manual_seed(11)).tolist()
    assert given_orders.listed(tmp_path / "order") == [paths[index] for index in shuffled]
