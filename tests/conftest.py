# SPDX-License-Identifier: Apache-2.0
"""Where the tests find the programs: in the build folder that AUGUR_BUILD names, build/release without it."""

import os
import pathlib
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


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


@pytest.fixture
def folder():
    """A new folder that is gone after the test (tmp_path stays, and stores are large)."""
    with tempfile.TemporaryDirectory(prefix="augur-test-") as path:
        yield path
