# SPDX-License-Identifier: Apache-2.0
"""The layers of src/ are held apart: first the project itself, then proof that each check catches what it is for."""

import os
import pathlib

import class_sizes
import layer_checks as checks
import pytest
import queue_bounds
import type_names

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AUGUR_BUILD", ROOT / "build" / "release")).resolve()


def none(violations):
    assert not violations, "\n" + "\n".join(violations)


# The project.


def test_arrows_are_those_of_the_design():
    none(checks.check_drawing(ROOT))


def test_no_include_against_an_arrow():
    none(checks.check_includes(ROOT))


def test_libfuse_is_known_to_src_fuse_alone():
    none(checks.check_libfuse(ROOT))


def test_what_fs_and_below_build_is_linked_without_libfuse():
    program = BUILD / "tests" / "fs_test"
    assert program.exists(), f"{program}: build the tests first (packaging/test.sh does)"
    none(checks.check_linked(program))


def test_every_header_compiles_alone():
    """Every one, or where packaging/test.sh says what has changed (AUGUR_CHANGED), those that it may concern."""
    headers = checks.project_headers(ROOT)
    if "AUGUR_CHANGED" in os.environ:
        headers = checks.affected(ROOT, headers, os.environ["AUGUR_CHANGED"].split())
    none(checks.check_headers_alone(ROOT, headers, checks.compile_commands(BUILD)))


def test_every_test_is_in_the_build():
    none(checks.check_tests_built(ROOT, checks.compile_commands(BUILD)))


def test_no_type_name_is_there_twice():
    none(type_names.check_type_names(ROOT))


def test_no_class_is_too_large():
    none(class_sizes.check_class_sizes(ROOT))


def test_every_queue_states_its_bound():
    none(queue_bounds.check_queue_bounds(ROOT))
    assert len(queue_bounds.queues_of((ROOT / "src/fleet/fleet_member.h").read_text(encoding="utf-8"))) == 3


# The checks: each is shown a small project with one violation, and the same project without it.

CLEAN = {
    "src/base/CMakeLists.txt": "augur_library(base status.cc LIBS spdlog::spdlog)",
    "src/base/status.h": "#pragma once\n#include <string>\nstd::string Text();\n",
    "src/base/status.cc": '#include "base/status.h"\n',
    "src/io/CMakeLists.txt": "augur_library(io engine.cc LAYERS base LIBS PkgConfig::uring)",
    "src/io/engine.cc": '#include "base/status.h"\n#include "augur/status.h"\n',
    "src/cache/CMakeLists.txt": "augur_library(cache cache.cc LAYERS base)",
    "src/cache/cache.cc": '#include "base/status.h"\n',
    "src/fs/CMakeLists.txt": "augur_library(fs fs.cc LAYERS cache io)",
    "src/fs/fs.cc": '#include "cache/cache.h"\n#include "base/status.h"\n',
    "src/fuse/CMakeLists.txt": "augur_library(fuse mount.cc LAYERS fs LIBS PkgConfig::fuse3)",
    "src/fuse/mount.cc": '#include <fuse_lowlevel.h>\n#include "fs/fs.h"\n',
    "include/augur/status.h": "#pragma once\n",
    "tests/unit/base/status_test.cc": "",
}


def project(tmp_path, changes=None):
    for name, text in {**CLEAN, **(changes or {})}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def commands_of(root, files):
    return [{"file": str(root / name), "command": f"/usr/bin/ccache /usr/bin/c++ -std=gnu++20 -I{root}/src -o x.o -c {root / name}"}
            for name in files]


def test_a_clean_project_passes(tmp_path):
    root = project(tmp_path)
    none(checks.check_drawing(root) + checks.check_includes(root) + checks.check_libfuse(root))


