# SPDX-License-Identifier: Apache-2.0
"""augurctl where there is no mount to talk to; tests/mount has those where there is one."""

import os
import socket

import pytest
from cli_support import refuse


@pytest.fixture(params=["hint", "status", "top", "doctor", "report", "warm", "drop", "views", "restart", "reload"])
def command(request, tmp_path):
    """The words of a command; the mount point follows the first."""
    order = tmp_path / "order"
    order.write_text("a\n", encoding="ascii")
    needed = {"hint": ["--order", order], "report": ["-o", tmp_path / "page"]}
    return [request.param, *needed.get(request.param, [])]


def test_what_is_no_mount_of_ours_is_an_error_with_the_cure(augurctl, tmp_path, command):
    for place in (tmp_path, "/proc"):
        error = refuse(2, augurctl, command[0], place, *command[1:])
        assert error.startswith(f"augurctl: {place}: no AugurFS is mounted here") and "findmnt" in error
    missing = tmp_path / "missing"
    assert refuse(2, augurctl, command[0], missing, *command[1:]) == f"augurctl: {missing}: No such file or directory: check the path"
    file = tmp_path / "order-file"
    file.write_text("", encoding="ascii")
    assert refuse(2, augurctl, command[0], file, *command[1:]) == (f"augurctl: {file}: no AugurFS is mounted here; "
                                                                     "'findmnt -t fuse.augurfs' lists the mounts that there are")


def test_a_folder_that_looks_like_a_mount_is_none(augurctl, tmp_path, command):
    """The folder that was packed from a mount, say: nobody is asked because a file says so."""
    (tmp_path / ".augur").mkdir()
    path = tmp_path / "socket"
    (tmp_path / ".augur" / "control").write_text(f"{path}\n", encoding="ascii")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fspath(path))
        listening.listen()
        listening.setblocking(False)
        assert "no AugurFS is mounted here" in refuse(2, augurctl, command[0], tmp_path, *command[1:])
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_an_order_file_that_cannot_be_read_is_named(augurctl, tmp_path):
    missing = tmp_path / "missing"
    assert refuse(2, augurctl, "hint", tmp_path, "--order", missing) == f"augurctl: {missing}: No such file or directory: check the path"
    assert "--order or --sampler is missing" in refuse(2, augurctl, "hint", tmp_path)
