# SPDX-License-Identifier: Apache-2.0
"""Writers of container files, each from the published layout and without our code: TFRecord (tensorflow/core/lib/io/record_writer.h,
core/example/*.proto)."""

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
