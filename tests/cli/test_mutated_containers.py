# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of containers and archives (tests/fuzz/README.md), for some seconds: a small one of each kind, as it is and damaged."""

import os
import pathlib
import subprocess
import sys

import pytest
from pack_support import PATIENCE_S

MAKER = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "make_containers.py"


def test_damaged_containers(augurpack, tmp_path):
    pytest.importorskip("h5py")
    program = pathlib.Path(augurpack).parents[1] / "tests" / "container_mutate"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    subprocess.run([sys.executable, MAKER, tmp_path / "seeds"], check=True, timeout=PATIENCE_S)
    assert len(list((tmp_path / "seeds").iterdir())) == 23
    done = subprocess.run([program, "4", "1", tmp_path / "seeds"], capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                          env=os.environ | {"TMPDIR": str(tmp_path)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("23 files; mutated: ")
    assert [path.name for path in tmp_path.iterdir()] == ["seeds"]  # a crash leaves what it was tried on
