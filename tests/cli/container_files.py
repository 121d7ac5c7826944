# SPDX-License-Identifier: Apache-2.0
"""Writers of container files, each from the published layout and without our code: TFRecord (tensorflow/core/lib/io/record_writer.h,
core/example/*.proto), RecordIO (dmlc/recordio.h, mxnet/recordio.py), MDS (streaming/base/format/mds)."""

import json
import random
import struct


def jpeg(seed, size=3000):
    """Bytes that begin and end as a JPEG; no decoder is asked here."""
    return b"\xff\xd8\xff\xe0" + random.Random(seed).randbytes(size) + b"\xff\xd9"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))


def _crc32c_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _crc32c_table()


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, data):
    """A field of a message: bytes, or a number."""
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(value):
    """A Feature of bytes, text, a number, or a list of one of them."""
    values = value if isinstance(value, list) else [value]
    if values and isinstance(values[0], int):
        return field(3, field(1, b"".join(varint(v) for v in values)))
    if values and isinstance(values[0], float):
        return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))
    return field(1, b"".join(field(1, v.encode() if isinstance(v, str) else v) for v in values))


def example(**features):
    """A tf.train.Example; '__' in a key stands for '/'."""
    return field(1, b"".join(field(1, field(1, key.replace("__", "/").encode()) + field(2, feature(value)))
                             for key, value in features.items()))  # fmt: skip


def frame(record):
    length = struct.pack("<Q", len(record))
    return length + masked_crc32c(length) + record + masked_crc32c(record)


def tfrecord(*records):
    return b"".join(frame(record) for record in records)


RECORDIO_MAGIC = struct.pack("<I", 0xCED7230A)


def recordio_part(kind, data):
    return RECORDIO_MAGIC + struct.pack("<I", kind << 29 | len(data)) + data + bytes(-len(data) % 4)


def recordio_record(data):
    """A record, in parts where the magic number stands in it at a whole word; the number itself is left out there."""
    parts, begin = [], 0
    for at in range(0, len(data) - len(data) % 4, 4):
        if data[at : at + 4] == RECORDIO_MAGIC:
            parts.append(recordio_part(2 if parts else 1, data[begin:at]))
            begin = at + 4
    return b"".join(parts) + recordio_part(3 if parts else 0, data[begin:])


def image_record(number, label, image):
    """MXNet's header in front of an image; a list of labels stands behind it."""
    labels = label if isinstance(label, list) else []
    head = struct.pack("<IfQQ", len(labels), 0 if labels else label, number, 0)
    return head + struct.pack(f"<{len(labels)}f", *labels) + image


def recordio(*records):
    return b"".join(recordio_record(record) for record in records)


MDS_NUMBERS = {"int": "<q", "int8": "<b", "int16": "<h", "int32": "<i", "int64": "<q", "uint8": "<B", "uint16": "<H", "uint32": "<I",
               "uint64": "<Q"}  # fmt: skip


def mds_config(columns):
    names = sorted(columns)
    sizes = [struct.calcsize(MDS_NUMBERS[columns[n]]) if columns[n] in MDS_NUMBERS else None for n in names]
    return {"version": 2, "format": "mds", "compression": None, "hashes": [], "size_limit": 1 << 26, "column_names": names,
            "column_encodings": [columns[n] for n in names], "column_sizes": sizes}  # fmt: skip


def mds_sample(columns, sample):
    sizes, values = b"", b""
    for name in sorted(columns):
        value = sample[name]
        if columns[name] in MDS_NUMBERS:
            values += struct.pack(MDS_NUMBERS[columns[name]], value)
        else:
            value = value.encode() if isinstance(value, str) else value
            sizes += struct.pack("<I", len(value))
            values += value
    return sizes + values


def mds_shard(samples, config):
    """A shard of packed samples."""
    text = (config if isinstance(config, str) else json.dumps(config, sort_keys=True)).encode()
    ends = [4 * (len(samples) + 2) + len(text)]
    for sample in samples:
        ends.append(ends[-1] + len(sample))
    return struct.pack(f"<{len(ends) + 1}I", len(samples), *ends) + text + b"".join(samples)


def mds(columns, *samples):
    return mds_shard([mds_sample(columns, sample) for sample in samples], mds_config(columns))
