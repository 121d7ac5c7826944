# SPDX-License-Identifier: Apache-2.0
"""Stores of people who want to read what is not theirs, through a daemon of root: SEMANTICS.md, R12, A4 and A5. And what augurfs says
before the mount is used: R13 and A6."""

import errno
import os
import shutil
import tarfile

import pytest

from mounts import mount_rows
from patience import PATIENCE_S
from program_runs import NOBODY, as_user, run
from skips import needs_root
from system_calls import errno_of

pytestmark = needs_root

TEXT = b"what is in the tar"


@pytest.fixture
def tar(room):
    """A tar of mallory's (nobody's), in a folder of its own."""
    folder = room / "tars"
    folder.mkdir()
    (room / "a").write_bytes(TEXT)
    with tarfile.open(folder / "t.tar", "w") as file:
        file.add(room / "a", arcname="a")
    for path in (folder, folder / "t.tar"):
        os.chown(path, NOBODY, NOBODY)
    return folder / "t.tar"


def give(store, uid=NOBODY):
    for path in (store, *store.iterdir()):
        os.chown(path, uid, uid, follow_symlinks=False)
    return store


def adopt(augurpack, room, tar, *options):
    done = run([augurpack, "adopt", "--quiet", *options, tar, room / "store"])
    assert done.returncode == 0, done.stderr
    return room / "store"


def plant(path, target):
    """A symbolic link in the place of a file."""
    path.unlink()
    path.symlink_to(target)


def said(process, *words):
    process.terminate()
    _, errors = process.communicate(timeout=PATIENCE_S)
    for word in words:
        assert word in errors.decode(), errors


def read(path):
    with open(path, "rb") as file:
        return file.read()


# ---- files that are not the owner's (each attack reads all of the file, or of the tar that has its size)

LOCATORS = pytest.mark.parametrize("options", [[], ["--absolute"]], ids=["relative", "absolute"])


@LOCATORS
def test_a_file_of_another_is_not_read(augurpack, room, mounts, point, tar, options):
    """The store was made when the file could be read, or its locator was written by hand."""
    store = give(adopt(augurpack, room, tar, *options))
    os.chown(tar, 0, 0)
    os.chmod(tar, 0o600)
    process = mounts.foreground(store, point, "allow_other")
    done = run([*as_user(), "cat", point / "a"])
    assert (done.returncode, done.stdout) == (1, ""), done
    assert errno_of(read, point / "a") == errno.EIO
    said(process, f"user {NOBODY}", "t.tar")


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_leads_to_nothing_that_the_owner_may_not_read(augurpack, room, mounts, point, tar, what):
    secret = room / "secret"
    secret.mkdir(mode=0o700)
    shutil.copy(tar, secret)
    store = give(adopt(augurpack, room, tar))
    if what == "file":
        plant(tar, secret / "t.tar")
    else:
        tar.rename(room / "moved")
        tar.parent.rmdir()
        tar.parent.symlink_to(secret)
    mounts.mount(store, point, "allow_other")
    assert errno_of(read, point / "a") == errno.EIO


def test_own_shards_are_no_way_out(augurpack, room, mounts, point, own_store):
    secret = room / "secret"
    secret.mkdir(mode=0o700)
    (shard,) = own_store.glob("shard-*")
    shutil.copy(shard, secret)
    give(own_store)
    plant(shard, secret / shard.name)
    mounts.mount(own_store, point, "allow_other")
    assert errno_of(read, point / "hello.txt") == errno.EIO


def test_augurpack_reads_with_the_owners_rights(augurpack, room, tar):
    store = give(adopt(augurpack, room, tar))
    os.chown(tar, 0, 0)
    os.chmod(tar, 0o600)
    done = run([augurpack, "verify", store])
    assert done.returncode == 1 and f"user {NOBODY}" in done.stdout + done.stderr, done
    done = run([augurpack, "extract", "--quiet", store, room / "out"])
    assert done.returncode == 2 and not (room / "out" / "a").exists(), done


# ---- what goes on working


@LOCATORS
@pytest.mark.parametrize("owner", [NOBODY, 0])
def test_a_file_that_the_owner_may_read_is(augurpack, room, mounts, point, tar, options, owner):
    store = give(adopt(augurpack, room, tar, *options), owner)
    os.chmod(tar, 0o600)
    mounts.mount(store, point, "allow_other")
    assert read(point / "a") == TEXT
    assert run([*as_user(), "cat", point / "a"]).stdout == TEXT.decode()


def test_linked_files_of_the_owner(augurpack, room, mounts, point, own_store):
    """As a cache of downloads has them: each name of the store is a link to a file elsewhere."""
    blobs = room / "blobs"
    blobs.mkdir()
    for number, path in enumerate(sorted(own_store.iterdir())):
        shutil.copy(path, blobs / str(number))
        plant(path, blobs / str(number))
    give(blobs)
    mounts.mount(give(own_store), point, "allow_other")
    assert read(point / "hello.txt") == b"hello, world\n"


