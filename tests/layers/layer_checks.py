# SPDX-License-Identifier: Apache-2.0
"""What keeps the folders of src/ apart. Each check returns a list of violations, one line of text each; an empty list is a pass.

The arrows are drawn by the LAYERS of augur_library() in src/*/CMakeLists.txt; what a layer may use is what it names there and what
those name in turn. ARROWS below holds the drawing to the design: a new arrow is a decision, not a line added to make a build pass.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess

# Layer: the layers that it may name. Direct arrows.
ARROWS = {
    "base": set(),
    "io": {"base"},
    "http": {"base"},
    "fleet": {"base"},
    "s3": {"base"},
    "remote": {"base", "io", "store", "http", "s3", "fleet", "cache", "control"},
    "store": {"base", "io"},
    "cache": {"base"},
    "decode": {"base"},
    "control": {"base"},
    "pack": {"base", "io", "store", "datasets", "decode", "views", "s3", "remote"},
    "samplers": {"base"},
    "seed_search": {"base", "samplers"},
    "datasets": {"base", "store"},
    "readers": {"base", "datasets"},
    "recorded_runs": {"base", "store", "datasets", "readers"},
    # store, control: records to read, counters
    "prefetch": {"base", "io", "store", "datasets", "cache", "control"},
    "views": {"base", "store", "decode"},
    "archives": {"base", "store", "datasets", "samplers", "views"},
    "fs": {"base", "io", "store", "cache", "control", "views", "archives", "prefetch"},  # control: its counters
    "predict": {"base", "store", "control", "samplers", "seed_search", "datasets", "readers", "recorded_runs", "prefetch"},
    "fuse": {"base", "io", "store", "datasets", "readers", "cache", "control", "prefetch", "fs"},
    "diagnosis": {"base", "io", "control"},  # io: why io_uring is refused
}
# The one layer that may know libfuse.
FUSE_LAYER = "fuse"
# The layer that has the bodies of each public header; any other header in include/augur is its own violation.
PUBLIC = {"status.h": "base", "entry.h": "base", "digest.h": "base", "store.h": "store", "store_writer.h": "store",
          "foreign_folders.h": "store"}

LIBFUSE_HEADER = re.compile(r"^(fuse3?/|fuse[\w]*\.h$|linux/fuse\.h$|cuse)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(path):
    """(bracket, path) of each include of a file."""
    return INCLUDE.findall(re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL))


def include_folders(path, root):
    """Where a quoted include of a file may lead, in the order of the compiler's -I."""
    return path.parent, root, root / "src", root / "include", root / "tests"


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc"))


def drawn_layers(root):
    """{layer: (LAYERS, LIBS)} from every augur_library() call below src/."""
    drawn = {}
    for path in sorted((root / "src").glob("*/CMakeLists.txt")):
        text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
        for call in re.findall(r"augur_library\(([^)]*)\)", text):
            words = call.split()
            lists = {"": [], "LAYERS": [], "LIBS": []}
            current = ""
            for word in words[1:]:
                if word in ("LAYERS", "LIBS"):
                    current = word
                else:
                    lists[current].append(word)
            drawn[words[0]] = (set(lists["LAYERS"]), set(lists["LIBS"]))
    return drawn


def reach(drawn, layer):
    """The layer, those that it names, and those that they name."""
    seen, todo = set(), [layer]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(drawn.get(name, (set(), set()))[0])
    return seen


def check_drawing(root):
    """Every folder of src/ is a layer of its own name, and names only layers that the design lets it name."""
    bad = []
    drawn = drawn_layers(root)
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        if sources(folder) and folder.name not in drawn and any(path.suffix == ".cc" for path in sources(folder)):
            bad.append(f"src/{folder.name}: no augur_library({folder.name} ...) in its CMakeLists.txt")
    for layer, (layers, _) in sorted(drawn.items()):
        if layer not in ARROWS:
            bad.append(f"src/{layer}: a layer that the design does not have: add it to ARROWS when it is decided")
            continue
        for used in sorted(layers - ARROWS[layer]):
            bad.append(f"src/{layer}/CMakeLists.txt: LAYERS names {used}, against the arrows")
    return bad


