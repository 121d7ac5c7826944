# SPDX-License-Identifier: Apache-2.0
"""Writes Parquet files of images from the published layout (parquet-format: README.md, parquet.thrift, Encodings.md) and without our
code, so that a test can make each part of one wrong."""

import gzip
import json
import struct

INT32, INT64, BYTES = 1, 2, 6
OPTIONAL = 1
PLAIN, IDS = 0, 8
NONE, GZIP = 0, 2
MAGIC = b"PAR1"


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def zigzag(value):
    return varint((value << 1) ^ (value >> 63))


class Struct(dict):
    """A struct of Thrift: id -> value. Numbers are i32, or i64 as Long."""


class Long(int):
    pass


def compact(value):
    """(type, bytes) of a value in Thrift's compact protocol."""
    if isinstance(value, bool):
        return (1 if value else 2), b""
    if isinstance(value, Long):
        return 6, zigzag(value)
    if isinstance(value, int):
        return 5, zigzag(value)
    if isinstance(value, (bytes, str)):
        value = value.encode() if isinstance(value, str) else value
        return 8, varint(len(value)) + value
    if isinstance(value, Struct):
        out, last = b"", 0
        for number, field in sorted(value.items()):
            kind, data = compact(field)
            out += bytes([(number - last) << 4 | kind]) + data
            last = number
        return 12, out + b"\0"
    parts = [compact(element) for element in value]
    kind = parts[0][0] if parts else 12
    head = bytes([len(parts) << 4 | kind]) if len(parts) < 15 else bytes([0xF0 | kind]) + varint(len(parts))
    return 9, head + b"".join(data for _, data in parts)


def runs(numbers, width):
    """Each number as a run of one, which the hybrid of runs and bits allows."""
    return b"".join(varint(1 << 1) + number.to_bytes((width + 7) // 8, "little") for number in numbers)


def plain(values):
    return b"".join(struct.pack("<I", len(v)) + v if isinstance(v, bytes) else struct.pack("<q", v) for v in values)


def page(values, depth, codec=NONE, dictionary=None, version=1, **head):
    """A page of values, None where there is none. `head` changes fields of the page's head, by number."""
    levels = runs([0 if value is None else depth for value in values], 2 if depth > 1 else 1)
    there = [value for value in values if value is not None]
    body = plain(there) if dictionary is None else bytes([8]) + runs([dictionary.index(v) for v in there], 8)
    encoding = PLAIN if dictionary is None else IDS
    pack = gzip.compress if codec == GZIP else bytes
    if version == 1:
        body = struct.pack("<I", len(levels)) + levels + body
        data = pack(body)
        fields = {1: 0, 2: len(body), 3: len(data), 5: Struct({1: len(values), 2: encoding, 3: 3, 4: 3})}
    else:
        data = levels + pack(body)
        nulls = len(values) - len(there)
        fields = {1: 3, 2: len(levels) + len(body), 3: len(data),
                  8: Struct({1: len(values), 2: nulls, 3: len(values), 4: encoding, 5: len(levels), 6: 0, 7: codec != NONE})}  # fmt: skip
    fields.update({int(number[1:]): value for number, value in head.items()})
    return compact(Struct(fields))[1] + data


def dictionary_page(values, codec=NONE):
    body = plain(values)
    data = gzip.compress(body) if codec == GZIP else body
    return compact(Struct({1: 2, 2: len(body), 3: len(data), 7: Struct({1: len(values), 2: PLAIN})}))[1] + data


def element(name, **fields):
    return Struct({4: name} | {int(number[1:]): value for number, value in fields.items()})


SCHEMA = [element("schema", _5=2), element("image", _3=OPTIONAL, _5=2), element("bytes", _1=BYTES, _3=OPTIONAL),
          element("path", _1=BYTES, _3=OPTIONAL, _6=0), element("label", _1=INT64, _3=OPTIONAL)]  # fmt: skip
FEATURES = {"info": {"features": {"image": {"_type": "Image"}, "label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}


def chunk(pages, values, codec, **fields):
    return pages, lambda offset: Struct({2: Long(offset), 3: Struct({
        1: BYTES, 2: [PLAIN], 3: ["x"], 4: codec, 5: Long(values), 6: Long(len(pages)), 7: Long(len(pages)), 9: Long(offset)}
        | {int(number[1:]): value for number, value in fields.items()})})  # fmt: skip


def table(rows, codec=NONE, version=1, dictionary=False):
    """The columns of one group of rows (image, path, label)."""
    columns = []
    for at, depth in ((0, 2), (1, 2), (2, 1)):
        values = [row[at] for row in rows]
        words = sorted({value for value in values if value is not None}) if dictionary else None
        pages = dictionary_page(words, codec) if dictionary else b""
        half = len(values) // 2
        for part in (values[:half], values[half:]):
            pages += page(part, depth, codec, words, version)
        columns.append(chunk(pages, len(values), codec))
    return columns


def parquet(groups, schema=SCHEMA, features=FEATURES, row_counts=None, footer=None, more=None):
    """A file of groups of rows: lists of columns as chunk makes them. `footer` changes the bytes of the footer."""
    out, described = MAGIC, []
    for number, columns in enumerate(groups):
        described.append([])
        for pages, describe in columns:
            described[-1].append(describe(len(out)))
            out += pages
    counts = row_counts or [int(columns[0][3][5]) for columns in described]
    fields = {1: 2, 2: schema, 3: Long(sum(counts)), 4: [
        Struct({1: columns, 2: Long(1), 3: Long(count)}) for columns, count in zip(described, counts, strict=True)],
        5: [Struct({1: "other", 2: "x"}), Struct({1: "huggingface", 2: features if isinstance(features, str) else json.dumps(features)})]}  # fmt: skip
    text = compact(Struct(fields | (more or {})))[1]
    text = footer(text) if footer else text
    return out + text + struct.pack("<I", len(text)) + MAGIC
