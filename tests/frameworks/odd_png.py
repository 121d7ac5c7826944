# SPDX-License-Identifier: Apache-2.0
"""PNGs that break the rules of the format, one or two at a time, for pixels_compare.py.

Every file is built from a sound one by changes of its chunks, with checksums that fit unless the checksum is the change. Where Pillow
and ours may differ is the section "Where Pillow refuses" of src/decode/PIXELS.md; `only_pixels` makes that a comparison.
"""

import struct
import zlib

MAGIC = b"\x89PNG\r\n\x1a\n"
PIXELS = (b"IDAT", b"DDAT")
TEXT_MAX = 1 << 20  # PngImagePlugin.MAX_TEXT_CHUNK


def chunk(name, body, crc_change=0):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body) ^ crc_change)


def split(file):
    """[(name, body, checksum that is there)], of a sound file."""
    chunks, at = [], len(MAGIC)
    while at + 12 <= len(file):
        size = int.from_bytes(file[at : at + 4], "big")
        chunks.append((file[at + 4 : at + 8], file[at + 8 : at + 8 + size], 0))
        at += 12 + size
    return chunks


def join(chunks):
    return MAGIC + b"".join(chunk(name, body, change) for name, body, change in chunks)


def only_pixels(file):
    """The file with its ancillary chunks left out, and all that stands behind its pixels. A cut chunk of pixels ends with the
    file. An IDAT in front of the header is no pixels to Pillow."""
    at, out, header, pixels = len(MAGIC), file[: len(MAGIC)], False, False
    while at + 8 <= len(file):
        size, name = int.from_bytes(file[at : at + 4], "big"), file[at + 4 : at + 8]
        whole = file[at : at + 12 + size]
        if pixels and name not in PIXELS:
            break
        header = header or name == b"IHDR"
        pixels = pixels or (header and name == b"IDAT")
        if not name[0] & 0x20 or name == b"fdAT":
            out += whole if len(whole) == 12 + size or not pixels else chunk(name, whole[8:])
        at += len(whole)
    return out


def kind(file):
    """(colour type, bits) of a PNG, by the last header in front of its pixels; None of each of what has none."""
    at = file.rfind(b"IHDR", 0, file.find(b"IDAT", max(0, file.find(b"IHDR")))) if file.startswith(MAGIC) else -1
    return (file[at + 13], file[at + 12]) if 0 <= at < len(file) - 13 else (None, None)


def ancillary(rng):
    """A chunk that makes no pixels, sound or not; what Pillow refuses is among them."""
    bomb = zlib.compress(bytes(TEXT_MAX + rng.choice((0, 1, 1000))))
    return rng.choice((
        lambda: (b"sRGB", bytes(rng.randrange(2))), lambda: (b"pHYs", bytes(rng.choice((0, 4, 8, 9, 10)))),
        lambda: (b"cHRM", bytes(rng.choice((0, 8, 31, 32, 40)))), lambda: (b"gAMA", bytes(rng.choice((0, 3, 4, 5)))),
        lambda: (b"tRNS", bytes(rng.choice((0, 1, 2, 5, 6, 300)))), lambda: (b"bKGD", bytes(rng.randrange(8))),
        lambda: (b"hIST", b""), lambda: (b"tIME", b""), lambda: (b"sBIT", b""), lambda: (b"eXIf", rng.randbytes(rng.randrange(30))),
        lambda: (b"iCCP", b""), lambda: (b"iCCP", b"name"), lambda: (b"iCCP", b"name\0\x01" + zlib.compress(b"profile")),
        lambda: (b"iCCP", b"name\0\0" + bomb), lambda: (b"iCCP", b"name\0\0junk"), lambda: (b"zTXt", b"key\0\x01text"),
        lambda: (b"zTXt", b"key\0\0" + bomb), lambda: (b"zTXt", b""), lambda: (b"tEXt", b"key without a text"), lambda: (b"tEXt", b""),
        lambda: (b"iTXt", b"key\0\x01\0\0\0" + bomb), lambda: (b"iTXt", b"\xff\0\0\0\0\0\xff"), lambda: (b"ABCD", b"critical, unknown"),
        lambda: (b"acTL", bytes(rng.choice((0, 7)))), lambda: (b"acTL", struct.pack(">II", rng.choice((0, 1, 2)), 0)),
        lambda: (b"fcTL", bytes(rng.choice((0, 25)))),
    ))()


def frame_control(rng, header):
    """An fcTL for the whole image, mostly."""
    width, height = struct.unpack(">II", header[:8])
    left, top = rng.choice(((0, 0), (0, 0), (0, 0), (1, 0), (0, 1)))
    if rng.random() < 0.4:
        width, height = max(1, width - rng.randrange(2)), max(1, height - rng.randrange(2))
    return b"fcTL", struct.pack(">IIIIIHHBB", rng.choice((0, 0, 0, 1)), width, height, left, top, 1, 1, 0, 0)


def first(chunks, name):
    return next((i for i, each in enumerate(chunks) if each[0] == name), None)


