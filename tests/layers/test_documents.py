# SPDX-License-Identifier: Apache-2.0
"""The documents keep the rules of document_checks.py, and the checks catch what breaks them."""

import pathlib
import re
import subprocess

import document_checks as checks
import layer_checks
import pytest
from conftest import find_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS_MAX = 140
# For people who see the project for the first time: plain English is checked here.
PLAIN = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "THREADS.md",
         "src/predict/FORESEE.md", "src/prefetch/PREFETCH.md", "SECURITY.md", "src/samplers/SHUFFLES.md", "CHANGELOG.md",
         "src/views/VIEWS.md", "src/decode/PIXELS.md", "src/control/STATUS.md",
         "src/fuse/DAEMON.md", "src/fuse/OBSERVATION.md", "src/cache/DISK_CACHE.md", "src/cache/RETAINED_CACHE.md",
         "src/store/FORMAT.md", "src/store/SHARED.md", "src/fs/SEMANTICS.md", "src/remote/REMOTE.md", "src/fleet/FLEET.md",
         "tests/fuzz/README.md", "bench/README.md", "bench/RESULTS.md", "bench/remote/README.md", "examples/README.md",
         *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))))
BENCH_README_LINES_MAX = 200
HELP = [(program, *command) for program, commands in (("augurfs", ""), ("augurpack", "create append adopt info ls verify extract gc upgrade"),
                                                      ("augurctl", "status top doctor report hint drop views warm restart reload"))
        for command in [[], *([word] for word in commands.split())]]
README_LINES_MAX = 120
README_COLUMNS_MAX = 120
GLOSSARY_ROWS_MAX = 24
OTHER_PROJECTS = ("src/libImaging/", "src/PIL/")  # Pillow


def listed(*patterns):
    done = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", listed("*.md"))
def test_names_only_files_that_are_there(name):
    assert not checks.missing_files(read(name), (ROOT / name).parent, ROOT, OTHER_PROJECTS)


@pytest.mark.parametrize("name", PLAIN)
def test_is_plain_english(name):
    text = read(name)
    cells = checks.table_cells(text)
    assert not checks.long_sentences(text) + checks.long_sentences(cells)
    assert not checks.banned_words(text) + checks.banned_words(cells, checks.BANNED_IN_FRAGMENTS)
    assert not checks.long_lines(text, COLUMNS_MAX, tables=False)


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_help_is_plain_english(words):
    done = subprocess.run([find_program(words[0]), *words[1:], "--help"], capture_output=True, text=True, check=True)
    text = checks.help_text(done.stdout)
    assert not checks.long_sentences(text, colon_ends=True)
    assert not checks.banned_words(text)


def test_comments_of_headers_are_plain_english():
    texts = [(name, checks.comments(read(name))) for name in listed("include/*.h", "src/*.h", "tools/*.h")]
    assert len(texts) > 500
    assert not [(name, found) for name, text in texts if (found := checks.long_sentences(text) + checks.banned_words(text))]


def test_messages_are_plain_english():
    """Errors, log lines, and the descriptions of statistics."""
    names = listed("src/*.cc", "src/*.h", "tools/*.cc", "tools/*.h")
    texts = [(name, text) for name in names for text in checks.messages(read(name))]
    assert len(texts) > 1000
    assert not [(name, found) for name, text in texts
                if (found := checks.long_sentences(text, colon_ends=True) + checks.banned_words(text, checks.BANNED_IN_FRAGMENTS))]


def test_the_readmes_are_short():
    assert len(read("README.md").splitlines()) < README_LINES_MAX
    assert not checks.long_lines(read("README.md"), README_COLUMNS_MAX)
    assert len(read("bench/README.md").splitlines()) < BENCH_README_LINES_MAX


def test_the_glossary_is_short_and_sorted():
    rows = [line for line in read("GLOSSARY.md").splitlines() if line.startswith("| ")][1:]
    words = [row.split("|")[1].strip().lower() for row in rows]
    assert words == sorted(words)
    assert 0 < len(words) <= GLOSSARY_ROWS_MAX


