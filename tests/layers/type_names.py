# SPDX-License-Identifier: Apache-2.0
"""Finds types of one name that are defined twice in a namespace: the linker takes the functions of one for both (the one-definition rule)."""

import collections
import re

FOLDERS = ("include", "src", "tools", "bench")
IGNORED = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL)
SCOPE = re.compile(
    r"""\bnamespace\s*(?P<namespace>[\w:]*)\s*\{
      | \b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:AUGUR_\w+(?:\([^)]*\))?\s+|alignas\([^)]*\)\s+|\[\[[^]]*\]\]\s*)*
        (?P<type>\w+(?:::\w+)*)(?:\s+final)?\s*(?::[^;{}()]*)?\{
      | (?P<open>\{) | (?P<close>\})""",
    re.VERBOSE,
)


def types_of(text):
    """The types that a file defines in namespaces that have a name, with their namespaces. Those within types and functions are left out."""
    scopes = []  # of each brace: the namespace's name, "" of one without; None: of something else
    for found in SCOPE.finditer(IGNORED.sub(" ", text)):
        if found["close"]:
            del scopes[-1:]
            continue
        name = found["type"]
        # Parts of a type (Store::Parts) are its own.
        if name and "::" not in name and all(scopes):
            yield "::".join([*scopes, name])
        scopes.append(found["namespace"])


def check_type_names(root):
    """One violation for each type that several files define."""
    files = collections.defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                for name in types_of(path.read_text(encoding="utf-8")):
                    files[name].append(str(path.relative_to(root)))
    return [f"{name}: defined in {' and in '.join(paths)}: give one of them another name, or an anonymous namespace"
            for name, paths in sorted(files.items()) if len(paths) > 1]
