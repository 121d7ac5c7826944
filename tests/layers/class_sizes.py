# SPDX-License-Identifier: Apache-2.0
"""Finds classes that have grown too large to be about one thing: more than FIELDS_MAX fields or METHODS_MAX methods, public and private."""

import re

from type_names import FOLDERS, IGNORED, SCOPE

FIELDS_MAX = 30
METHODS_MAX = 40

ACCESS = re.compile(r"^(?:(?:public|private|protected)\s*:\s*)+")
NO_MEMBER = re.compile(r"^(?:using|typedef|friend|static_assert|enum|static\s+constexpr|static\s+inline\s+constexpr|(?:template\s*<[^{]*>\s*)?(?:class|struct|union)\b)")
# The end of a function's head, in front of its body: `) const noexcept override : member_(x) {}`.
FUNCTION_HEAD = re.compile(r"\)\s*(?:const|noexcept|override|final|&|AUGUR_\w+\([^()]*\)|->[^{}]*|\s)*(?::[^:].*)?$", re.DOTALL)
CALL = re.compile(r"[\w~>=\]!+*()-]\s*\(")
TEMPLATE = re.compile(r"<[^<>]*>")


def body_end(text, at):
    """The place of the brace that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text) - 1


def members(body):
    """The declarations of a class, each without what stands in its braces."""
    words, parentheses, i = "", 0, 0
    while i < len(body):
        char = body[i]
        parentheses += {"(": 1, ")": -1}.get(char, 0)
        if char == "{" and parentheses == 0:
            i = body_end(body, i)
            rest = body[i + 1 :].lstrip()
            # A function's body ends it; the braces of an initializer or of a nested type do not.
            if FUNCTION_HEAD.search(words) and not rest.startswith((",", "{")):
                yield words
                words = ""
        elif char == ";" and parentheses == 0:
            yield words
            words = ""
        else:
            words += char
        i += 1


def count_members(body):
    """(fields, methods) of a class with this body."""
    fields = methods = 0
    for member in members(body):
        member = ACCESS.sub("", member.strip()).strip()
        if not member or NO_MEMBER.match(member):
            continue
        declared = re.sub(r"AUGUR_\w+\([^)]*\)", "", member)
        while TEMPLATE.search(declared):
            declared = TEMPLATE.sub("", declared)
        declared = declared if "operator" in declared else declared.split("=")[0]
        if CALL.search(declared):
            methods += 1
        else:
            fields += 1
    return fields, methods


def classes_of(text):
    """(name, fields, methods) of each class and struct that a file defines."""
    text = IGNORED.sub(" ", text)
    for found in SCOPE.finditer(text):
        if found["type"] and not found[0].startswith("enum"):
            opening = found.end() - 1
            yield found["type"], *count_members(text[opening + 1 : body_end(text, opening)])


def check_class_sizes(root):
    """One violation for each class that is too large."""
    violations = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            for name, fields, methods in classes_of(path.read_text(encoding="utf-8")):
                if fields > FIELDS_MAX or methods > METHODS_MAX:
                    violations.append(f"{path.relative_to(root)}: {name} has {fields} fields and {methods} methods (at most {FIELDS_MAX} "
                                      f"and {METHODS_MAX}): split it by subject")
    return violations
