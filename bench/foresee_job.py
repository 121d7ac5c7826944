# SPDX-License-Identifier: Apache-2.0
"""A script of foresee_scripts/ that runs, and when it opened which epoch's files."""

import contextlib
import json
import os
import signal
import struct
import subprocess
import tempfile

import mounts

SCRIPTS = mounts.ROOT / "bench" / "foresee_scripts"
NOTE = struct.Struct("<dI")  # as in foresee_scripts/reading.py


class Job:
    """A script that runs, as one process or as the ranks of torchrun; its notes, and what it prints. `words` are the script and its
    options, `rate` is files a second of each process (0: as fast as they come), `prefix` are words that run it in a control group."""

    def __init__(self, python, words, number, work, point, epochs, rate=0, processes=1, prefix=()):
        self.notes = os.path.join(work, f"notes{number}")
        # Worker processes hang where the names of their sockets are longer than 107 bytes, so it is not below `work`.
        self.temporary = tempfile.TemporaryDirectory(prefix="augur-job.")
        environment = dict(os.environ, FORESEE_NOTES=self.notes, FORESEE_EPOCHS=str(epochs), TMPDIR=self.temporary.name, HF_HOME=work, HF_HUB_OFFLINE="1",
                           FORESEE_RATE=str(rate), CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1")
        launcher = [] if processes == 1 else ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
        script, *options = words
        self.output = open(os.path.join(work, f"output{number}"), "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen([*prefix, python, *launcher, SCRIPTS / script, point, *options], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True, cwd=work)

    def wait(self, seconds):
        if self.process.wait(timeout=seconds) != 0:
            raise RuntimeError(f"exit {self.process.returncode}: {self.said()[-3000:]}")

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.output.close()
        self.temporary.cleanup()

    def epochs(self):
        """Times at which files were opened, of each epoch."""
        times = []
        with open(self.notes, "rb") as file:
            for moment, samples in NOTE.iter_unpack(file.read()):
                times += [moment] * samples
        times.sort()
        counts = [json.loads(line)["epochs"] for line in self.said().splitlines() if line.startswith('{"epochs"')]
        # The ranks are apart by a batch or two: one after the other is near enough.
        ends = [sum(sum(rank[:epoch + 1]) for rank in counts) for epoch in range(len(counts[0]))]
        return [times[begin:end] for begin, end in zip([0, *ends], ends)]