def change_stream(rng, data):
    """The compressed pixels, broken or not."""
    kind = rng.randrange(9)
    if kind == 0 and len(data) > 4:  # the Adler-32
        at = len(data) - 1 - rng.randrange(4)
        return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if kind == 1:
        return data[: len(data) - rng.randint(1, min(8, len(data)))]
    if kind == 2:
        return data + rng.randbytes(rng.randint(1, 9))
    if kind in (3, 4):  # rows that are missing, or too many; the first ends where a row does, half the time
        raw = zlib.decompress(data)
        raw = raw[: rng.randrange(len(raw))] if kind == 3 else raw + rng.randbytes(rng.randint(1, 40))
        return zlib.compress(raw, rng.choice((0, 1, 6)))
    if kind == 5:  # a filter that there is not, somewhere
        raw = bytearray(zlib.decompress(data))
        raw[0 if rng.random() < 0.5 else rng.randrange(len(raw))] = rng.choice((5, 6, 255))
        return zlib.compress(bytes(raw))
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + rng.choice((0, 1, 1, 1, 2)) :]


def pieces(rng, data):
    """Its IDAT chunks. Now and then the last bytes are a chunk of their own, and there are empty ones."""
    if rng.random() < 0.5:
        return [(b"IDAT", data, 0)]
    at = len(data) - rng.randint(1, 6) if rng.random() < 0.5 else rng.randrange(len(data) + 1)
    return [(b"IDAT", data[: max(0, at)], 0), *([(b"IDAT", b"", 0)] if rng.random() < 0.3 else []), (b"IDAT", data[max(0, at) :], 0)]


def change_header(rng, chunks):
    at = first(chunks, b"IHDR")
    body = bytearray(chunks[at][1].ljust(13, b"\0"))
    kind = rng.randrange(6)
    if kind == 0:
        body[rng.choice((3, 7, 8, 9, 10, 11, 12))] = rng.choice((0, 1, 2, 3, 4, 6, 8, 16, rng.randrange(256)))
        chunks[at] = (b"IHDR", bytes(body), 0)
    elif kind == 1:
        chunks[at] = (b"IHDR", bytes(body) + rng.randbytes(rng.randint(1, 5)), 0)
    elif kind == 2:
        chunks[at] = (b"IHDR", bytes(body[: rng.randrange(13)]), 0)
    elif kind == 3:  # not the first chunk
        chunks.insert(rng.randint(0, len(chunks) - 1), chunks.pop(at))
    elif kind == 4:
        chunks.insert(at, (b"IHDR", struct.pack(">IIBBBBB", 5, 5, 8, body[9], 0, 0, 0), 0))
    else:
        del chunks[at]


def change_palette(rng, chunks):
    at = first(chunks, b"PLTE")
    size = rng.choice((0, 1, 2, 3, 4, 5, 7, 300, 766, 767, 768, 769, 770, 771, 1000))
    palette = (b"PLTE", rng.randbytes(size), 0)
    if at is None or rng.random() < 0.2:
        chunks.insert(rng.randint(0, first(chunks, b"IDAT") or 0), palette)
    elif rng.random() < 0.8:
        chunks[at] = palette
    else:
        del chunks[at]


def change_chunks(rng, chunks):
    kind = rng.randrange(5)
    at = rng.randrange(len(chunks))
    pixels = first(chunks, b"IDAT")
    place = rng.randint(1, pixels) if pixels and rng.random() < 0.6 else rng.randint(0, len(chunks))
    if kind == 0:
        name, body, _ = chunks[at]
        chunks[at] = (name, body, 1 << rng.randrange(32))
    elif kind == 1:
        name = bytearray(chunks[at][0])
        name[rng.randrange(4)] = rng.choice(b"aZ0_- \x00\x7f\x80\xff")
        chunks[at] = (bytes(name), *chunks[at][1:])
    elif kind == 2 and first(chunks, b"IHDR") is not None and len(chunks[first(chunks, b"IHDR")][1]) >= 8:
        chunks.insert(place, (*frame_control(rng, chunks[first(chunks, b"IHDR")][1]), 0))
        if rng.random() < 0.5:
            chunks.insert(place, (b"acTL", struct.pack(">II", 2, 0), 0))
    elif kind == 3 and rng.random() < 0.3:
        chunks.insert(place, (b"fdAT", rng.randbytes(rng.randrange(9)), 0))
    else:
        chunks.insert(place, (*ancillary(rng), 1 if rng.random() < 0.1 else 0))


def make(rng, sound):
    """One to three changes of the sound file `sound`."""
    chunks = split(sound)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        pixels = first(chunks, b"IDAT")
        kind = rng.randrange(8)
        if kind < 3 and pixels is not None:
            last = pixels
            while last + 1 < len(chunks) and chunks[last + 1][0] in PIXELS:
                last += 1
            data = b"".join(body for _, body, _ in chunks[pixels : last + 1])
            try:
                data = change_stream(rng, data)
            except (zlib.error, ValueError, IndexError):  # it was changed before
                pass
            chunks[pixels : last + 1] = pieces(rng, data)
        elif kind < 4 and first(chunks, b"IHDR") is not None:
            change_header(rng, chunks)
        elif kind < 5:
            change_palette(rng, chunks)
        elif chunks:
            change_chunks(rng, chunks)
    file = join(chunks)
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 2))):  # whatever it hits
        at = rng.randrange(len(file))
        file = file[:at] + bytes([rng.randrange(256)]) + file[at + rng.choice((0, 1, 1, 1, 9)) :]
    if rng.random() < 0.1:
        file = file[: rng.randrange(len(file))]
    return file
