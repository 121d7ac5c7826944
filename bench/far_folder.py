# SPDX-License-Identifier: Apache-2.0
"""A folder as the file system of a server far away (tests/tools/far_folder.cc). Nothing is left when it ends, also after a failure."""

import contextlib
import json
import subprocess

from mounts import unmount

PATIENCE_S = 30


class FarFolder:
    """Mounts the folder at a point, for as long as the context lasts."""

    def __init__(self, program, folder, point, *options):
        self.words = [str(word) for word in (program, folder, point, *options)]
        self.point = point
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()

    def start(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if line != "ready\n":
            self.end()
            raise RuntimeError(f"far_folder: {line!r}")

    def end(self):
        """As a server that goes away for good: the mount is gone, too."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=PATIENCE_S)
        finally:
            self.crash()
            unmount(self.point, patience_s=0)

    def crash(self):
        """The mount stays, and whatever is open or asked for in it gives ENOTCONN."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()

    def tell(self, command):
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def counters(self):
        """What came since they were asked for last: "opens", "reads", "bytes", and "in_flight_max"."""
        return json.loads(self.tell("counters"))
