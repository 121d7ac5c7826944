# SPDX-License-Identifier: Apache-2.0
"""What packaging/quickstart.sh says of the rates that it has measured."""

import pathlib
import re
import subprocess

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "quickstart.sh"


def verdict(ratio):
    """By the script's own function, without the rest of it."""
    function = re.search(r"^verdict\(\) \{\n.*?^\}\n", SCRIPT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[0]
    words = ["bash", "-euc", function + 'verdict "$1"', "bash", ratio]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("ratio", ["0.970", "1.000", "1.213"])
def test_as_fast_as_the_folder(ratio):
    assert "packing costs nothing here" in verdict(ratio)


@pytest.mark.parametrize("ratio, percent", [("0.969", 3), ("0.96", 4), ("0.871", 13), ("0.5", 50)])
def test_what_is_slower_costs_something(ratio, percent):
    text = verdict(ratio)
    assert "nothing" not in text and f"took {percent} % of the speed" in text


@pytest.mark.parametrize("ratio", ["", "nan", "folder"])
def test_no_rate_is_no_verdict(ratio):
    assert "could not be compared" in verdict(ratio)


def test_nothing_else_in_the_script_promises_it():
    text = SCRIPT.read_text(encoding="utf-8")
    assert text.count("costs nothing") == 1
    assert '$(verdict "$ratio")' in text
