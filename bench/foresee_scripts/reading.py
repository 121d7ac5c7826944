# SPDX-License-Identifier: Apache-2.0
"""What the scripts of bench/foresee.py and bench/foresee_hot.py share. They read files as they are, or decode them; they keep a pace; and
they note when each file was read.

Told by the environment: FORESEE_NOTES, a file to note in; FORESEE_EPOCHS; FORESEE_RATE, files a second of this process (0: as fast as
they come). Notes are 12 bytes: CLOCK_MONOTONIC and a number of samples, appended by whichever process reads.
"""

import functools
import hashlib
import json
import os
import struct
import sys
import time

NOTE = struct.Struct("<dI")
EPOCHS = int(os.environ.get("FORESEE_EPOCHS", "3"))
RATE = float(os.environ.get("FORESEE_RATE", "0"))
BATCH = 64

# One open file for a process and those that it forks: what is appended at once stays together.
_notes = os.open(os.environ.get("FORESEE_NOTES", os.devnull), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def note(samples=1):
    os.write(_notes, NOTE.pack(time.monotonic(), samples))


def read_bytes(path, work=0):
    """A loader for image folders that does not decode: the size. It hashes what it has read `work` times, to keep a core busy."""
    note()
    with open(path, "rb") as file:
        content = file.read()
    for _ in range(work):
        hashlib.sha256(content).digest()
    return len(content)


def decode(path):
    """A loader that decodes by Pillow: the size of the image."""
    from PIL import Image

    note()
    with open(path, "rb") as file, Image.open(file) as image:
        return sum(image.convert("RGB").size)


def folder(root, work=0, decoded=False):
    from torchvision.datasets import ImageFolder

    return ImageFolder(root, loader=decode if decoded else functools.partial(read_bytes, work=work))


class Pace:
    """Waits so that no more than RATE samples a second pass in an epoch."""

    def __init__(self):
        self.begin()

    def begin(self):
        self.start_s, self.samples = time.monotonic(), 0

    def step(self, samples):
        self.samples += samples
        if RATE:
            time.sleep(max(0.0, self.start_s + self.samples / RATE - time.monotonic()))


def use_up(batches, size=lambda batch: len(batch[1]), after_step=lambda: None):
    """Takes all batches of an epoch, at the pace; how many samples they had. `after_step` is where ranks wait for each other."""
    pace = Pace()
    for batch in batches:
        pace.step(size(batch))
        after_step()
    return pace.samples


def say(epochs):
    """How many samples each epoch had, for who counts the notes."""
    # In one piece: the ranks of a job share the output, and where Python does not buffer, print writes the end of the line by itself.
    sys.stdout.flush()
    os.write(sys.stdout.fileno(), (json.dumps({"epochs": epochs}) + "\n").encode())
