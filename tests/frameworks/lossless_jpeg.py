# SPDX-License-Identifier: Apache-2.0
"""Writes lossless JPEGs (SOF3 of ITU-T T.81, Annex H), which Pillow reads and does not write, for pixels_compare.py."""

import struct

# How many codes there are of each length from 1 to 16; each number of bits has a code of its own.
EVEN = bytes([0, 0, 0, 15, 0, 2] + [0] * 10)
UNEVEN = bytes([1] * 14 + [0, 3])
PREDICTORS = {
    1: lambda a, b, c: a, 2: lambda a, b, c: b, 3: lambda a, b, c: c, 4: lambda a, b, c: a + b - c,
    5: lambda a, b, c: a + ((b - c) >> 1), 6: lambda a, b, c: b + ((a - c) >> 1), 7: lambda a, b, c: (a + b) >> 1,
}


def codes(counts, values):
    """{value: (code, its length)} of a Huffman table, as Annex C of ITU-T T.81 makes it."""
    code, found, rest = 0, {}, list(values)
    for length, count in enumerate(counts, 1):
        for _ in range(count):
            found[rest.pop(0)] = (code, length)
            code += 1
        code <<= 1
    return found


class Bits:
    def __init__(self):
        self.out, self.number, self.count = bytearray(), 0, 0

    def put(self, value, count):
        self.number, self.count = self.number << count | value, self.count + count
        while self.count >= 8:
            byte = self.number >> (self.count - 8) & 0xFF
            self.out += bytes([byte, 0]) if byte == 0xFF else bytes([byte])
            self.count -= 8
            self.number &= (1 << self.count) - 1

    def fill(self):
        self.put((1 << -self.count % 8) - 1, -self.count % 8)


def segment(code, body):
    return bytes([0xFF, code]) + struct.pack(">H", len(body) + 2) + body


def scan(planes, size, components, names, predictor, shift, restart_rows, table):
    """The planes of these components, coded together. Those of `planes` are rows of samples before the point transform."""
    width, height = size
    out = segment(0xDA, bytes([len(components)]) + b"".join(bytes([names[i], 0]) for i in components) + bytes([predictor, 0, shift]))
    bits, first = Bits(), 0
    for y in range(height):
        if restart_rows and y and y % restart_rows == 0:
            bits.fill()
            bits.out += bytes([0xFF, 0xD0 + (y // restart_rows - 1) % 8])
            first = y
        for x in range(width):
            for i in components:
                row, above = planes[i][y], planes[i][y - 1]
                if y == first:
                    guess = row[x - 1] if x else 1 << (7 - shift)
                else:
                    guess = PREDICTORS[predictor](row[x - 1], above[x], above[x - 1]) if x else above[0]
                difference = (row[x] - guess + 32768) % 65536 - 32768
                count = 16 if difference == -32768 else abs(difference).bit_length()
                bits.put(*table[count])
                if 0 < count < 16:
                    bits.put(difference if difference > 0 else difference + (1 << count) - 1, count)
    bits.fill()
    return out + bytes(bits.out)


def encode(image, predictor=1, shift=0, restart_rows=0, apart=False, names=(1, 2, 3, 4), head=b"", counts=EVEN, values=range(17)):
    """An image of Pillow, L, RGB or CMYK. `apart`: each component has a scan. `head`: segments in front of the frame. `counts`,
    `values`: the Huffman table."""
    width, height = image.size
    count = len(image.getbands())
    planes = [[[sample >> shift for sample in plane[y * width : (y + 1) * width]] for y in range(height)]
              for plane in (band.tobytes() for band in image.split())]
    out = b"\xff\xd8" + head + segment(0xC4, b"\0" + counts + bytes(values))
    out += segment(0xC3, struct.pack(">BHHB", 8, height, width, count) + b"".join(bytes([names[i], 0x11, 0]) for i in range(count)))
    if restart_rows:
        out += segment(0xDD, struct.pack(">H", restart_rows * width))
    for components in [[i] for i in range(count)] if apart else [range(count)]:
        out += scan(planes, image.size, components, names, predictor, shift, restart_rows, codes(counts, values))
    return out + b"\xff\xd9"