@pytest.mark.parametrize("changes, text", [
    ({"src/base/CMakeLists.txt": "augur_library(base status.cc LAYERS io)"}, "LAYERS names io"),
    ({"src/cache/CMakeLists.txt": "augur_library(cache cache.cc LAYERS base fuse)"}, "LAYERS names fuse"),
    ({"src/gossip/CMakeLists.txt": "augur_library(gossip a.cc LAYERS base)"}, "a layer that the design does not have"),
    ({"src/store/index.cc": ""}, "no augur_library(store"),
])
def test_a_drawing_against_the_design_is_caught(tmp_path, changes, text):
    found = checks.check_drawing(project(tmp_path, changes))
    assert len(found) == 1 and text in found[0], found


@pytest.mark.parametrize("changes, text", [
    ({"src/base/status.cc": '#include "io/engine.h"\n'}, "base must not use io"),
    ({"src/io/engine.cc": '#include "cache/cache.h"\n'}, "io must not use cache"),
    ({"src/cache/cache.cc": '  #  include <fs/fs.h>\n'}, "cache must not use fs"),
    ({"src/fs/fs.cc": '#include "fuse/mount.h"\n'}, "fs must not use fuse"),
    ({"src/io/engine.cc": '#include "augur/store.h"\n'}, "io must not use store"),
    ({"src/io/engine.cc": '#include "augur/secret.h"\n'}, "not a public header"),
    ({"src/io/engine.cc": '#include "../cache/cache.h"\n'}, "a way around"),
    ({"include/augur/status.h": '#include "base/status.h"\n'}, "which is not public"),
    ({"include/augur/other.h": ""}, "without a layer"),
])
def test_an_include_against_an_arrow_is_caught(tmp_path, changes, text):
    found = checks.check_includes(project(tmp_path, changes))
    assert len(found) == 1 and text in found[0], found


@pytest.mark.parametrize("changes", [
    {"src/fs/fs.cc": "#include <fuse_lowlevel.h>\n"},
    {"src/fs/fs.cc": "#include <fuse3/fuse.h>\n"},
    {"src/cache/cache.cc": "#include <linux/fuse.h>\n"},
    {"src/fs/CMakeLists.txt": "augur_library(fs fs.cc LAYERS cache LIBS PkgConfig::fuse3)"},
    {"src/fs/CMakeLists.txt": "augur_library(fs fs.cc LAYERS cache)\ntarget_link_libraries(augur_fs PUBLIC fuse3)"},
])
def test_libfuse_below_src_fuse_is_caught(tmp_path, changes):
    assert len(checks.check_libfuse(project(tmp_path, changes))) == 1


def test_a_program_linked_with_libfuse_is_caught():
    augurfs = next((path for path in (BUILD / "tools" / "augurfs", BUILD / "augurfs") if path.exists()), None)
    assert augurfs, f"{BUILD}: augurfs is not built"
    assert len(checks.check_linked(augurfs)) == 1


def test_a_header_that_does_not_compile_alone_is_caught(tmp_path):
    root = project(tmp_path, {"src/io/engine.h": "#pragma once\nstd::string Name();\n"})
    found = checks.check_headers_alone(root, checks.project_headers(root), commands_of(root, ["src/base/status.cc", "src/io/engine.cc"]))
    assert len(found) == 1 and found[0].startswith("src/io/engine.h: does not compile alone"), found


def test_a_change_concerns_the_headers_that_include_it(tmp_path):
    root = project(tmp_path, {"src/io/engine.h": '#include "base/status.h"\n', "src/io/ring.h": '#include "io/engine.h"\n',
                              "src/io/alone.h": "#include <string>\n"})
    headers = [root / "src" / "io" / name for name in ("engine.h", "ring.h", "alone.h")]
    assert checks.affected(root, headers, ["src/base/status.h"]) == headers[:2]
    assert checks.affected(root, headers, ["src/io/alone.h"]) == headers[2:]
    assert checks.affected(root, headers, ["src/base/status.cc"]) == []


def test_a_test_outside_the_build_is_caught(tmp_path):
    root = project(tmp_path, {"tests/unit/io/engine_test.cc": ""})
    found = checks.check_tests_built(root, commands_of(root, ["src/io/engine.cc", "tests/unit/base/status_test.cc"]))
    assert len(found) == 1 and found[0].startswith("tests/unit/io/engine_test.cc"), found


