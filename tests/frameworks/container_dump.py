# SPDX-License-Identifier: Apache-2.0
"""Asks views what they make of images: the program of tests/tools/container_dump.cc, kept running."""

import subprocess


class ContainerDump:
    def __init__(self, program, folder):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pixels, self.exif = folder / "pixels", folder / "exif"

    def ask(self, *words):
        """The answer; a ValueError with its text when it is an error."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line.endswith("\n"), f"container_dump ended at: {words}"
        if line.startswith("error "):
            raise ValueError(line[6:-1])
        return line[:-1]

    def render(self, spec, pixels, out, orientation=0, exif=None):
        """The view's file of an image whose decoded pixels are the array (height x width, x 3 unless grey) to `out`."""
        self.pixels.write_bytes(pixels.tobytes())
        if exif is not None:
            self.exif.write_bytes(exif)
        channels = 1 if pixels.ndim == 2 else 3
        return self.ask("render", spec, pixels.shape[1], pixels.shape[0], channels, orientation, self.pixels,
                        "-" if exif is None else self.exif, out)

    def geometry(self, spec, width, height):
        """((width, height) resized, (width, height) cropped, (left, top) of the crop)."""
        numbers = list(map(int, self.ask("geometry", spec, width, height).split()))
        return tuple(numbers[:2]), tuple(numbers[2:4]), tuple(numbers[4:])

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()