def test_a_named_folder_is_read_whoever_owns_the_index(augurpack, room, mounts, point, tar):
    store = give(adopt(augurpack, room, tar))
    os.chown(tar, 0, 0)
    os.chmod(tar, 0o600)
    mounts.mount(store, point, f"foreign={tar.parent}")
    assert read(point / "a") == TEXT


def test_with_a_named_folder_no_other_is_read(augurpack, room, mounts, point, tar):
    store = give(adopt(augurpack, room, tar))
    (room / "other").mkdir()
    process = mounts.foreground(store, point, f"foreign={room}/other")
    assert errno_of(read, point / "a") == errno.EIO
    said(process, "foreign=DIR")


def test_a_user_without_roots_rights_serves_no_file_of_his_own_to_another(augurpack, room, mounts, point, tar, users_may_mount):
    """The daemon of a user mounts a store of another: it has no rights to take, so the modes decide."""
    user, mallory = NOBODY, 4321
    store = give(adopt(augurpack, room, tar), mallory)
    os.chown(point, user, user)
    os.chown(tar, user, user)
    os.chmod(tar, 0o600)
    mounts.mount(store, point, prefix=as_user(user))
    assert run([*as_user(user), "cat", point / "a"]).returncode == 1
    assert run([*as_user(user), "fusermount3", "-u", point]).returncode == 0
    os.chmod(tar, 0o644)
    mounts.mount(store, point, prefix=as_user(user))
    assert run([*as_user(user), "cat", point / "a"]).stdout == TEXT.decode()
    assert run([*as_user(user), "fusermount3", "-u", point]).returncode == 0


# ---- files that hang whoever opens them


@pytest.mark.parametrize("way", ["link", "folder"])
def test_a_shard_in_the_own_mount(augurpack, room, mounts, point, tar, way):
    """The tree has a file with the bytes of the tar, in a shard of the store's own: the mount would wait for itself."""
    store = adopt(augurpack, room, tar)
    more = room / "more"
    more.mkdir()
    shutil.copy(tar, more / "t.tar")
    done = run([augurpack, "append", "--quiet", more, store])
    assert done.returncode == 0, done.stderr
    if way == "link":
        plant(tar, point / "t.tar")
    else:
        tar.unlink()
        tar.parent.rmdir()
        tar.parent.symlink_to(point)
    process = mounts.foreground(store, point)
    assert errno_of(read, point / "a") == errno.EIO
    assert read(point / "t.tar") == read(more / "t.tar")
    said(process, "AugurFS mount")


NAMES = pytest.mark.parametrize("name", ["manifest", "index", "shard", "lock"])


def odd_file(path, kind):
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    else:
        os.mknod(path, 0o600 | 0o020000, os.makedev(4000, 1))  # of no driver: its open would say so


@NAMES
@pytest.mark.parametrize("kind", ["fifo", "device"])
@pytest.mark.parametrize("command", ["info", "verify", "extract", "gc", "append", "mount"])
def test_nothing_waits_for_a_fifo_or_opens_a_device(augurpack, room, mounts, point, small_tree, own_store, name, kind, command):
    (path,) = own_store.glob(name + "*") if name != "lock" else (own_store / "lock",)
    odd_file(path, kind)
    words = {"extract": [own_store, room / "out"], "append": [small_tree, own_store], "mount": []}.get(command, [own_store])
    if command == "mount":
        mounts.start(own_store, point)
        if mount_rows(point):
            errors = errno_of(read, point / "hello.txt") if name == "shard" else 0
            assert errors in (0, errno.EIO)
    else:
        done = run([augurpack, command, *words])
        assert "No such device" not in done.stderr, done
        if name in ("manifest", "index"):
            assert done.returncode in (1, 2) and "not a regular file" in done.stdout + done.stderr, done


# ---- programs and places


def test_extract_makes_no_program_of_root(augurpack, room):
    tree = room / "tree"
    (tree / "folder").mkdir(parents=True)
    (tree / "program").write_bytes(b"#!/bin/sh\n")
    (tree / "program").chmod(0o6755)
    (tree / "folder").chmod(0o3777)
    assert run([augurpack, "create", "--quiet", tree, room / "store"]).returncode == 0
    assert run([augurpack, "extract", "--quiet", room / "store", room / "out"]).returncode == 0
    assert (room / "out" / "program").stat().st_mode & 0o7777 == 0o755
    assert (room / "out" / "folder").stat().st_mode & 0o7777 == 0o1777
    assert run([augurpack, "extract", "--quiet", "--special-modes", room / "store", room / "all"]).returncode == 0
    assert (room / "all" / "program").stat().st_mode & 0o7777 == 0o6755
    assert (room / "all" / "folder").stat().st_mode & 0o7777 == 0o3777


def test_nosymfollow(room, mounts, point, small_store):
    mounts.mount(small_store, point, "nosymfollow")
    assert errno_of(read, point / "link") == errno.ELOOP
    assert os.readlink(point / "link") == "hello.txt"
    assert "nosymfollow" in mount_rows(point)[0]["options"]


