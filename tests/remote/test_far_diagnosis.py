# SPDX-License-Identifier: Apache-2.0
"""`augurctl doctor` of a mount whose store is on a server: each cause is made, and must be found."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time

import faults
import mounts
import pytest

READER = pathlib.Path(__file__).parents[1] / "tools" / "endless_reader.py"
PATIENCE_S = 60


@contextlib.contextmanager
def reader(point):
    process = subprocess.Popen([sys.executable, READER, point], stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def mounted(remote_store, aws_environment, proxy, point):
    with mounts.augurfs(remote_store.url, point, f"endpoint-url={proxy.endpoint}", "predict=off", "cache=none"):
        yield point


def found_in_time(point, name):
    """The finding of that name, as soon as the doctor has it; the test fails when it does not come."""
    end_s = time.monotonic() + PATIENCE_S
    while True:
        done = subprocess.run([mounts.program("augurctl"), "doctor", point, "--json", "--seconds", "2"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        assert done.stderr == "", done
        findings = {one["name"]: one for one in json.loads(done.stdout)["findings"]}
        if name in findings:
            assert findings[name]["weight"] == "problem" and done.returncode == 1
            return findings[name]
        if time.monotonic() > end_s:
            pytest.fail(f"not found: {name}, but {findings}")


def test_a_server_far_away(mounted, proxy):
    proxy.faults.add(faults.SlowFirstByte(seconds=0.05))
    with reader(mounted):
        found = found_in_time(mounted, "link-latency")
    assert "disk-cache=DIR" in found["cure"], found


def test_a_server_that_asks_to_slow_down(mounted, proxy):
    proxy.faults.add(faults.slow_down(share=0.5))
    with reader(mounted):
        assert "to slow down" in found_in_time(mounted, "link-slow-down")["text"]


def test_a_server_that_is_gone(mounted, proxy):
    with reader(mounted):
        end_s = time.monotonic() + PATIENCE_S
        while mounts.statistics(mounted)["counters"]["reads"] == 0:
            assert time.monotonic() < end_s, "the reader does not read"
            time.sleep(0.05)
        proxy.faults.add(faults.LostAnswer())
        assert "The log names the cause" in found_in_time(mounted, "link-down")["cure"]
