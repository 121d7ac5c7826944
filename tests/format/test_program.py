# SPDX-License-Identifier: Apache-2.0
"""The C++ program accepts the good stores and refuses the bad ones by name, as the Python reader does."""

import os
import re
import stat

import pytest

import golden
from make_store import write_store
from store_content import Generation, Section
from format_support import (
    BAD_IN_VERSIONS,
    BY_NAME,
    GOOD_NAMES,
    VERSIONS,
    assert_same,
    expected,
    read_folder,
    run,
    text_of,
    touch_tar,
    write_empty_section_within_another,
    write_foreign_absolute,
    write_longest_path,
    write_two_root_pieces,
)


def shown(path):
    """A path as `augurpack ls` shows it: control characters, backslashes, and what is not UTF-8, as \\xHH."""
    out = []
    for character in path.decode("utf-8", "surrogateescape"):
        code = ord(character)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\x{code - 0xDC00:02x}")
        elif code < 0x20 or code == 0x7F or character == "\\":
            out.append(f"\\x{code:02x}")
        else:
            out.append(character)
    return "".join(out)


def check_by_program(augurpack, store, tree, folder):
    """`verify`, `ls` and `extract` of the C++ program agree with the description."""
    wanted = expected(tree)
    done = run(augurpack, "verify", store)
    assert done.returncode == 0, text_of(done.stderr)

    done = run(augurpack, "ls", "-R", store)
    assert done.returncode == 0, text_of(done.stderr)
    listed = [line for line in done.stdout.decode().splitlines() if line]
    assert [line.lower().rstrip("/") for line in listed] == [shown(path).lower() for path, *_ in wanted if path]

    done = run(augurpack, "ls", "-l", "-R", store)
    assert done.returncode == 0, text_of(done.stderr)
    lines = [line for line in done.stdout.decode().splitlines() if line]
    assert len(lines) == len(wanted) - 1
    for line, (path, mode, _, content) in zip(lines, wanted[1:]):
        assert line.startswith(stat.filemode(mode)), line
        assert shown(path).lower() in line.lower()
        if stat.S_ISREG(mode):
            assert str(len(content)) in line.split(), line
        if stat.S_ISLNK(mode):
            assert line.lower().endswith(" -> " + shown(content).lower()), line

    destination = os.path.join(folder, "extracted")
    done = run(augurpack, "extract", "--special-modes", store, destination)
    assert done.returncode == 0, text_of(done.stderr)
    assert_same(read_folder(destination), wanted)


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_program_accepts_golden(name, augurpack, folder):
    check_by_program(augurpack, golden.unpack(name, folder), golden.GOLDEN[name].tree, folder)


@pytest.mark.parametrize("version", VERSIONS)
def test_program_follows_an_absolute_locator(version, augurpack, folder):
    check_by_program(augurpack, write_foreign_absolute(folder, version), golden.tree_of_tar(), folder)


@pytest.mark.parametrize("version", VERSIONS)
def test_program_with_two_root_pieces(version, augurpack, folder):
    check_by_program(augurpack, write_two_root_pieces(folder, version), golden.plain(), folder)


@pytest.mark.parametrize("version", VERSIONS)
def test_program_accepts_the_longest_path(version, augurpack, folder):
    done = run(augurpack, "verify", write_longest_path(folder, version))  # longer than a path of the file system, once below it
    assert done.returncode == 0, text_of(done.stderr)


@pytest.mark.parametrize("version", VERSIONS)
def test_program_accepts_an_empty_section_within_another(version, augurpack, folder):
    check_by_program(augurpack, write_empty_section_within_another(folder, version), golden.plain(), folder)


def test_program_ignores_section_6_of_version_1(augurpack, folder):
    store = os.path.join(folder, "store")
    write_store(store, [Generation(golden.listed(), sections=(Section(6, b"whatever", 8),))], 1)
    check_by_program(augurpack, store, golden.listed(), folder)


def test_program_warns_of_another_mtime(augurpack, folder):
    done = run(augurpack, "verify", touch_tar(folder))
    assert done.returncode == 0, text_of(done.stderr)
    assert b"images.tar" in done.stderr + done.stdout


@pytest.mark.parametrize("name, version", BAD_IN_VERSIONS)
def test_program_refuses(name, version, augurpack, folder):
    case = BY_NAME[name]
    done = run(augurpack, "verify", case.build(folder, version))
    said = text_of(done.stderr)
    assert done.returncode in (1, 2), f"exit status {done.returncode}: {said}"
    for words in (case.file, *case.words):
        assert re.search(words, said, re.IGNORECASE), f"{said!r} does not say {words}"
