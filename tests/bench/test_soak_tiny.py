# SPDX-License-Identifier: Apache-2.0
"""bench/soak.py for seconds, and that each of its checks finds what it is for."""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import types

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import soak  # noqa: E402
import soak_checks  # noqa: E402
import soak_data  # noqa: E402
from soak_faults import Faults, plan  # noqa: E402

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: namespaces and mounts")


def run(work, *words):
    # The figure of augurctl status is for a machine that does nothing else.
    words = [sys.executable, BENCH / "soak.py", "--files", "60", "--status-s", "60", "--work", work, "--json", work / "report", *words]
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)


def clocks():
    """What libfaketime keeps of processes."""
    return sorted(path.name for path in pathlib.Path("/dev/shm").glob("*faketime*"))


@needs_root
def test_a_short_soak(tmp_path):
    before = clocks()
    done = run(tmp_path, "--minutes", "0.4", "--seed", "1", "--only", "kill", "restart", "reload", "disk_errors", "drop")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report").read_text())
    assert set(report["faults"]) == {"kill", "restart", "reload", "disk_errors", "drop"} and report["restarts"] > 0
    assert report["compared"] > 0 and report["problems"] == []
    assert all(report["readers"][kind]["reads"] > 0 for kind in soak.READERS), report
    assert clocks() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report"] and str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text()


def test_the_same_seed_plays_the_same_faults():
    names = [name.removeprefix("do_") for name in dir(Faults) if name.startswith("do_")]
    first, second = (list(itertools.islice(plan(names, 3), 2 * len(names))) for _ in range(2))
    assert first == second != list(itertools.islice(plan(names, 4), 2 * len(names)))
    assert sorted(name for name, _ in first[:len(names)]) == sorted(names)


def test_an_unknown_fault_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        soak.parse(["--minutes", "1", "--only", "flood"])
    assert ended.value.code == 2 and "no such fault: flood" in capsys.readouterr().err


@pytest.fixture
def room(tmp_path):
    """A folder in the place of the mount, and a table of what is in it."""
    (tmp_path / "mount").mkdir()
    contents = {}
    for name in ("right", "wrong", "gone"):
        (tmp_path / "mount" / name).write_bytes(name.encode())
        contents[name] = [soak_data.digest(name.encode())]
    (tmp_path / "mount" / "wrong").write_bytes(b"wronG")
    (tmp_path / "mount" / "gone").unlink()
    (tmp_path / "table.json").write_text(json.dumps({"contents": contents, "views": {}}))
    return tmp_path


def test_all_files_are_compared(room):
    data = types.SimpleNamespace(contents=json.loads((room / "table.json").read_text())["contents"], views={})
    wrong, gone = soak_checks.compare_all(room / "mount", data)
    assert wrong == "wrong" and gone.startswith("gone: ")


@pytest.mark.parametrize("kind", ["loader", "walk", "jump"])
def test_a_reader_tells_what_is_wrong(room, kind):
    if kind == "loader":
        pytest.importorskip("torch", reason="framework not installed: torch")
    reader = subprocess.Popen([sys.executable, BENCH / "soak_reader.py", kind, room, "1"], stderr=subprocess.PIPE, text=True)
    problems = room / f"{kind}.problems"
    end_s = time.monotonic() + 120
    try:
        while not (problems.exists() and len({json.loads(line)["text"] for line in problems.read_text().splitlines()}) >= 2):
            assert reader.poll() is None and time.monotonic() < end_s, reader.stderr.read()
            time.sleep(0.05)
    finally:
        (room / "stop").touch()
        said = reader.communicate(timeout=60)[1]
    texts = {json.loads(line)["text"] for line in problems.read_text().splitlines()}
    assert reader.returncode == 0 and "wrong: wrong bytes" in texts, said
    assert any("gone" in text for text in texts) and not any("right" in text for text in texts)


@pytest.mark.parametrize("when, error, is_told", [(5, "EIO", False), (12, "EIO", False), (20, "EIO", True), (5, "ENOTCONN", True), (5, "", True)])
def test_an_error_is_expected_where_the_disk_failed_alone(tmp_path, when, error, is_told):
    one = soak.Soak(tmp_path, None)
    one.storms = [(0, 10)]
    (tmp_path / "walk.problems").write_text(json.dumps({"time": when, "error": error, "text": "x"}) + "\n")
    one.look_at_problems("walk")
    assert one.problems == (["walk: x"] if is_told else [])
    one.look_at_problems("walk")
    assert len(one.problems) == is_told


@pytest.mark.parametrize("base_s, found", [(soak_checks.WARM_S, ["kilobytes", "descriptors", "threads"]), (60, ["descriptors", "threads"])])
def test_growth_is_found(base_s, found):
    growth = soak_checks.Growth(base_s)
    growth.note({"daemon": {"kilobytes": 100 << 10, "descriptors": 40, "threads": 20}})
    growth.begun_s -= base_s
    growth.note({"daemon": {"kilobytes": 117 << 10, "descriptors": 51, "threads": 20}})
    assert growth.problems() == []
    growth.note({"daemon": {"kilobytes": 119 << 10, "descriptors": 53, "threads": 25}})
    assert [text.split()[1] for text in growth.problems()] == found


def test_a_thread_that_waits_too_long_is_found(monkeypatch):
    """A thread of this process in the place of one of ours, asleep; its state is what is looked for here."""
    monkeypatch.setattr(soak_checks, "STUCK_STATE", "S")
    wait = threading.Event()
    thread = threading.Thread(target=wait.wait)
    thread.start()
    try:
        stuck = soak_checks.Stuck(types.SimpleNamespace(by_name=lambda: {"daemon": [os.getpid()]}))
        task = f"/proc/{os.getpid()}/task/{thread.native_id}"
        while task not in stuck.since_s:  # it has begun to wait
            assert stuck.look() == []
        stuck.since_s[task] -= soak_checks.STUCK_S + 1
        assert task in stuck.look() and stuck.longest_s > soak_checks.STUCK_S
    finally:
        wait.set()
        thread.join()