def check_includes(root):
    """No include against an arrow: src/x uses only what its LAYERS reach; public headers use only public headers."""
    bad = []
    drawn = drawn_layers(root)
    layer_names = {path.name for path in (root / "src").iterdir() if path.is_dir()} | set(drawn)
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        allowed = reach(drawn, folder.name)
        for path in sources(folder):
            for _, target in includes(path):
                first, _, rest = target.partition("/")
                used = PUBLIC.get(rest, "?") if first == "augur" else first
                if first == "augur" and used == "?":
                    bad.append(f"{path.relative_to(root)}: {target} is not a public header that layer_checks.py knows")
                elif (first == "augur" or (rest and first in layer_names)) and used not in allowed:
                    bad.append(f"{path.relative_to(root)}: includes {target}, but {folder.name} must not use {used}")
                elif first in ("..", ".") or first in ("tools", "tests", "bench"):
                    bad.append(f"{path.relative_to(root)}: includes {target} by a way around src/")
    for path in sources(root / "include"):
        if path.name not in PUBLIC:
            bad.append(f"{path.relative_to(root)}: a public header without a layer: name it in PUBLIC of layer_checks.py")
        for bracket, target in includes(path):
            if bracket == '"' and not target.startswith("augur/"):
                bad.append(f"{path.relative_to(root)}: a public header includes {target}, which is not public")
    return bad


def check_libfuse(root):
    """libfuse is included and linked by src/fuse and tools/ alone."""
    bad = []
    for path in sources(root / "src") + sources(root / "include"):
        if path.relative_to(root).parts[:2] == ("src", FUSE_LAYER):
            continue
        for _, target in includes(path):
            if LIBFUSE_HEADER.match(target):
                bad.append(f"{path.relative_to(root)}: includes {target}: only src/{FUSE_LAYER} may know libfuse")
    for path in sorted((root / "src").glob("*/CMakeLists.txt")):
        text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
        if path.parent.name != FUSE_LAYER and re.search(r"PkgConfig::fuse|\bfuse3\b", text):
            bad.append(f"{path.relative_to(root)}: links libfuse: only src/{FUSE_LAYER} may")
    return bad


def check_linked(program):
    """The program was linked without libfuse."""
    out = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    return [f"{program}: {line.strip()}" for line in out.splitlines() if "libfuse" in line]


def compile_commands(build):
    return json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))


def flags_for(header, commands):
    """Compiler and options of the source nearest to the header in the tree of folders."""

    def nearness(command):
        source = pathlib.Path(command["file"])
        common = os.path.commonpath([source, header])
        return (len(common), source.stem == header.stem)

    best = max(commands, key=nearness)
    words = shlex.split(best["command"])
    while not re.search(r"(\+\+|g\+\+|clang\+\+)[-\d]*$", words[0]):
        words.pop(0)  # ccache
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ", "-include"):  # -include: a precompiled header
            skip = True
        elif word not in ("-c", "-MD", "-MMD") and word != best["file"]:
            kept.append(word)
    return kept


def proven_by_build(root, commands):
    """Headers that some source of the build includes before anything else: that they compile alone, the build has shown."""
    proven = set()
    for command in commands:
        source = pathlib.Path(command["file"])
        if "-include" in command["command"].split():  # a precompiled header comes before all
            continue
        first = next(iter(includes(source)), None) if source.exists() else None
        if first and first[0] == '"':
            proven |= {folder / first[1] for folder in include_folders(source, root)}
    return proven


def affected(root, headers, changed):
    """The headers that may compile otherwise since `changed` (paths of files) did: they are of them, or include one, however deep."""
    changed = {root / path for path in changed}
    known = {}

    def is_affected(path):
        if path not in known:
            known[path] = False  # until it is known; includes have no circle
            named = [folder / target for bracket, target in includes(path) if bracket == '"' for folder in include_folders(path, root)]
            known[path] = path in changed or any(target in changed or is_affected(target) for target in named if target.is_file())
        return known[path]

    return [header for header in headers if is_affected(header)]


def check_headers_alone(root, headers, commands):
    """Each header compiles when nothing was included before it."""
    proven = proven_by_build(root, commands)
    headers = [header for header in headers if header not in proven]

    def compile_one(header):
        # An empty main file with the header in front: a header as the main file warns about its own #pragma once.
        words = flags_for(header, commands) + ["-fsyntax-only", "-x", "c++", "-include", str(header), "/dev/null"]
        run = subprocess.run(words, capture_output=True, text=True, cwd=root)
        if run.returncode:
            lines = (run.stderr or run.stdout).splitlines()
            error = next((line for line in lines if "error" in line), lines[0] if lines else "no message")
            return [f"{header.relative_to(root)}: does not compile alone: {error}"]
        return []

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return [line for lines in pool.map(compile_one, headers) for line in lines]


def project_headers(root):
    folders = [root / "include", root / "src", root / "tools", root / "tests", root / "bench"]
    return [path for folder in folders if folder.is_dir() for path in sources(folder) if path.suffix == ".h"]


def check_tests_built(root, commands):
    """Every *_test.cc below tests/ is compiled by the build."""
    built = {pathlib.Path(command["file"]).resolve() for command in commands}
    return [f"{path.relative_to(root)}: is not in the build: name it in an augur_test() of tests/unit/*.cmake"
            for path in sorted((root / "tests").rglob("*_test.cc")) if path.resolve() not in built]