@pytest.mark.parametrize("one, other, twice", [
    ("namespace augur {\nclass Slot {\n  int at = 0;\n};\n}", "namespace augur {\nstruct Slot final : Base<int> {};\n}", True),
    ("namespace augur {\nclass Slot {};\n}", "namespace augur {\nint f() { return '{'; }  // }\nenum class Slot : int { kOne };\n}", True),
    ("namespace augur {\nclass Slot {};\n}", "namespace augur {\nclass Slot;\nclass Slot* f();\n}", False),
    ("namespace augur {\nclass Slot {};\n}", "namespace augur {\nnamespace {\nclass Slot {};\n}\n}", False),
    ("namespace augur {\nclass Slot {};\n}", "namespace augur {\nclass Table {\n  struct Slot {};\n};\n}", False),
    ("namespace augur {\nclass Slot {};\n}", "namespace augur {\nstruct Table::Slot {};\n}", False),
    ("namespace augur::a {\nclass Slot {};\n}", "namespace augur::b {\nclass Slot {};\n}", False),
])
def test_a_type_name_that_is_there_twice_is_caught(tmp_path, one, other, twice):
    found = type_names.check_type_names(project(tmp_path, {"src/io/slot.h": one, "tools/slot.cc": other}))
    assert len(found) == twice and all("src/io/slot.h and in tools/slot.cc" in text for text in found), found


@pytest.mark.parametrize("members, large", [
    ("int a_;\n" * 30, False),
    ("int a_;\n" * 31, True),
    ("std::function<void(int)> f_ = {};\nint b_ AUGUR_GUARDED_BY(mu_) = 0;\n" * 15, False),
    ("void F(int a = 0) const;\n" * 40, False),
    ("void F(int a = 0) const;\n" * 41, True),
    ("int f() const { return a_; }\nT(int a) : a_(a), b_{a} {}\n" * 20, False),
    ("int f() const { return a_; }\nT(int a) : a_(a), b_{a} {}\n" * 21, True),
    ("using F = int;\nstruct S { int a; };\nstatic constexpr int kA = f(1);\nenum class E { kA };\n" * 41, False),
])
def test_a_class_that_is_too_large_is_caught(tmp_path, members, large):
    found = class_sizes.check_class_sizes(project(tmp_path, {"src/io/slot.h": "class Slot {\n public:\n" + members + "};\n"}))
    assert len(found) == large and all("src/io/slot.h: Slot has" in text for text in found), found


@pytest.mark.parametrize("members, states_none", [
    ("std::deque<int> a_;", True),
    ("std::deque<int> a_ AUGUR_GUARDED_BY(mu_);  // oldest first", True),
    ("std::deque<int> a_ AUGUR_GUARDED_BY(mu_);  // kJobsMax of them", False),
    ("// For the next turn, at\n// most ten.\nstd::list<int> a_;", False),
    ("// At most ten.\nint b_;\nstd::list<int> a_;", True),
    ("// At most ten.\n\nstd::list<int> a_;", True),
    ("std::queue<int> a_ = Make(kJobsMax);", True),
    ("// One for each job.\nstd::deque<int> a_;\nstd::deque<int> b_;", False),
    ("// One for each job.\nstd::deque<int> a_;\nstd::list<int> b_;", True),
    ("std::priority_queue<int, std::vector<int>,\n                    std::greater<>>\n    a_;", True),
    ("std::array<std::deque<std::function<void()>>, 2> a_ = {};", True),
    ("using List = std::list<int>;", True),
    ("struct Job {\n  std::queue<int> a;\n};", True),
    ("std::map<int, std::list<int>::iterator> a_;\nstd::deque<int>& b_;\nstd::list<int>* c_;", False),
    ("std::deque<int> Take();\nvoid F(std::list<int> a) {\n  std::deque<int> b;\n}", False),
])
def test_a_queue_that_states_no_bound_is_caught(tmp_path, members, states_none):
    found = queue_bounds.check_queue_bounds(project(tmp_path, {"src/io/slot.h": f"class Slot {{\n private:\n{members}\n}};\n"}))
    assert len(found) == states_none and all("src/io/slot.h:" in text for text in found), found
