# SPDX-License-Identifier: Apache-2.0
"""Finds queues without a stated bound: members that are, or hold, a std::deque, std::list, std::queue or std::priority_queue. The bound stands in a
comment on the member's lines or directly above: a constant (kName), or one of the phrases of BOUND. Neighbours of one type may share the comment above."""

import re

from class_sizes import CALL, TEMPLATE, body_end
from type_names import IGNORED, SCOPE

FOLDERS = ("src", "tools")
QUEUE = re.compile(r"\bstd::(?:deque|list|queue|priority_queue)\s*(?=<)")
BOUND = re.compile(r"\bk[A-Z]\w*|\b(?:[Aa]t most|[Bb]ounded by|[Nn]o more than|[Oo]f the last|[Aa]s many as|[Oo]ne for each)\b")
COMMENT = re.compile(r"(?:^|\s)//+\s?(.*)")


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def own_text(plain, opening):
    """What stands in the braces at `opening`; `;` stands for what further ones have."""
    body, at, end = "", opening + 1, body_end(plain, opening)
    while at < end:
        close = body_end(plain, at) if plain[at] == "{" else at
        body += ";" + blank(plain[at + 1 : close + 1]) if close > at else plain[at]
        at = close + 1
    return body


def held_queue(declaration):
    """(begin, end) of the queue's type in a member's declaration. None: there is none, or only an iterator, a reference or a pointer of one."""
    simple = re.sub(r"AUGUR_\w+\([^)]*\)", "", declaration)
    while TEMPLATE.search(simple):
        simple = TEMPLATE.sub("", simple)
    if CALL.search(simple.split("=")[0]):  # a function
        return None
    for found in QUEUE.finditer(declaration):
        end, depth = found.end(), 0
        while depth > 0 or end == found.end():
            depth += {"<": 1, ">": -1}.get(declaration[end], 0)
            end += 1
        if not declaration[end:].lstrip().startswith(("::", "&", "*")):
            return found.start(), end
    return None


def queues_of(text):
    """{first line: (last line, type)} of the members that hold queues, from line 0 on."""
    plain = IGNORED.sub(lambda found: blank(found[0]), text)
    queues = {}
    for scope in SCOPE.finditer(plain):
        for member in re.finditer(r"[^;]+", own_text(plain, scope.end() - 1) if scope["type"] else ""):
            if place := held_queue(member[0]):
                first = plain.count("\n", 0, scope.end() + member.start() + place[0])
                last = plain.count("\n", 0, scope.end() + member.end())
                queues[first] = last, member[0][slice(*place)]
    return queues


def check_queue_bounds(root):
    """One violation for each queue whose comment states no bound."""
    bad = []
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in (".h", ".cc")):
        text = path.read_text(encoding="utf-8")
        lines, queues = text.splitlines(), queues_of(text)
        for first, (last, kind) in sorted(queues.items()):
            above = first - 1
            while queues.get(above, ("", ""))[1] == kind:
                above -= 1
            told = [found[1] for line in lines[first : last + 1] if (found := COMMENT.search(line))]
            while above >= 0 and re.match(r"\s*//", lines[above]):
                told.insert(0, COMMENT.search(lines[above])[1])
                above -= 1
            if not BOUND.search(" ".join(told)):
                bad.append(f"{path.relative_to(root)}:{first + 1}: say in a comment how many items the queue has at most, and what "
                           f"happens then: {lines[first].strip()}")
    return bad
