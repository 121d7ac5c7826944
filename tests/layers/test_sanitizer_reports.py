# SPDX-License-Identifier: Apache-2.0
"""The net under the runs with a sanitizer: tests/sanitizer_reports.py."""

import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]

PLUGIN = """
from sanitizer_reports import SanitizerReports

def pytest_configure(config):
    config.pluginmanager.register(SanitizerReports())
"""

# The files that a sanitizer writes, as its options say.
CASES = """
import os, pathlib, signal, subprocess

def report(pid, text):
    place = os.environ["TSAN_OPTIONS"].split("log_path=")[1]
    pathlib.Path(f"{place}.{pid}").write_text(text)

def test_a_race():
    report(7, "WARNING: ThreadSanitizer: data race")

def test_nothing():
    assert os.environ["TSAN_OPTIONS"].startswith("suppressions=none:")

CRASH = "==8==ERROR: AddressSanitizer: SEGV on unknown address 0x0000000000aa"

def test_a_crash():
    report(8, CRASH)

def test_a_crash_that_is_asked_for():
    process = subprocess.Popen(["sleep", "60"])
    os.kill(process.pid, signal.SIGSEGV)
    assert process.wait() == -signal.SIGSEGV
    report(process.pid, CRASH)

def test_a_crash_in_a_container_that_is_asked_for():
    '''Its process is number 1 there.'''
    words = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "sh", "-c", "echo; exec sleep 60"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as container:
        container.stdout.readline()
        child = int(pathlib.Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text())
        os.kill(child, signal.SIGSEGV)
        report(1, CRASH)
        os.kill(child, signal.SIGKILL)
"""

LATE = """
from test_cases import report

def pytest_sessionfinish():
    report(9, "LeakSanitizer: detected memory leaks")
"""


def run(folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "TSAN_OPTIONS": "suppressions=none"}
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rE", *words, folder], env=environment,
                          capture_output=True, text=True, timeout=60)  # fmt: skip


def test_reports_are_failures(tmp_path):
    """A report is an error of the test in which it comes, but for that of a signal which the test itself has sent."""
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "test_cases.py").write_text(CASES)
    done = run(tmp_path)
    assert done.returncode == 1, done.stdout
    assert "5 passed, 2 errors" in done.stdout
    assert "ERROR at teardown of test_a_race" in done.stdout and "ThreadSanitizer: data race" in done.stdout
    assert "ERROR at teardown of test_a_crash _" in done.stdout


def test_reports_after_the_last_test(tmp_path):
    """A run in which every test has passed fails."""
    (tmp_path / "conftest.py").write_text(PLUGIN + LATE)
    (tmp_path / "test_cases.py").write_text(CASES)
    done = run(tmp_path, "-k", "nothing")
    assert "1 passed" in done.stdout and "detected memory leaks" in done.stdout
    assert done.returncode == 1, done.stdout
