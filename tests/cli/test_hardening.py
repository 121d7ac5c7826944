# SPDX-License-Identifier: Apache-2.0
"""The built programs have what cmake/Hardening.cmake asks for: readelf tells."""

import os
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

pytestmark = [
    pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="a sanitizer's build is not hardened"),
    pytest.mark.skipif(shutil.which("readelf") is None, reason="needs readelf (binutils)"),
]

PROGRAMS = ("augurfs", "augurpack", "augurctl")


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request):
    return pathlib.Path(request.getfixturevalue(request.param)).resolve()


def readelf(program, *words):
    return subprocess.run(["readelf", "-W", *words, program], check=True, capture_output=True, text=True).stdout


def is_optimised(program):
    cache = program.parents[1] / "CMakeCache.txt"
    return not re.search(r"^CMAKE_BUILD_TYPE:\w+=(Debug)?$", cache.read_text(encoding="utf-8"), re.MULTILINE)


def imports(program):
    """The functions that it takes from libraries."""
    return set(re.findall(r" UND ([\w$]+)", readelf(program, "--dyn-syms")))


def test_position_independent(program):
    assert re.search(r"Type:\s+DYN", readelf(program, "-h"))
    assert re.search(r"\(FLAGS_1\).*\bPIE\b", readelf(program, "-d"))


def test_tables_are_read_only(program):
    assert "GNU_RELRO" in readelf(program, "-l")
    assert re.search(r"\(FLAGS_1\).*\bNOW\b", readelf(program, "-d"))


def test_stack_is_not_executable(program):
    (flags,) = re.findall(r"GNU_STACK(?:\s+0x\w+){5}\s+([RWE ]+?)\s+0x", readelf(program, "-l"))
    assert flags == "RW"


def test_stack_protector(program):
    assert "__stack_chk_fail" in imports(program)


def test_fortified(program):
    if not is_optimised(program):
        pytest.skip("not without optimisation")
    assert [name for name in imports(program) if re.fullmatch(r"__\w+_chk", name)]


def test_assertions_of_the_library(program):
    assert [name for name in imports(program) if "__glibcxx_assert_fail" in name]


@pytest.mark.skipif(platform.machine() != "x86_64" or shutil.which("objdump") is None, reason="of x86, by objdump")
def test_control_flow(program):
    """Our own code. The mark of the whole program is the linker's to give, and Debian 12's start files have none."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--disassemble=main", program], check=True, capture_output=True,
                          text=True).stdout
    assert re.search(r"<main>:\n\s+[0-9a-f]+:\s+endbr64", code)
