# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt of tar files in a bucket: the index alone is made, and a mount reads the records where they lie."""

import io
import os
import pathlib
import random
import signal
import subprocess
import tarfile

import faults
import mounts
import pytest
from bucket_support import asked_for, must_run, put_folder, run, while_held

pytestmark = pytest.mark.usefixtures("aws_environment")


def add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(data), 1_600_000_000
    archive.addfile(info, io.BytesIO(data))


@pytest.fixture
def tree(folder):
    """What the tar files hold."""
    return {f"{part}/{number:02}.jpg": random.Random(f"{part}{number}").randbytes(9_000 * number) for part in "abc" for number in range(12)} | {
        "c/large": random.Random(9).randbytes(21 << 20)}


@pytest.fixture
def tars(bucket, tree):
    """data/tars/x-a.tar to x-c.tar, the last of three pieces of 8 MiB; and other objects beside them and below."""
    for part in "abc":
        memory = io.BytesIO()
        with tarfile.open(fileobj=memory, mode="w") as archive:
            for name, data in tree.items():
                if name.startswith(part):
                    add(archive, name, data)
        bucket.put(f"data/tars/x-{part}.tar", memory.getvalue())
    bucket.put("data/tars/x-notes.txt", b"no tar")
    bucket.put("data/tars/below/x-d.tar", b"no tar")
    return f"s3://{bucket.bucket}/data/tars/x-*.tar"


@pytest.fixture
def url(bucket):
    return f"s3://{bucket.bucket}/data/train.augur"


def words(augurpack, *rest, endpoint):
    return [augurpack, "adopt", "--quiet", f"--endpoint-url={endpoint}", *rest]


def adopt(*arguments, **options):
    return run(words(*arguments, **options))


def must_adopt(*arguments, **options):
    must_run(words(*arguments, **options))


def files(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in pathlib.Path(root).rglob("*") if path.is_file()}


def assert_holds(augurpack, url, endpoint, tree, out):
    mounts.run(augurpack, "verify", "--quiet", url, f"--endpoint-url={endpoint}")
    mounts.run(augurpack, "extract", "--quiet", url, out, f"--endpoint-url={endpoint}")
    assert files(out) == tree


def test_the_index_alone_is_made(augurpack, bucket, url, tars, tree, folder, proxy):
    """Each tar is read once, by ranges; nothing but index and manifest is written."""
    must_adopt(augurpack, tars, url, endpoint=proxy.endpoint)
    assert set(bucket.keys("data/train.augur/")) == {"data/train.augur/manifest", "data/train.augur/index-00000001"}
    reads = proxy.requests("GET", ".tar")
    assert len(asked_for(reads)) == 5 and {request.headers["if-match"] for request in reads} and all(request.range for request in reads)
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")
    again = adopt(augurpack, tars, url, endpoint=proxy.endpoint)
    assert again.returncode == 2 and "there is a store already" in again.stderr


def test_a_mount_reads_it(augurpack, bucket, url, tars, tree, folder, s3_server):
    must_adopt(augurpack, tars, url, endpoint=s3_server.endpoint)
    point = pathlib.Path(folder) / "mount"
    point.mkdir()
    with mounts.augurfs(url, point, f"endpoint-url={s3_server.endpoint}", f"foreign=s3://{bucket.bucket}/data/tars"):
        assert {name: data for name, data in files(point).items() if not name.startswith(".augur/")} == tree


