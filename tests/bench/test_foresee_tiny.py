# SPDX-License-Identifier: Apache-2.0
"""bench/foresee.py runs, on little data. That the order was found is not checked here, but that what was read was counted."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import foresee  # noqa: E402
import foresee_rows  # noqa: E402

FILES, EPOCHS = 300, 2


def call(*words, program="foresee.py"):
    done = subprocess.run([sys.executable, BENCH / program, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_each_row_has_a_name_and_a_script():
    names = [row.name for row in foresee_rows.ROWS]
    assert len(set(names)) == len(names)
    assert len(call("--list").splitlines()) == len(names)
    for row in foresee_rows.ROWS:
        assert row.jobs and all((BENCH / "foresee_scripts" / words[0]).is_file() for words in row.jobs)


def test_what_was_opened_while_the_order_was_known_was_foreseen():
    moments = [float(number) for number in range(10)]
    known, unknown = ["... 100.0 % of the reads so far as predicted"], []
    looks = [(0.5, unknown, [], 0), (3.5, known, known, 0), (7.5, unknown, [], 0)]
    assert foresee.known_part(looks, 1, moments) == 0.4
    assert foresee.known_part(looks, 2, moments) == 0.2
    # Given up at once: it was wrong until then.
    assert foresee.known_part([*looks[:2], (5.5, known, known, 1)], 1, moments) == 0.4
    assert foresee.known_part([], 1, moments) == 0


def test_rates_while_an_order_was_known_and_while_it_was_not():
    moments = [0.0, 1.0, 2.0, 3.0, 3.5, 4.0, 4.5, 5.0]
    unknown, known, end = (-1.0, [], [], 0), (3.0, ["as predicted"], [], 0), (6.0, [], [], 0)
    assert foresee.rates([unknown, known, end], moments) == [1, 2]
    assert foresee.rates([unknown, end], moments) == [7 / 5, None]
    assert foresee.rates([known, end], moments) == [None, 2]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: dropping caches")
def test_a_row_is_measured_and_its_entry_replaced(tmp_path):
    pytest.importorskip("torchvision")
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"seed-0": {"failed": "before"}, "timm": {"failed": "kept"}}))
    table = call("--rows", "seed-0", "--files", FILES, "--epochs", EPOCHS, "--rate", 0, "--work", tmp_path, "--results", results)
    figures = json.loads(results.read_text())
    assert figures["seed-0"]["opened"] == EPOCHS * FILES and len(figures["seed-0"]["foreseen"]) == EPOCHS
    assert figures["timm"] == {"failed": "kept"}
    assert "manual_seed(0), 0 workers" in table and "failed: kept" in table


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: dropping caches")
@pytest.mark.parametrize("kind", ["pt", "h5"])
def test_a_row_of_a_view(tmp_path, kind):
    pytest.importorskip("h5py" if kind == "h5" else "torchvision")
    results = tmp_path / "results.json"
    call("--rows", kind, "--files", FILES, "--epochs", EPOCHS, "--rate", 0, "--gentle", "--work", tmp_path, "--results", results)
    figures = json.loads(results.read_text())[kind]
    assert figures["opened"] == EPOCHS * FILES and len(figures["foreseen"]) == EPOCHS
    assert figures["file_bytes"] == pytest.approx(224 * 224 * 3, rel=0.01)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounting")
def test_the_cost_on_hot_data_is_measured_for_each_epoch(tmp_path):
    pytest.importorskip("torchvision")
    table = call("--files", FILES, "--epochs", EPOCHS, "--rounds", 1, "--no-touch", "--work", tmp_path, program="foresee_hot.py")
    for epoch in range(1, EPOCHS + 1):
        assert f"hot data, epoch {epoch} (" in table
    assert "processor time of daemon and helper" in table
