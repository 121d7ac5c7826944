#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/requirements.lock: every package that tests/requirements.txt needs, at its version, with the SHA-256 of its file.

Run it with the Python of an environment that packaging/venv.sh has made from tests/requirements.txt as it is now:
    "$(./packaging/venv.sh)"/bin/python packaging/lock.py
The versions are those of the environment, the hashes those of the package index; nothing is downloaded or installed. The files
are those that pip takes on this machine, so the lock is for its version of Python and its processor.
"""

import importlib.metadata
import pathlib
import re

from pip._internal.commands import create_command
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.specifiers import SpecifierSet
from pip._vendor.packaging.utils import canonicalize_name

ROOT = pathlib.Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "tests" / "requirements.txt"
LOCK = ROOT / "tests" / "requirements.lock"
OF_THE_ENVIRONMENT = {"pip", "setuptools"}  # python3 -m venv puts them there
HEAD = """\
# Made by packaging/lock.py from requirements.txt. Each part begins with a line of that file and holds what it needs beyond the
# parts before it. For the Python and the processor of Debian 12 (amd64).
"""


def needs(requirement):
    """The distributions that must be there for a requirement, with their versions, by canonical name."""
    found = {}

    def visit(requirement):
        name = canonicalize_name(requirement.name)
        extras = {"", *requirement.extras}
        if name in OF_THE_ENVIRONMENT or extras <= seen.get(name, set()):
            return
        seen.setdefault(name, set()).update(extras)
        distribution = importlib.metadata.distribution(requirement.name)
        versions[name] = distribution.version
        for text in distribution.requires or ():
            other = Requirement(text)
            if other.marker is None or any(other.marker.evaluate({"extra": extra}) for extra in extras):
                visit(other)

    seen, versions = {}, {}
    visit(requirement)
    return dict(sorted(versions.items()))


class Index:
    """The package index that pip is set up for."""

    def __init__(self):
        self.command = create_command("download")
        self.options, _ = self.command.parse_args(["--disable-pip-version-check", "--no-deps", "x"])

    def __enter__(self):
        self.context = self.command.main_context()
        self.context.__enter__()
        session = self.command.get_default_session(self.options)
        self.finder = self.command._build_package_finder(self.options, session)
        return self

    def __exit__(self, *failure):
        return self.context.__exit__(*failure)

    def sha256(self, name, version):
        best = self.finder.find_best_candidate(name, SpecifierSet(f"=={version}")).best_candidate
        if best is None or "sha256" not in (best.link._hashes or {}):
            raise SystemExit(f"lock.py: {name}=={version}: the index has no file with a SHA-256 for this machine")
        return best.link._hashes["sha256"]


def main():
    parts, locked = [HEAD], set()
    with Index() as index:
        for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
            if not re.match(r"[\w-]", line):
                continue
            rows = [f"## {line}"]
            for name, version in needs(Requirement(line)).items():
                if name not in locked:
                    locked.add(name)
                    rows.append(f"{name}=={version} --hash=sha256:{index.sha256(name, version)}")
            parts.append("\n".join(rows) + "\n")
    LOCK.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
