# SPDX-License-Identifier: Apache-2.0
"""Rules for the documents. Each check takes a text and returns a list of violations, one line each; an empty list is a pass."""

import functools
import re

WORDS_MAX = 30  # in a sentence
# Words that stand for a thing without naming it, and idiom that a reader whose English is plain does not know.
BANNED = ("nobody", "somebody", "so many", "so much", "as far as", "for the sake of", "held against", "bear out", "what is",
          "what was", "who is", "who was", "thereof", "hitherto", "put out", "puts out", "dear", "of its own accord")
# In a message or the cell of a table, "what is" is no subject: "unmount what is there".
BANNED_IN_FRAGMENTS = tuple(phrase for phrase in BANNED if not phrase.startswith("what "))
FOLDERS = ("src", "include", "tools", "tests", "bench", "packaging", "cmake")
CODE_BLOCK = re.compile(r"^```.*?^```\s*$", re.MULTILINE | re.DOTALL)


def prose(text, colon_ends=False):
    """Sentences of the running text: without code blocks, tables, headings and what stands in backticks. `colon_ends`: a colon or
    semicolon ends a sentence, too, as in a message ("what: cause; cure")."""
    end = r"(?<=[.!?])\s+" + (r"|[:;]\s+" if colon_ends else "")
    text = CODE_BLOCK.sub("\n", text)
    lines = ["\n" if re.match(r"\s*(\||#)", line) else line for line in text.splitlines()]
    text = "\n".join(lines)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", "\n" + text):
        for sentence in re.split(end, " ".join(paragraph.split())):
            if sentence:
                yield sentence


def table_cells(text):
    """The cells of all tables, each a paragraph: `prose` leaves them out."""
    rows = [line.strip().strip("|") for line in CODE_BLOCK.sub("\n", text).splitlines() if line.lstrip().startswith("|")]
    return "\n\n".join(cell.strip() for row in rows for cell in row.split(" | "))


def help_text(text):
    """What --help prints, as paragraphs: lines of one indentation belong together, and a row of a list stands alone."""
    lines, last = [], None
    for line in text.splitlines():
        indentation = len(line) - len(line.lstrip())
        if indentation != last or re.search(r"\S {2,}\S", line):
            lines.append("")
        lines.append(line.strip())
        last = indentation
    return "\n".join(lines)


def long_sentences(text, colon_ends=False):
    return [f"{len(sentence.split())} words: {sentence}" for sentence in prose(text, colon_ends) if len(sentence.split()) > WORDS_MAX]


def banned_words(text, banned=BANNED):
    found = []
    for sentence in prose(text):
        plain = re.sub(r'"[^"]*"', "", sentence)
        found += [f"{phrase!r}: {sentence}" for phrase in banned if re.search(rf"\b{phrase}\b", plain, re.IGNORECASE)]
    return found


def comments(source):
    """The comments of a C++ source, each a paragraph; one behind code stands alone."""
    lines = []
    for line in source.splitlines():
        alone = re.match(r"\s*//+ ?(.*)", line)
        behind = re.search(r"\s//+ (.*)", line)
        lines += [alone[1]] if alone else ["", behind[1]] if behind else [""]
    return "\n".join(lines)


def messages(source):
    """The string literals of a C++ source, without its comments; those that follow each other are one."""
    lines = [re.sub(r"\s//\s.*", "", line) for line in source.splitlines() if not re.match(r"\s*(//|#include)", line)]
    joined = re.sub(r'"\s*\n\s*"', "", "\n".join(lines))
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined)


def long_lines(text, columns, tables=True):
    """`tables`: their rows count, too, though a row cannot be broken."""
    return [f"line {number} has {len(line)} columns" for number, line in enumerate(text.splitlines(), 1)
            if len(line) > columns and (tables or not line.startswith("|"))]


@functools.cache
def source_names(root):
    """The names of all headers and sources, without their folders."""
    return {path.name for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in (".h", ".cc")}


def missing_files(text, folder, root, ignored=()):
    """Links and paths in backticks that name no file or folder. `folder`: where the document is; links are from there. `ignored`: beginnings of paths
    that are of builds or of other projects."""
    missing = []
    without_blocks = CODE_BLOCK.sub("\n", text)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", without_blocks):
        if not re.match(r"\w+:", target) and not (folder / target).exists():
            missing.append(f"link to {target}")
    for path in re.findall(r"`((?:" + "|".join(FOLDERS) + r")/[\w./-]+)`", without_blocks):
        if not path.startswith(tuple(ignored)) and not (root / path).exists() and not list(root.glob(path + ".*")):
            missing.append(f"path {path}")
    for path in re.findall(r"`(\w+/\w+\.(?:h|cc))`", without_blocks):
        if not any((base / path).exists() for base in (root, root / "src", root / "include")):
            missing.append(f"path {path}")
    for name in re.findall(r"`(\w+\.(?:h|cc))`", without_blocks):
        if name not in source_names(root):
            missing.append(f"file {name}")
    return list(dict.fromkeys(missing))


def promises(text):
    """The numbers of SEMANTICS.md, in its order."""
    return re.findall(r"^- \*\*([A-Z]\d+)\*\* ", text, re.MULTILINE)


def named_promises(source):
    """The numbers that the comments of a test name, Python's or C++'s. 'L8 to L11' names four."""
    comments = "\n".join(re.findall(r'"{3}(?s:.*?)"{3}|(?:#|//) .*', source))
    named = set(re.findall(r"\b[A-Z]\d+\b", comments))
    for letter, first, last in re.findall(r"\b([A-Z])(\d+) to \1(\d+)\b", comments):
        named |= {f"{letter}{number}" for number in range(int(first), int(last) + 1)}
    return named
