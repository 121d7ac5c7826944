# SPDX-License-Identifier: Apache-2.0
"""Writes Arrow streams of images from the published layout (arrow: Columnar.rst, Schema.fbs, Message.fbs; flatbuffers.dev, Internals) and
without our code, so that a test can make each part of one wrong."""

import json
import struct

SCHEMA, DICTIONARY, BATCH = 1, 2, 3
INT, BINARY, UTF8, STRUCT = 2, 4, 5, 13
END = struct.pack("<iI", -1, 0)


class Flat(dict):
    """A table of a FlatBuffer: field -> (format of struct, number), a text, a list of tables, Structs or a table."""


class Structs(list):
    """A list of pairs of numbers of 64 bits."""


def flat(root):
    """The buffer whose root is this table. What a table leads to stands behind it."""
    out = bytearray(4)

    def pad(to, ahead=0):
        out.extend(bytes(-(len(out) + ahead) % to))

    def put(value):
        if isinstance(value, str):
            pad(4)
            at, data = len(out), value.encode()
            out.extend(struct.pack("<I", len(data)) + data + b"\0")
            return at
        if isinstance(value, Structs):
            pad(8, ahead=4)
            at = len(out)
            out.extend(struct.pack("<I", len(value)) + b"".join(struct.pack("<qq", *pair) for pair in value))
            return at
        if isinstance(value, list):
            pad(4)
            at = len(out)
            out.extend(struct.pack("<I", len(value)) + bytes(4 * len(value)))
            for i, child in enumerate(value):
                link(at + 4 + 4 * i, child)
            return at
        fields, inline, references = [0] * (max(value, default=-1) + 1), bytearray(4), []
        for number, field in value.items():
            kind, data = field if isinstance(field, tuple) else ("I", 0)
            packed = struct.pack("<" + kind, data)
            inline.extend(bytes(-len(inline) % len(packed)))
            fields[number] = len(inline)
            if not isinstance(field, tuple):
                references.append((len(inline), field))
            inline.extend(packed)
        head = struct.pack(f"<HH{len(fields)}H", 4 + 2 * len(fields), len(inline), *fields)
        pad(8, ahead=len(head))
        at = len(out) + len(head)
        inline[:4] = struct.pack("<i", len(head))
        out.extend(head + inline)
        for within, child in references:
            link(at + within, child)
        return at

    def link(at, child):
        out[at : at + 4] = struct.pack("<I", put(child) - at)

    link(0, root)
    return bytes(out)


def message(kind, head, body=b"", **fields):
    """`fields` changes fields of the message, by number."""
    table = Flat({0: ("h", 4), 1: ("B", kind), 2: head, 3: ("q", len(body))})
    data = flat(Flat(table | {int(number[1:]): value for number, value in fields.items()}))
    data += bytes(-len(data) % 8)
    return struct.pack("<iI", -1, len(data)) + data + body


def field(name, kind, children=(), kind_table=None):
    return Flat({0: name, 1: ("?", True), 2: ("B", kind), 3: kind_table or Flat(), 5: list(children)})


FIELDS = [field("image", STRUCT, [field("bytes", BINARY), field("path", UTF8)]),
          field("label", INT, (), Flat({0: ("i", 64), 1: ("?", True)}))]  # fmt: skip
FEATURES = {"info": {"features": {"image": {"_type": "Image"}, "label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}


def schema(fields=None, features=None, **more):
    text = features if isinstance(features, str) else json.dumps(FEATURES if features is None else features)
    pairs = [Flat({0: "huggingface", 1: text})]
    table = Flat({1: FIELDS if fields is None else fields, 2: pairs})
    return message(SCHEMA, Flat(table | {int(number[1:]): value for number, value in more.items()}))


def buffers_of(rows):
    """The buffers of rows (image, path, label): each but the first two says which values are there."""
    bits = lambda there: sum(1 << i for i, one in enumerate(there) if one).to_bytes((len(there) + 7) // 8, "little")  # noqa: E731
    out = [bits([row[0] is not None or row[1] is not None for row in rows])]
    for at in (0, 1):
        ends = [0]
        for row in rows:
            ends.append(ends[-1] + len(row[at] or b""))
        out += [bits([row[at] is not None for row in rows]), struct.pack(f"<{len(ends)}i", *ends), b"".join(row[at] or b"" for row in rows)]
    return [*out, bits([row[2] is not None for row in rows]), struct.pack(f"<{len(rows)}q", *(row[2] or 0 for row in rows))]


def batch(rows, places=None, nodes=None, count=None, change=None, packed=False, **more):
    """A batch of rows. `places` and `nodes` are in place of the right ones; `change` changes the buffers. `packed`: it says that zstd was
    used, of each buffer that it was not."""
    buffers = buffers_of(rows)
    if packed:
        buffers = [struct.pack("<q", -1) + buffer if buffer else buffer for buffer in buffers]
    if change:
        change(buffers)
    body, right = b"", Structs()
    for buffer in buffers:
        right.append((len(body), len(buffer)))
        body += buffer + bytes(-len(buffer) % 8)
    table = Flat({0: ("q", len(rows) if count is None else count), 1: nodes or Structs([(len(rows), 0)] * 4),
                  2: places(right) if places else right} | ({3: Flat({0: ("b", 1)})} if packed else {}))  # fmt: skip
    return message(BATCH, table, body, **more)


def arrow(*messages, end=END):
    return b"".join(messages) + end


def table(*groups):
    return arrow(schema(), *(batch(rows) for rows in groups))
