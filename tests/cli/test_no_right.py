# SPDX-License-Identifier: Apache-2.0
"""What augurpack says to a user who has no right to read or write: the cause, and what to do; and it leaves nothing."""

import os

import pytest
from pack_support import run, write

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")

AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
WRITE = "this user may not write there: choose another folder"
READ = "this user may not do that: run it as a user who may, or let the owner change the rights"


@pytest.fixture
def place(augurpack, tmp_path):
    """Folders of root: a source and a store that all may read, and an empty folder."""
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    write(tmp_path / "top" / "a.jpg", b"1")
    (tmp_path / "empty").mkdir()
    (tmp_path / "closed").mkdir(mode=0o700)
    write(tmp_path / "secret.jpg", b"2", mode=0o600)
    (tmp_path / "scratch").mkdir()
    os.chown(tmp_path / "scratch", 65534, 65534)
    run(augurpack, "create", "--quiet", tmp_path / "top", tmp_path / "store")
    return tmp_path


@pytest.mark.parametrize("words, says", [
    (["append", "top", "store"], f"store/lock: Permission denied: {WRITE}"),
    (["create", "--force", "top", "store"], f"store/lock: Permission denied: {WRITE}"),
    (["create", "top", "empty"], f"empty/lock: Permission denied: {WRITE}"),
    (["create", "top", "new"], f"new: cannot make the folder: Permission denied: {WRITE}"),
    (["create", "--decode=npy+size=8", "top", "new"], f"Permission denied: {WRITE}"),
    (["create", "--decode=tar+shards=1", "top", "new"], f"Permission denied: {WRITE}"),
    (["gc", "store"], f"store/lock: Permission denied: {WRITE}"),
    (["extract", "store", "new"], f"new: Permission denied: {READ}"),
    (["extract", "store", "closed"], f"closed: Permission denied: {READ}"),
    (["create", "closed", "scratch/new"], f"closed: Permission denied: {READ}"),
    (["create", "secret.jpg", "scratch/new"], f"secret.jpg: Permission denied: {READ}"),
    (["adopt", "secret.jpg", "scratch/new"], f"secret.jpg: Permission denied: {READ}"),
    (["info", "closed"], "only users who may read the store can use it"),
])
def test_the_cause_and_the_cure(augurpack, place, words, says):
    paths = [word if word.startswith("--") else place / word for word in words[1:]]
    done = run(*AS_USER, augurpack, words[0], *paths, ok=(2,))
    assert says in done.error and done.error.count("\n") == 1, done.error
    assert done.stdout == b""
    assert sorted(path.name for path in place.iterdir()) == ["closed", "empty", "scratch", "secret.jpg", "store", "top"]
    assert os.listdir(place / "scratch") == os.listdir(place / "empty") == []
