# SPDX-License-Identifier: Apache-2.0
"""augurpack create --decode SPEC makes what a mount with -o view=SPEC shows: VIEWS.md, Packed."""

import errno
import os
import shutil
import stat
import subprocess
import sys

import pytest
from odd_tree import make_odd_tree, walk
from program_runs import run
from rooms import make_room
from skips import needs_root
from stores import pack

pytest.importorskip("numpy")
pytest.importorskip("PIL.Image")

from view_tree import make_view_tree  # noqa: E402

pytestmark = needs_root

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPECS = ["npy+size=256+crop=224", "npy", "pixels", "pixels+as=ppm", "pixels+as=bmp+all+names=own+size=40x30",
         "npy+size=64+crop=56+layout=chw+dtype=f32+mean=0.485_0.456_0.406+std=0.229_0.224_0.225+tolerant",
         "pixels+size=100+fit=long+filter=lanczos+fast+tolerant"]  # fmt: skip


@pytest.fixture(scope="module")
def hard_store(augurpack):
    """Photographs, odd images, and everything else that a tree can have."""
    room = make_room()
    try:
        for name, make in {"views": make_view_tree, "odd": make_odd_tree}.items():
            (room / "tree" / name).mkdir(parents=True)
            make(room / "tree" / name)
        maker = [sys.executable, os.path.join(ROOT, "bench", "dataset.py"), "--quiet", "--seed", "1", "--files", "60", "--odd"]
        subprocess.run([*maker, room / "tree" / "photographs"], check=True)
        store = pack(augurpack, room / "tree", room / "store")
        shutil.rmtree(room / "tree")
        yield store
    finally:
        shutil.rmtree(room)


def what_it_is(status):
    """As both have it: each file system has sizes of its own for folders, and modes for links."""
    size = 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    mode = stat.S_IFLNK if stat.S_ISLNK(status.st_mode) else status.st_mode
    return mode, status.st_mtime_ns, size


@pytest.mark.parametrize("spec", SPECS)
def test_it_is_what_the_mount_shows(room, mounts, point, augurpack, hard_store, spec):
    done = run([augurpack, "create", "--quiet", "--on-error=skip", "--decode", spec, hard_store, room / "packed"])
    assert done.returncode in (0, 1)
    assert run([augurpack, "verify", "--quiet", room / "packed"]).returncode == 0
    mounts.mount(hard_store, point, f"view={spec}", "memory=256M")
    assert run([augurpack, "extract", "--quiet", room / "packed", room / "again"]).returncode == 0
    shown, packed = walk(point), walk(room / "again")
    unreadable = []
    for path, status in shown.items():
        ours, theirs = (os.path.join(os.fsencode(top), path) for top in (room / "again", point))
        if stat.S_ISREG(status.st_mode):
            try:
                with open(theirs, "rb") as file:
                    wanted = file.read()
            except OSError as error:
                assert error.errno == errno.EIO
                unreadable.append(path)
                continue
            with open(ours, "rb") as file:
                assert file.read() == wanted, path
        elif stat.S_ISLNK(status.st_mode):
            assert os.readlink(ours) == os.readlink(theirs)
    assert ("tolerant" in spec) or any(b"truncated" in path for path in unreadable)
    assert (done.returncode == 1) == bool(unreadable)
    assert done.stderr.count(": left out\n") == len(unreadable)
    for path in unreadable:
        del shown[path]
    assert {path: what_it_is(status) for path, status in packed.items()} == {path: what_it_is(status) for path, status in shown.items()}
    assert len(shown) > 1000
