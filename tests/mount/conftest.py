# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of the mount. Whatever a test does, its mounts, processes and files are gone afterwards."""

import os
import pathlib
import shutil
import stat
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
# What these modules assert is told as what a test asserts.
pytest.register_assert_rewrite("control_socket", "daemon_deaths", "program_runs", "rooms", "shared_memory", "skips", "started_mounts",
                               "stores")
from prefetching import DataSet, Prediction  # noqa: E402
from rooms import point, private_room, room, session_room  # noqa: E402, F401
from shared_memory import shared_memory  # noqa: E402, F401
from started_mounts import augurfs, module_mounts, mounted, mounts  # noqa: E402, F401
from stores import own_store, small_store, small_tree, store, tree, view_images, view_images_store  # noqa: E402, F401
from transports import TRANSPORT, transport  # noqa: E402, F401

# Files of tests whose mounts are tried over both transports in any run.
ON_BOTH_TRANSPORTS = {"test_caching", "test_lifecycle", "test_prefetch",
                      "test_views", "test_views_listed", "test_views_names", "test_views_under_load"}


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__ in ON_BOTH_TRANSPORTS and "mounts" in metafunc.fixturenames and TRANSPORT == "default":
        metafunc.parametrize("transport", ["default", "uring"], indirect=True)


@pytest.fixture
def ctl(augurctl, room):
    """augurctl where ordinary users can run it, too."""
    program = room / "augurctl"
    program.write_bytes(pathlib.Path(augurctl).read_bytes())
    program.chmod(0o755)
    return program


@pytest.fixture
def users_may_mount():
    """Opens /dev/fuse to ordinary users, and gives the path of /etc/fuse.conf, which the test may change. Both are put back.
    So is /etc/mtab, without which fusermount3 unmounts nothing: a fresh debootstrap has none."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if shutil.which("fusermount3") is None or shutil.which("setpriv") is None:
        pytest.skip("needs fusermount3 and setpriv")
    conf = pathlib.Path("/etc/fuse.conf")
    mode = stat.S_IMODE(os.stat("/dev/fuse").st_mode)
    text = conf.read_bytes() if conf.exists() else None
    mtab = pathlib.Path("/etc/mtab")
    has_mtab = os.path.lexists(mtab)
    try:
        if not has_mtab:
            mtab.symlink_to("/proc/self/mounts")
        os.chmod("/dev/fuse", 0o666)
        conf.write_text("", encoding="ascii")
        yield conf
    finally:
        os.chmod("/dev/fuse", mode)
        if text is None:
            conf.unlink(missing_ok=True)
        else:
            conf.write_bytes(text)
        if not has_mtab:
            mtab.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def data(augurpack, session_room):
    """A prefetching.DataSet of 600 files, 18 MB: about twice what prefetching.SMALL pushes ahead. Not to be changed."""
    folder = session_room / "prefetch"
    folder.mkdir()
    return DataSet(augurpack, folder, 600, 60_000)


@pytest.fixture
def own_data(augurpack, room):
    """A prefetching.DataSet that a test may change or remove."""
    folder = room / "own"
    folder.mkdir()
    return DataSet(augurpack, folder, 300, 40_000, seed=2)


@pytest.fixture
def ahead(ctl, point):
    """What the mount at `point` predicts, and a reader that it is told of: prefetching.Prediction."""
    return Prediction(ctl, point)
