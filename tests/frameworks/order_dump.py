# SPDX-License-Identifier: Apache-2.0
"""Asks our samplers for their order: the program of tests/tools/order_dump.cc, kept running so that thousands of questions are cheap."""

import subprocess


class OrderDump:
    def __init__(self, program):
        self.program = program
        self.process = subprocess.Popen([program, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, samples, epoch, sampler, *words, count=0):
        """The indices that `sampler` takes in an epoch, all of them for count 0; `words` are those of `augurctl hint`."""
        asked = " ".join(map(str, (samples, epoch, count, "--sampler", sampler, *words)))
        self.process.stdin.write(asked + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line.endswith("\n"), f"order_dump ended at: {asked}"
        assert not line.startswith("error"), f"{asked}: {line}"
        return list(map(int, line.split()))

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()
