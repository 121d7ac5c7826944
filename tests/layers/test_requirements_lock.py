# SPDX-License-Identifier: Apache-2.0
"""The Python packages of the tests are pinned by hash: tests/requirements.lock is whole, and nothing is installed past it."""

import importlib.metadata
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"([a-z0-9-]+)==([\w.]+)((?: --hash=sha256:[0-9a-f]{64})+)")
OF_THE_ENVIRONMENT = {"pip", "setuptools"}  # python3 -m venv puts them there


def requirements(name):
    lines = (ROOT / "tests" / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def parts():
    """{line of requirements.txt: {package: version}} of the lock."""
    found, rows = {}, None
    for line in (ROOT / "tests" / "requirements.lock").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            rows = found.setdefault(line.removeprefix("## "), {})
        elif line and not line.startswith("#"):
            match = ROW.fullmatch(line)
            assert match, f"no version and hash: {line}"
            assert not any(match[1] in other for other in found.values()), f"twice: {line}"
            rows[match[1]] = match[2]
    return found


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_requirement_has_its_part():
    assert list(parts()) == requirements("requirements.txt")
    locked = {name: version for rows in parts().values() for name, version in rows.items()}
    for line in requirements("requirements.txt"):
        name, _, version = line.partition("==")
        assert locked[canonical(name)] == version


@pytest.mark.parametrize("name", ["requirements-other-pillow.txt", "requirements-servers.txt", "requirements-botocore.txt",
                                  "requirements-kubernetes.txt"])
def test_other_requirements_have_hashes(name):
    for line in requirements(name):
        assert ROW.fullmatch(line), line


def test_nothing_is_installed_without_a_hash():
    """Each pip install of the scripts, its continued lines included."""
    commands = []
    for script in sorted((ROOT / "packaging").glob("*.sh")):
        text = script.read_text(encoding="utf-8").replace("\\\n", " ")
        commands += [line for line in text.splitlines() if re.search(r"\bpip install\b", line)]
    assert commands
    for command in commands:
        assert "--require-hashes" in command and "--no-deps" in command, command


def test_the_environment_is_the_locked_one():
    """What packaging/venv.sh has made holds what the lock says, and needs nothing that the lock lacks."""
    if pathlib.Path(sys.prefix).parent.name != "augurfs" or not pathlib.Path(sys.prefix).name.startswith("venv-"):
        pytest.skip("not in an environment of packaging/venv.sh")
    locked = {name: version for rows in parts().values() for name, version in rows.items()}
    there = {canonical(one.metadata["Name"]): one for one in importlib.metadata.distributions()}
    for name, one in there.items():
        if name not in OF_THE_ENVIRONMENT:
            assert locked.get(name) == one.version, f"{name} {one.version} is not in the lock"
    for line in (pathlib.Path(sys.prefix) / "skipped").read_text(encoding="utf-8").splitlines():
        locked = {name: version for name, version in locked.items() if name not in parts()[line]}
    assert set(locked) <= set(there)
