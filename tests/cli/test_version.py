# SPDX-License-Identifier: Apache-2.0
"""--version: a line for the version, one each for the commit, the build and the libraries; and where cmake/Commit.cmake has the commit
from."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from cli_support import succeed

ROOT = pathlib.Path(__file__).resolve().parents[2]
GIT = ["git", "-c", "user.name=tester", "-c", "user.email=tester@localhost"]
NONE = "not known (built without git)"

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.mark.parametrize("name", ["augurpack", "augurfs", "augurctl"])
def test_four_lines(name, request):
    program = request.getfixturevalue(name)
    version, commit, build, libraries = succeed(program, "--version").splitlines()
    (project,) = re.findall(r"^project\(augurfs VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert version == f"{name} {project}"
    assert commit == f"commit: {NONE}" or re.fullmatch(r"commit: [0-9a-f]{12} of \d{4}-\d\d-\d\d(, with changes)?", commit), commit
    cache = (pathlib.Path(program).parents[1] / "CMakeCache.txt").read_text(encoding="utf-8")
    (kind,) = re.findall(r"^CMAKE_BUILD_TYPE:\w+=(\w*)$", cache, re.MULTILINE)
    assert re.fullmatch(rf"build: \w+ [\d.]+, {kind}(, sanitizers [\w,]+)?(, no shared libraries)?", build), build
    assert ("sanitizers" in build) == ("AUGUR_SANITIZER" in os.environ)
    assert re.fullmatch(r"libraries: fuse3 3\.[\d.]+, liburing 2\.[\d.]+, libcurl [\d.]+, libcrypto 3\.[\d.]+, libjpeg [\d.]+, "
                        r"libarchive [\d.]+", libraries), libraries


def commit_of(folder, header, given="", environment=None):
    """What the header says after a build of this folder."""
    subprocess.run(["cmake", f"-DSOURCE={folder}", f"-DGIVEN={given}", f"-DHEADER={header}", "-P", ROOT / "cmake" / "Commit.cmake"],
                   env=environment, check=True, capture_output=True)
    (text,) = re.findall(r'^#define AUGUR_COMMIT "(.*)"$', header.read_text(encoding="utf-8"), re.MULTILINE)
    return text


def commit(folder):
    """The short name of a new repository's first commit."""
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True, env={**os.environ, "GIT_COMMITTER_DATE": "2026-02-03T12:00:00Z"})
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True).stdout[:12]


@needs_git
def test_a_repository(tmp_path):
    source, header = tmp_path / "source", tmp_path / "header.h"
    source.mkdir()
    (source / "file").write_text("1", encoding="ascii")
    name = commit(source)
    assert commit_of(source, header) == f"{name} of 2026-02-03"
    before = header.stat().st_mtime_ns
    assert commit_of(source, header) == f"{name} of 2026-02-03" and header.stat().st_mtime_ns == before  # nothing is compiled anew
    (source / "new").write_text("2", encoding="ascii")  # a build folder, say
    assert commit_of(source, header) == f"{name} of 2026-02-03"
    (source / "file").write_text("2", encoding="ascii")
    assert commit_of(source, header) == f"{name} of 2026-02-03, with changes"


@needs_git
def test_a_folder_within_another_repository(tmp_path):
    """As a package of sources in a repository of packages: that commit is not ours."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "file").write_text("1", encoding="ascii")
    commit(tmp_path)
    assert commit_of(inner, tmp_path / "header.h") == NONE


def test_no_repository(tmp_path):
    (tmp_path / "source").mkdir()
    ceiling = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    assert commit_of(tmp_path / "source", tmp_path / "header.h", environment=ceiling) == NONE


def test_a_system_without_git(tmp_path):
    header = tmp_path / "header.h"
    words = ["cmake", f"-DSOURCE={ROOT}", "-DGIVEN=", f"-DHEADER={header}", "-DGIT=GIT-NOTFOUND",
             "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF", "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-P", ROOT / "cmake" / "Commit.cmake"]
    subprocess.run(words, check=True, capture_output=True)
    assert header.read_text(encoding="utf-8") == f'#define AUGUR_COMMIT "{NONE}"\n'


def test_a_commit_that_is_given(tmp_path):
    assert commit_of(tmp_path, tmp_path / "header.h", given="release 7") == "release 7"
    assert commit_of(tmp_path, tmp_path / "header.h", given='a "b" \\ c') == "a  b    c"
