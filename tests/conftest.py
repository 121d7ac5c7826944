# SPDX-License-Identifier: Apache-2.0
"""Where the tests find the programs: in the build folder that AUGUR_BUILD names, build/release without it."""

import os
import pathlib
import tempfile

import pytest
from sanitizer_reports import SanitizerReports

ROOT = pathlib.Path(__file__).resolve().parents[1]


def pytest_configure(config):
    if "AUGUR_SANITIZER" in os.environ:
        config.pluginmanager.register(SanitizerReports())


def find_program(name):
    """The path of a built program. A build that AUGUR_BUILD asks for must have it; without one the test is skipped."""
    asked = os.environ.get("AUGUR_BUILD")
    program = (pathlib.Path(asked) if asked else ROOT / "build" / "release").resolve() / "tools" / name
    if not program.exists():
        (pytest.fail if asked else pytest.skip)(f"{program} is not built")
    return str(program)


@pytest.fixture(scope="session")
def augurpack():
    return find_program("augurpack")


@pytest.fixture(scope="session")
def augurfs():
    return find_program("augurfs")


@pytest.fixture(scope="session")
def augurctl():
    return find_program("augurctl")


@pytest.fixture(scope="session")
def far_folder():
    return find_program("far_folder")


@pytest.fixture(scope="session")
def old_kernel():
    return find_program("old_kernel.so")


@pytest.fixture(scope="session")
def slow_crash():
    return find_program("slow_crash.so")


@pytest.fixture(scope="session")
def slow_fork():
    return find_program("slow_fork.so")


@pytest.fixture(scope="session", autouse=True)
def cache_home():
    """What daemons remember of their stores for later runs goes to a place that is gone afterwards, and which the user may have
    another of. Every user can write there."""
    with tempfile.TemporaryDirectory(prefix="augur-test-cache-") as path:
        os.chmod(path, 0o1777)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", path)
            yield path


@pytest.fixture(autouse=True)
def own_cache_home(cache_home, monkeypatch):
    """One for each test: what one test has read is nothing that another may predict."""
    with tempfile.TemporaryDirectory(dir=cache_home) as path:
        os.chmod(path, 0o1777)
        monkeypatch.setenv("XDG_CACHE_HOME", path)
        yield


@pytest.fixture
def folder():
    """A new folder that is gone after the test (tmp_path stays, and stores are large)."""
    with tempfile.TemporaryDirectory(prefix="augur-test-") as path:
        yield path
