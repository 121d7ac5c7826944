# SPDX-License-Identifier: Apache-2.0
"""The index of a store on a server: mounted before it is all here, kept for the next mount, and never believed unchecked."""

import errno
import os
import pathlib
import random

import faults
import mounts
import pytest
from bucket_support import asked_for, wait_until
from far_mounts import assert_same_tree

pytestmark = pytest.mark.usefixtures("aws_environment")


def size_of(span):
    first, last = span.removeprefix("bytes=").split("-")
    return int(last) - int(first) + 1


def sizes_asked_for(proxy):
    """Bytes of the ranges of the index."""
    return [size_of(span) for _, span in asked_for(proxy.requests("GET", "index-"))]


@pytest.fixture
def large_index(bucket, proxy, folder):
    """A store of 100,000 files whose index cannot be had in large pieces: its address, its folder, and the fault that holds them."""
    store = pathlib.Path(folder) / "store"
    mounts.run(mounts.program("make_index"), 100_000, store)
    for path in store.iterdir():
        if path.name != "zeros":
            bucket.put(f"large/{path.name}", path.read_bytes())
    held = faults.Hold(only=lambda request: "index-" in request.path and size_of(request.range) > 1 << 20)
    with proxy.playing(held):
        try:
            yield f"s3://{bucket.bucket}/large", store, held
        finally:
            held.release()


def test_the_index_is_kept_for_the_next_mount(remote_store, point, proxy, folder, monkeypatch):
    words = [*mounts.augurfs_words(mounts.program("augurfs"), remote_store.url, point, [f"endpoint-url={proxy.endpoint}"]), "-f"]
    environment = dict(os.environ, XDG_CACHE_HOME=str(pathlib.Path(folder) / "cache"))
    with mounts.fuse(words, point, env=environment):
        assert_same_tree(point, remote_store.tree)
        assert proxy.requests("GET", "index-")
    proxy.forget()
    with mounts.fuse(words, point, env=environment):
        assert_same_tree(point, remote_store.tree)
    assert not proxy.requests("GET", "index-")


DAMAGES = {"entries": lambda copy: copy[:66_000] + bytes([255]) * 1000 + copy[67_000:], "header": lambda copy: bytes(4096) + copy[4096:],
           "end": lambda copy: copy[:-4096] + bytes(4096), "all": lambda copy: random.Random(1).randbytes(len(copy)),
           "half": lambda copy: copy[:len(copy) // 2], "empty": lambda copy: b"", "longer": lambda copy: copy * 2}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_of_the_index_is_not_believed(remote_store, point, proxy, folder, damage):
    """It is made anew: the mount after that asks for nothing."""
    cache = pathlib.Path(folder) / "cache"
    words = [*mounts.augurfs_words(mounts.program("augurfs"), remote_store.url, point, [f"endpoint-url={proxy.endpoint}"]), "-f"]
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache))

    def index_requests():
        proxy.forget()
        with mounts.fuse(words, point, env=environment):
            assert_same_tree(point, remote_store.tree)
        return proxy.requests("GET", "index-")

    assert index_requests()
    (copy,) = (cache / "augurfs").glob("index-*")
    copy.write_bytes(DAMAGES[damage](copy.read_bytes()))
    assert index_requests()
    assert not index_requests()


def test_the_mount_does_not_wait_for_the_index(large_index, point, proxy):
    """It asks for the few parts that it needs, by small requests, and for all else once it answers."""
    url, store, held = large_index
    with mounts.augurfs(url, point, f"endpoint-url={proxy.endpoint}"):
        assert os.listdir(point) == ["train"]
        small = [size for size in sizes_asked_for(proxy) if size <= 1 << 20]
        assert len(small) <= 6 and sum(small) < (store / "index-00000001").stat().st_size / 8
        held.release()
        assert len(os.listdir(point / "train")) == 79  # folders of 1,281 files


def test_a_daemon_that_is_killed_while_the_index_comes(large_index, point, proxy, folder):
    """What is here by then is used, and all of it is right."""
    url, store, held = large_index
    cache = pathlib.Path(folder) / "cache"
    words = [*mounts.augurfs_words(mounts.program("augurfs"), url, point, [f"endpoint-url={proxy.endpoint}", "restart=no"]), "-f"]
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache))
    with mounts.fuse(words, point, env=environment) as process:
        wait_until(lambda: held.count)
        process.kill()
        process.wait()
    held.release()
    (copy,) = (cache / "augurfs").glob("index-*")
    index = (store / "index-00000001").read_bytes()
    assert 0 < copy.stat().st_blocks * 512 < len(index)
    proxy.forget()
    with mounts.fuse(words, point, env=environment):
        assert sum(len(os.listdir(point / "train" / name)) for name in os.listdir(point / "train")) == 100_000
        wait_until(lambda: copy.read_bytes() == index)
    assert sum(sizes_asked_for(proxy)) < len(index)


def test_an_index_that_is_removed_before_it_is_all_here(large_index, bucket, point, proxy, augurpack):
    """A name whose part of the index is missing cannot be read. That is not the same as a name that is not there."""
    url, store, held = large_index
    names = [name for name in mounts.run(augurpack, "ls", "-R", store).splitlines() if name.count("/") == 2]
    with mounts.augurfs(url, point, f"endpoint-url={proxy.endpoint}", "predict=off"):
        bucket.delete("large/index-00000001")
        held.release()
        failures = {}
        for name in names[:: len(names) // 50]:
            try:
                os.stat(point / name)
            except OSError as failure:
                failures[name] = failure.errno
    assert failures and set(failures.values()) == {errno.EIO}, failures
