# SPDX-License-Identifier: Apache-2.0
"""The program pixel_dump: our decoders and resize, asked one command after the other."""

import subprocess

from PIL import Image

VERSION = tuple(map(int, Image.__version__.split(".")[:2]))


class PixelDump:
    """The program, asked one command after the other."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def ask(self, *words, data):
        """(numbers, bytes) or the error's text."""
        self.process.stdin.write(" ".join(map(str, words)).encode() + b"\n" + data)
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode().split()
        if not answer:
            raise EOFError(f"pixel_dump ended: {words}")
        if answer[0] == "error":
            return " ".join(answer[1:])
        numbers = tuple(map(int, answer[1:]))
        size = 1
        for number in numbers:
            size *= number
        return numbers, self.process.stdout.read(size)

    def decode(self, file, keep_grey=False, tolerant=False, scale=1):
        return self.ask("decode", int(keep_grey), int(tolerant), scale, len(file), data=file)

    def resize(self, image, size, filter_number, box=None):
        channels = len(image.getbands())
        words = ["resize", *image.size, channels, *size, filter_number, 12 if VERSION < (13, 0) else 13]
        return self.ask(*words, *([] if box is None else map(repr, box)), data=image.tobytes())

    def encode(self, samples, size, space, quality, progressive, arithmetic, restart, adobe, sampling):
        words = [*size, space, quality, int(progressive), int(arithmetic), restart, int(adobe), *sampling]
        return self.ask("encode", *words, data=samples)[1]