def test_the_architecture_has_every_folder_and_what_it_uses():
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|([^|]*)\|$", read("ARCHITECTURE.md"), re.MULTILINE)
    told = {name: set(re.findall(r"\w+", uses)) for name, uses in rows}
    assert told == {name: layers for name, (layers, _) in layer_checks.drawn_layers(ROOT).items()}


def test_every_finding_of_doctor_is_explained():
    sources = (ROOT / "src" / "diagnosis").glob("*_checks.cc")
    names = {name for path in sources for name in re.findall(r'\.name = "([\w-]+)"', path.read_text(encoding="utf-8"))}
    section = read("src/control/STATUS.md").split("`augurctl doctor`\n", 1)[1].split("\n## ", 1)[0]
    assert len(names) > 30
    assert not names - set(re.findall(r"`([\w-]+)`", section))


def test_every_thread_is_explained():
    sources = (path for folder in ("src", "tools") for path in (ROOT / folder).rglob("*.cc"))
    names = {name for path in sources for name in re.findall(r'"(augur-[a-z-]+)"', path.read_text(encoding="utf-8"))}
    assert len(names) > 30
    assert names == set(re.findall(r"`(augur-[a-z-]+)`", read("THREADS.md")))


def test_every_promise_is_named_by_a_test():
    tests = [name for name in listed("tests") if re.search(r"(^|/)test_\w+\.py$|_test\.cc$", name)]
    named = set().union(*(checks.named_promises(read(name)) for name in tests))
    promised = checks.promises(read("src/fs/SEMANTICS.md"))
    assert len(promised) > 80 and len(set(promised)) == len(promised)
    assert not [number for number in promised if number not in named]


def test_the_checks_catch_what_they_are_for(tmp_path):
    assert checks.long_sentences("one " * (checks.WORDS_MAX + 1) + "end.")
    assert not checks.long_sentences("one " * (checks.WORDS_MAX - 1) + "end. " + "two " * 20)
    for end in ":", ";":
        halves = "one " * 20 + f"end{end} " + "two " * 20
        assert checks.long_sentences(halves) and not checks.long_sentences(halves, colon_ends=True)
    assert not checks.long_sentences("one " * 20 + "list:\n- " + "two " * 20 + "\n- " + "three " * 20)
    assert list(checks.prose("A: b; c! D? E.\n\nF\n1. G")) == ["A: b; c!", "D?", "E.", "F", "G"]
    assert list(checks.prose("a: b; c. D", colon_ends=True)) == ["a", "b", "c.", "D"]
    assert checks.table_cells("Text.\n\n| a | b |\n|---|---|\n| `x` | " + "one " * 31 + "|\n").split("\n\n")[:2] == ["a", "b"]
    assert checks.long_sentences(checks.table_cells("| `x` | " + "one " * 31 + "|\n"))
    assert checks.banned_words("A file that nobody reads.") and not checks.banned_words("A `nobody` user.\n| nobody |")
    assert checks.messages('#include "a.h"\n// "no"\nf("one "  // "no"\n  "two", "\\"");') == ["one two", '\\"']
    assert checks.comments("// a\n//  b\nint c;  // d\n") == "a\n b\n\nd"
    assert checks.banned_words("read by nobody", checks.BANNED_IN_FRAGMENTS)
    assert not checks.banned_words("what is there", checks.BANNED_IN_FRAGMENTS)
    assert checks.promises("- **L1** a\n  b\n- **L2** c") == ["L1", "L2"]
    assert checks.named_promises('def test_a():\n    """L1: a,\n    R3"""\n    b = "L2"  # K1\n') == {"L1", "R3", "K1"}
    assert checks.named_promises('// L1 to L3: a\nTEST(A, B) { f("L4"); }') == {"L1", "L2", "L3"}
    assert checks.long_lines("x" * 121, 120) and not checks.long_lines("x" * 120, 120)
    assert not checks.long_lines("|" * 121, 120, tables=False)
    assert checks.missing_files("[a](gone.md) and `src/gone.cc`", tmp_path, tmp_path) == ["link to gone.md", "path src/gone.cc"]
    assert checks.missing_files("`gone.h`", tmp_path, tmp_path) == ["file gone.h"]
    (tmp_path / "here.md").touch()
    assert not checks.missing_files("[a](here.md) [b](https://host/x)", tmp_path, tmp_path)
