# SPDX-License-Identifier: Apache-2.0
"""bench/own_script.py and the quickstart with a user's own script, on few photographs. No figure is checked."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from photographs import make_photographs

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import mounts  # noqa: E402
import own_script  # noqa: E402

COUNT = """import pathlib, sys
files = [path for path in pathlib.Path(sys.argv[-1]).rglob("*") if path.is_file() and ".augur" not in path.parts]
assert sys.argv[1] == "--data", sys.argv
print(sum(len(path.read_bytes()) for path in files), "bytes in", len(files), "files")
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return make_photographs(tmp_path_factory.mktemp("own") / "tree", 30)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "count files.py"
    path.write_text(COUNT, encoding="ascii")
    return path


def run(command, tree, work, *options, python=sys.executable):
    done = subprocess.run([python, ROOT / "bench" / "own_script.py", *options, command, tree, work],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    assert str(work) not in pathlib.Path("/proc/self/mountinfo").read_text()
    return done


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: dropping caches")
def test_the_table_has_each_way_or_its_reason(tree, script, tmp_path, monkeypatch):
    """The bucket needs a server of 47 MB, and has tests of its own in tests/remote."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = run(f"'{script}' --data {{}}", tree, tmp_path / "work", "--quick")
    assert done.returncode == 0, done.stderr
    for way in (own_script.FOLDER, *own_script.WAYS):
        (row,) = [line for line in done.stdout.splitlines() if line.startswith((f"{way.what}  ", f"not measured: {way.what}: "))]
        if way == own_script.FOLDER:
            assert re.match(r"folder +[\d.]+ s +- +1.00 +-  -$", row), row
        elif not way.quick:
            assert row == f"not measured: {way.what}: left out by --quick"
        else:
            assert re.match(rf"{re.escape(way.what)} +[\d.]+ s +- +[\d.]+ +-  \S", row) and "failed" not in row, row
    assert (tmp_path / "work" / "epochs.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: dropping caches")
def test_containers_are_made_once_and_adopted(tree, script, tmp_path):
    (tmp_path / "work").mkdir()
    for name in ("tar", "zip"):
        (way,) = [way for way in own_script.WAYS if way.what.startswith(name)]
        arguments = type("Arguments", (), {"script": f"'{script}' --data", "data": str(tree), "work": str(tmp_path / "work"), "quick": True})
        bench = own_script.Bench(arguments)
        with way.place(bench) as (path, point):
            assert path == point and bench.run(path) > 0
            assert sorted(file.read_bytes() for file in pathlib.Path(path).rglob("*.JPEG")) == sorted(file.read_bytes() for file in tree.rglob("*.JPEG"))


def test_a_script_that_fails(tree, tmp_path):
    """Exit status 2, and its last lines; nothing is packed, and nothing else is run."""
    script = tmp_path / "fails.py"
    script.write_text("for i in range(50): print('line', i)\nraise SystemExit('no such thing: ' + __import__('sys').argv[1])", encoding="ascii")
    done = run(script, tree, tmp_path / "work")
    assert done.returncode == 2 and done.stdout == ""
    assert "fails on the folder itself" in done.stderr and f"no such thing: {tree}" in done.stderr
    assert "line 49" in done.stderr and "line 20\n" not in done.stderr and "(exit status 1)" in done.stderr
    assert list((tmp_path / "work").iterdir()) == []


def test_the_folder_alone_is_taken_over(tree, tmp_path):
    """The next run has its figures, if it is of the same command; no later one."""
    script, runs = tmp_path / "names itself.py", tmp_path / "runs"
    script.write_text(f"import sys; open({str(runs)!r}, 'a').write(sys.argv[-1] + '\\n')", encoding="utf-8")
    alone, other = ("--quick", "--folder"), f"'{script}' --other"
    for command, options, on_folder in ((f"'{script}'", alone, 1), (other, ["--quick"], 2), (other, alone, 3), (other, ["--quick"], 3), (other, ["--quick"], 4)):
        done = run(command, tree, tmp_path / "work", *options)
        assert done.returncode == 0 and (done.stdout == "") == (options == alone), done.stderr
        assert runs.read_text(encoding="utf-8").splitlines().count(str(tree)) == on_folder, command


def test_a_module_that_this_python_lacks(tree, tmp_path):
    """Debian's Python runs the script where it has the module, as Pillow here, in each row."""
    mounts.run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty")
    python, script = tmp_path / "empty" / "bin" / "python", tmp_path / "needs.py"
    script.write_text("import PIL", encoding="ascii")
    done = run(script, tree, tmp_path / "work", "--quick", python=python)
    assert done.returncode == 0 and "failed" not in done.stdout, done.stdout + done.stderr
    assert f"{python} has no module PIL. The script is run by {own_script.DEBIANS_PYTHON}, which has it." in done.stderr
    script.write_text("import no_such_module.at_all", encoding="ascii")
    done = run(script, tree, tmp_path / "work", "--quick", python=python)
    assert done.returncode == 2 and "No module named 'no_such_module'" in done.stderr, done.stderr
    assert f"It was run by {python}. " in done.stderr


@pytest.mark.parametrize("words, says", [
    (["--script", "/none/train.py", "--data", "."], "/none/train.py: no such file"),
    (["--script", "no-such-program", "--data", "."], "no-such-program: no such program"),
    (["--script", "true", "--data", "/none"], "/none: no such folder"),
    (["--script", "true"], "--data is missing"),
    (["--data", "."], "--script is missing"),
    (["--script", "true", "--data", "EMPTY"], "there is no file in it"),
])
def test_bad_input(words, says, tmp_path):
    """Told before anything is installed, built or made."""
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "file").touch()
    done = subprocess.run([ROOT / "packaging" / "quickstart.sh", *words], cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("quickstart.sh: ") and says in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="needs /dev/fuse")
def test_the_quickstart_runs_the_script_before_all_that_takes_minutes(tree, script):
    done = subprocess.run([ROOT / "packaging" / "quickstart.sh", "--quick", "--script", f"'{script}' --dota {{}}", "--data", tree],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 2 and "fails on the folder itself" in done.stderr and "'--dota'" in done.stderr, done.stdout + done.stderr
    assert [line[:8] for line in done.stdout.splitlines() if line.startswith("== ")] == ["== 1/4 Y"]


def test_what_the_doctor_says_in_few_words():
    def found(*pairs):
        return [{"name": name, "weight": weight} for name, weight in pairs]
    assert own_script.sentence([]) == "-"
    assert own_script.sentence(found(("nothing-read", "advice"), ("enable-uring", "advice"))) == "it saw no read"
    assert own_script.sentence(found(("not-waiting", "fine"))) == "nothing holds it back"
    assert own_script.sentence(found(("waiting", "problem"), ("kernel", "advice"), ("disk-iops", "problem"))) == "waiting, disk-iops"
