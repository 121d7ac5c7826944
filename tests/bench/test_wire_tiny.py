# SPDX-License-Identifier: Apache-2.0
"""bench/wire.py on few photographs. No figure is checked."""

import json
import pathlib
import subprocess
import sys

import pytest
from photographs import make_photographs

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import mounts  # noqa: E402

TITLES = ["isatty", "look-up of a cold name", "open().read() in Python, page cache hot", "np.load of a view, page cache hot",
          "images of view h5 by h5py, one reader", *(f"cold reads from the daemon's memory, {threads} threads" for threads in (1, 4, 16))]


@pytest.mark.skipif(not mounts.can_switch_uring(), reason="needs root, and Linux 6.14 with FUSE over io_uring")
def test_each_table_has_both_transports_and_the_switch_is_put_back(tmp_path):
    pytest.importorskip("numpy")
    pytest.importorskip("h5py")
    tree = make_photographs(tmp_path / "tree", 30)
    before = mounts.URING_SWITCH.read_text(encoding="ascii")
    done = subprocess.run([sys.executable, BENCH / "wire.py", "all", "--quick", "--json", "--tree", tree, "--work", tmp_path, "--python", sys.executable],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    assert done.returncode == 0, done.stderr
    assert mounts.URING_SWITCH.read_text(encoding="ascii") == before
    assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    tables = json.loads(done.stdout)["tables"]
    assert [table["title"] for table in tables] == TITLES
    for table in tables:
        assert {"augurfs dev", "augurfs uring"} <= {name.split(",")[0] for name in table["rounds"]}
        assert all(figure > 0 for rounds in table["rounds"].values() for figure in rounds)
