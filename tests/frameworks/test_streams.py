# SPDX-License-Identifier: Apache-2.0
"""What EpochWatch and ProcessTable make of the processes of a real torch DataLoader: streams, jobs and epochs are as the
script itself says."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

import mounts
import pytest

pytest.importorskip("torch")
SCRIPT = pathlib.Path(__file__).resolve().parent / "scripts" / "read_traced.py"


class Traced:
    """A probe, and scripts that tell it of their reads."""

    def __init__(self, folder, probe):
        self.folder, self.scripts, self.fds = folder, [], []
        (folder / "files").mkdir()
        for number in range(300):
            (folder / "files" / str(number)).write_bytes(b"file")
        self.make_fifo("reads")
        with open(folder / "reads", "rb") as reads:
            self.probe = subprocess.Popen([probe], stdin=reads, stdout=subprocess.PIPE, text=True)

    def make_fifo(self, name):
        os.mkfifo(self.folder / name)
        # Held open by us, so that neither end waits for the other, and the probe's input ends when we say.
        self.fds.append(os.open(self.folder / name, os.O_RDWR))

    def start(self, kind, workers, **environment):
        sync = f"sync{len(self.scripts)}"
        self.make_fifo(sync)
        words = [sys.executable, SCRIPT, self.folder / "files", self.folder / "reads", self.folder / sync, kind, workers]
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", **environment)
        self.scripts.append(subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, env=environment))

    def finish(self):
        """What the scripts printed, and the probe's passes: {job: [(set, epoch, new processes, streams)]}."""
        said = []
        for script in self.scripts:
            output, _ = script.communicate(timeout=200)
            assert script.returncode == 0
            said.append(json.loads(output))
        self.close_fds()
        output, _ = self.probe.communicate(timeout=60)
        assert self.probe.returncode == 0
        jobs, job = {}, None
        for line in output.splitlines():
            numbers = list(map(int, line.split()))
            if line.startswith(" "):
                pid, script, rank, world_size, *files = numbers
                jobs[job][-1][3].append((pid, script, rank, world_size, files))
            else:
                job, _, file_set, epoch, new = numbers
                jobs.setdefault(job, []).append((file_set, epoch, new, []))
        return said, jobs

    def close_fds(self):
        while self.fds:
            os.close(self.fds.pop())

    def close(self):
        self.close_fds()
        for process in [*self.scripts, self.probe]:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture
def traced(tmp_path):
    probe = mounts.build_dir() / "tests" / "stream_probe"
    if not probe.exists():
        pytest.skip(f"{probe} is not built")
    with contextlib.closing(Traced(tmp_path, str(probe))) as trace:
        yield trace


def streams_of(passed):
    return {str(pid): files for pid, _, _, _, files in passed[3]}


@pytest.mark.parametrize("kind, workers", [("plain", 0), ("plain", 1), ("plain", 4), ("spawn", 2), ("persistent", 3)])
def test_streams_are_the_workers(traced, kind, workers):
    traced.start(kind, workers)
    (script,), jobs = traced.finish()
    (passes,) = jobs.values()
    assert [(file_set, epoch) for file_set, epoch, _, _ in passes] == [(0, 0), (0, 1), (0, 2)]
    for passed, truth in zip(passes, script["epochs"]):
        assert streams_of(passed) == truth
        assert {stream[1] for stream in passed[3]} == {script["script"]}
    assert [new for _, _, new, _ in passes] == ([1, 1, 1] if kind != "persistent" and workers else [1, 0, 0])


def test_validation_is_another_set(traced):
    traced.start("validation", 2)
    (script,), jobs = traced.finish()
    (passes,) = jobs.values()
    assert [(file_set, epoch) for file_set, epoch, _, _ in passes] == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    assert [streams_of(passed) for passed in passes] == script["epochs"]


def test_ranks_are_one_job(traced):
    for rank in range(2):
        traced.start("ranks", 1, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT="29500")
    scripts, jobs = traced.finish()
    (passes,) = jobs.values()
    # They do not wait for each other here, as ranks that train do: one may be an epoch ahead.
    for rank, script in enumerate(scripts):
        of_rank = [(pid, files) for passed in passes for pid, of, its, size, files in passed[3] if of == script["script"]]
        assert of_rank == [(int(pid), files) for epoch in script["epochs"] for pid, files in epoch.items()]
        assert {(its, size) for passed in passes for _, of, its, size, _ in passed[3] if of == script["script"]} == {(rank, 2)}


def test_two_scripts_are_two_jobs(traced):
    for _ in range(2):
        traced.start("plain", 2)
    scripts, jobs = traced.finish()
    by_script = {passes[0][3][0][1]: passes for passes in jobs.values()}
    assert set(by_script) == {script["script"] for script in scripts}
    for script in scripts:
        assert [streams_of(passed) for passed in by_script[script["script"]]] == script["epochs"]
