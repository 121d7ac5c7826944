# SPDX-License-Identifier: Apache-2.0
"""A mount of a store in a bucket, or on a web server, shows the generation that was added there: SEMANTICS.md, L17 and L18."""

import contextlib
import os
import pathlib
import shutil
import subprocess

import mounts
import pytest
from bucket_support import drop_pages, must_run, put_folder

pytestmark = pytest.mark.usefixtures("aws_environment")

CHANGED = "class-1/001 photo.jpg"


def append(augurpack, folder, store, *options):
    source = pathlib.Path(folder) / "source"
    (source / "class-1").mkdir(parents=True)
    (source / CHANGED).write_bytes(b"other bytes")
    (source / "new").write_bytes(b"new")
    must_run([augurpack, "append", "--replace", "--quiet", *options, source, store])


@contextlib.contextmanager
def mounted(url, point, *options):
    """The store, with a holder, without which there is no reload."""
    words = mounts.augurfs_words(mounts.program("augurfs"), url, point, options)
    with mounts.no_memories() as environment, mounts.fuse([*words, "-f"], point, env=environment) as process:
        yield process


def assert_shown(point, old, opened):
    drop_pages(point / "new", point / CHANGED, opened)
    assert (point / "new").read_bytes() == b"new"
    assert (point / CHANGED).read_bytes() == b"other bytes"
    assert os.pread(opened, 1 << 20, 0) == old


@pytest.mark.parametrize("options", [(), ("disk-cache",)])
def test_in_a_bucket(remote_store, point, s3_server, augurpack, augurctl, folder, options):
    """What is open is still read, and a restarted daemon does so, too."""
    endpoint = s3_server.endpoint
    words = [f"disk-cache={folder}/copy" for _ in options]
    with mounted(remote_store.url, point, f"endpoint-url={endpoint}", *words):
        old = (remote_store.tree / CHANGED).read_bytes()
        assert (point / CHANGED).read_bytes() == old and not (point / "new").exists()
        opened = os.open(point / CHANGED, os.O_RDONLY)
        try:
            append(augurpack, folder, remote_store.url, f"--endpoint-url={endpoint}")
            must_run([augurctl, "reload", point])
            assert_shown(point, old, opened)
            must_run([augurctl, "restart", point])
            assert_shown(point, old, opened)
        finally:
            os.close(opened)


def test_on_a_web_server(remote_store, point, https_server, certificate, augurpack, augurctl, folder):
    place = pathlib.Path(https_server.folder) / "train"
    shutil.copytree(remote_store.store, place)
    with mounted(f"{https_server.url}/train", point, f"ca-bundle={certificate.file}"):
        old = (point / CHANGED).read_bytes()
        opened = os.open(point / CHANGED, os.O_RDONLY)
        try:
            append(augurpack, folder, place)
            must_run([augurctl, "reload", point])
            assert_shown(point, old, opened)
        finally:
            os.close(opened)


def test_a_server_that_is_gone(remote_store, point, proxy, augurctl):
    """The command says so, and the generation before is served from the page cache."""
    with mounted(remote_store.url, point, f"endpoint-url={proxy.endpoint}"):
        old = (point / CHANGED).read_bytes()
        for key in [key for key in remote_store.bucket.keys() if key.endswith("/manifest")]:
            remote_store.bucket.delete(key)
        done = subprocess.run([augurctl, "reload", point], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and "manifest" in done.stderr, done
        assert (point / CHANGED).read_bytes() == old
        put_folder(remote_store.bucket, remote_store.store, "data/train.augur")
        assert "nothing to do" in must_run([augurctl, "reload", point])