@pytest.mark.parametrize("named", [None, "data/tar", "data/tars/x", "other"])
def test_a_mount_reads_no_object_elsewhere_that_was_not_allowed(augurpack, bucket, url, tars, tree, folder, s3_server, named):
    """Whoever made the store must not choose what else the mount's credentials are used for."""
    must_adopt(augurpack, tars, url, endpoint=s3_server.endpoint)
    point = pathlib.Path(folder) / "mount"
    point.mkdir()
    allowed = [f"foreign=s3://{bucket.bucket}/{named}"] if named else []
    done = subprocess.run([mounts.program("augurfs"), url, point, "-o", ",".join([f"endpoint-url={s3_server.endpoint}", *allowed])],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and not os.path.ismount(point)
    assert "the shard lies outside the store's folder" in done.stderr and f"-o foreign=s3://{bucket.bucket}/data/tars\n" in done.stderr


@pytest.mark.parametrize("address, sentence", [("gs://other/x", "gs://"), ("s3://Other/x", "lower-case"), ("/folder", "foreign: ")])
def test_what_cannot_be_allowed(bucket, folder, address, sentence):
    point = pathlib.Path(folder) / "mount"
    point.mkdir()
    done = subprocess.run([mounts.program("augurfs"), f"s3://{bucket.bucket}/x", point, "-o", f"foreign={address}"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and sentence in done.stderr, done.stderr


def test_gc_and_force_leave_the_tars_alone(augurpack, bucket, url, tars, tree, folder, s3_server):
    must_adopt(augurpack, tars, url, endpoint=s3_server.endpoint)
    must_adopt(augurpack, "--force", tars.replace("x-*", "x-[ab]"), f"s3://{bucket.bucket}/data/tars/x-c.tar", url, endpoint=s3_server.endpoint)
    mounts.run(augurpack, "gc", "--quiet", url, f"--endpoint-url={s3_server.endpoint}")
    assert len(bucket.keys("data/tars/")) == 5
    assert not [key for key in bucket.keys("data/train.augur/") if "index-00000001" in key]
    assert_holds(augurpack, url, s3_server.endpoint, tree, pathlib.Path(folder) / "out")


def test_a_store_of_a_folder_that_is_copied_as_it_is(augurpack, bucket, tree, tars, folder, s3_server):
    """Its relative names mean the objects of the same bucket, and none above it."""
    folder = pathlib.Path(folder)
    (folder / "bucket" / "tars").mkdir(parents=True)
    for part in "abc":
        (folder / "bucket" / "tars" / f"x-{part}.tar").write_bytes(bucket.get(f"data/tars/x-{part}.tar"))
    mounts.run(augurpack, "adopt", "--quiet", *sorted((folder / "bucket" / "tars").iterdir()), folder / "bucket" / "store")
    put_folder(bucket, folder / "bucket", "copy")
    url = f"s3://{bucket.bucket}/copy/store"
    assert_holds(augurpack, url, s3_server.endpoint, tree, folder / "out")
    for path in (folder / "bucket" / "store").iterdir():
        bucket.put(path.name, path.read_bytes())
    done = subprocess.run([augurpack, "verify", f"s3://{bucket.bucket}", f"--endpoint-url={s3_server.endpoint}"], capture_output=True, text=True)
    assert done.returncode == 1 and "the shard lies outside the store's bucket" in done.stdout + done.stderr


@pytest.mark.parametrize("fault", [faults.slow_down(share=0.3), faults.ResetInBody(share=0.3), faults.ShortBody(share=0.3)],
                         ids=lambda fault: type(fault).__name__)
def test_a_fault_that_passes_is_not_seen(augurpack, url, tars, tree, folder, proxy, fault):
    with proxy.playing(fault):
        must_adopt(augurpack, tars, url, endpoint=proxy.endpoint)
    assert fault.count
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_a_tar_that_is_replaced_meanwhile(augurpack, bucket, url, tars, proxy):
    held = faults.Hold(only=lambda request: request.method == "GET" and request.path.endswith("x-b.tar"))
    with while_held(proxy, held, words(augurpack, tars, url, endpoint=proxy.endpoint)) as process:
        bucket.put("data/tars/x-b.tar", bucket.get("data/tars/x-a.tar"))
        held.release()
        text = process.stderr.read()
        assert process.wait() == 2
    assert "data/tars/x-b.tar: changed while it was read" in text
    assert not bucket.keys("data/train.augur/")


def test_ctrl_c(augurpack, bucket, url, tars, proxy):
    held = faults.Hold(only=lambda request: request.method == "GET" and request.path.endswith("x-c.tar"))
    with while_held(proxy, held, words(augurpack, tars, url, endpoint=proxy.endpoint)) as process:
        process.send_signal(signal.SIGINT)
        assert "stopped by SIGINT" in process.stderr.read()
        assert process.wait() == 2
    assert not bucket.keys("data/train.augur/")


@pytest.mark.parametrize("tar, store, options, sentence", [
    ("s3://{bucket}/data/tars/y-*.tar", "s3://{bucket}/s", [], "there is no such object"),
    ("s3://{bucket}/data/tars/x-notes.txt", "s3://{bucket}/s", [], "is not an uncompressed tar"),
    ("x.tar", "s3://{bucket}/s", [], "x.tar: a store in a bucket cannot name a file of this machine"),
    ("gs://other-bucket/x.tar", "s3://{bucket}/s", [], "gs://: not a kind of address that is known"),
    ("gs://other-bucket/x.tar", "store", [], "gs://: not a kind of address that is known"),
    ("s3://{bucket}", "store", [], "the address names no file"),
    ("s3://{bucket}/data/tars/x-a.tar?versionId=1", "store", [], "an s3:// address has no query"),
    ("s3://key:secret@{bucket}/x.tar", "store", [], "an s3:// address has no user and no password"),
    ("s3://{bucket}/data/tars/x-a.tar", "http://127.0.0.1:9/s", [], "a web server takes no files"),
    ("s3://{bucket}/data/tars/*.tar", "s3://{bucket}/s", ["--absolute"], "--absolute is for files and stores in folders"),
    ("x.tar", "store", ["--work-dir=/tmp"], "--work-dir is for stores in a bucket"),
])
def test_what_does_not_go_together(augurpack, bucket, tars, folder, s3_server, tar, store, options, sentence):
    done = subprocess.run(words(augurpack, *options, tar.format(bucket=bucket.bucket), store.format(bucket=bucket.bucket), endpoint=s3_server.endpoint),
                          cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 2 and sentence in done.stderr, done.stderr
    assert not bucket.keys("s/")