def test_nosymfollow_of_a_user_is_obeyed_or_refused(room, mounts, point, small_store, users_may_mount):
    os.chown(point, NOBODY, NOBODY)
    done = mounts.start(small_store, point, "nosymfollow", prefix=as_user())
    if done.returncode == 0:
        assert run([*as_user(), "cat", point / "link"]).returncode == 1
    else:
        assert done.returncode == 2 and "nosymfollow" in done.stderr, done
        assert mount_rows(point) == []


def link_of_another(path, target):
    path.symlink_to(target)
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return path


@pytest.mark.parametrize("where", ["last", "inside"])
def test_root_mounts_through_no_link_of_another(room, mounts, point, small_store, where):
    """A5: one link, as the mount point itself or on the way to it."""
    link = link_of_another(room / "link", point if where == "last" else room)
    typed = link if where == "last" else link / "mount"
    done = mounts.start(small_store, typed)
    assert done.returncode == 2 and "symbolic link" in done.stderr and f"user {NOBODY}" in done.stderr, done
    assert mount_rows(point) == []
    os.chown(link, 0, 0, follow_symlinks=False)
    mounts.points.append(point)
    assert mounts.start(small_store, typed).returncode == 0
    assert (point / "hello.txt").exists()


def test_root_logs_to_no_file_of_another(room, mounts, point, small_store):
    """A5"""
    victim = room / "victim"
    victim.write_text("mine\n", encoding="ascii")
    theirs = room / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    link_of_another(theirs / "link", victim)
    os.link(victim, theirs / "hard")
    link_of_another(room / "folder", theirs)
    (theirs / "file").touch()
    os.chown(theirs / "file", NOBODY, NOBODY)
    for log in (theirs / "link", theirs / "hard", theirs / "file", room / "folder" / "new"):
        done = mounts.start(small_store, point, f"log={log}")
        assert done.returncode == 2 and f"user {NOBODY}" in done.stderr or "another name" in done.stderr, done
        assert mount_rows(point) == []
    assert victim.read_text(encoding="ascii") == "mine\n" and not (theirs / "new").exists()
    mounts.mount(small_store, point, f"log={theirs}/new")
    assert "mounted" in (theirs / "new").read_text(encoding="utf-8")


def test_root_keeps_orders_behind_no_link_of_another(room, mounts, point, small_store):
    """A5"""
    target = room / "target"
    target.mkdir()
    cache = room / "cache"
    cache.mkdir()
    os.chown(cache, NOBODY, NOBODY)
    link_of_another(cache / "augurfs", target)
    mounts.mount(small_store, point, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    assert (point / "hello.txt").exists()
    assert run(["umount", point]).returncode == 0
    assert list(target.iterdir()) == []


# ---- what the mount tells before it is used


def test_a_missing_shard_is_told_at_the_mount(augurpack, room, mounts, point, own_store):
    """R13, R3"""
    (shard,) = own_store.glob("shard-*")
    shard.unlink()
    done = mounts.start(own_store, point)
    assert done.returncode == 0
    assert "1 of 1 shards cannot be read" in done.stderr and f"{shard}: the shard is missing" in done.stderr, done
    assert errno_of(read, point / "hello.txt") == errno.EIO


def test_of_many_missing_shards_three_are_named(augurpack, room, mounts, point):
    """R13: each of six files has a shard, of which the last one is there."""
    folder = room / "folder"
    folder.mkdir()
    for number in range(6):
        (folder / str(number)).write_bytes(bytes([number]) * 5000)
    store = room / "store"
    assert run([augurpack, "create", "--quiet", "--shard-size=4K", folder, store]).returncode == 0
    *missing, last = sorted(store.glob("shard-*"))
    assert len(missing) == 5
    for shard in missing:
        shard.unlink()
    done = mounts.start(store, point)
    assert done.returncode == 0 and "5 of 6 shards cannot be read" in done.stderr, done
    assert [shard for shard in missing if f"{shard}: the shard is missing" in done.stderr] == missing[:3], done
    assert str(last) not in done.stderr and read(point / "5") == bytes([5]) * 5000


def test_a_foreign_shard_of_another_size_is_told_at_the_mount(augurpack, room, mounts, point, tar):
    """R13"""
    store = adopt(augurpack, room, tar)
    os.truncate(tar, 4096)
    done = mounts.start(store, point)
    assert done.returncode == 0 and "4096 bytes, the index says 10240" in done.stderr, done


def test_a_cache_that_cannot_be_used_is_told_at_the_mount(room, mounts, point, small_store):
    file = room / "file"
    file.write_text("mine")
    done = mounts.start(small_store, point, f"decoded-cache={file}")
    assert done.returncode == 0 and f"decoded-cache: {file}: is not a folder" in done.stderr, done
    assert file.read_text() == "mine"


def test_the_store_is_no_mount_point(room, mounts, own_store):
    """A6"""
    done = mounts.start(own_store, own_store)
    assert done.returncode == 2 and "is the store itself" in done.stderr, done
    assert mount_rows(own_store) == []


def test_a_mount_over_files_is_told(room, mounts, point, small_store):
    """A6"""
    (point / "file").touch()
    done = mounts.start(small_store, point)
    assert done.returncode == 0 and "not empty" in done.stderr, done
    assert (point / "hello.txt").exists() and not (point / "file").exists()
