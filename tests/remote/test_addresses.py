# SPDX-License-Identifier: Apache-2.0
"""Stores that name their tar files by address: in a folder over a bucket, in a bucket over another one, over a web server."""

import base64
import io
import pathlib
import random
import shutil
import subprocess
import tarfile

import mounts
import pytest
from bucket_support import must_run, run
from https_server import HttpsServer

pytestmark = pytest.mark.usefixtures("aws_environment")


@pytest.fixture
def tree():
    """What the tar files hold."""
    return {f"{part}/{number:02}.jpg": random.Random(f"{part}{number}").randbytes(7_000 * number + 1) for part in "ab" for number in range(9)}


def tar_of(tree, part):
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w") as archive:
        for name, data in tree.items():
            if name.startswith(part):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return memory.getvalue()


@pytest.fixture
def tars(other_bucket, tree):
    for part in "ab":
        other_bucket.put(f"tars/x {part}.tar", tar_of(tree, part))
    return f"s3://{other_bucket.bucket}/tars/*.tar"


@pytest.fixture
def store(folder):
    return pathlib.Path(folder) / "store"


def files(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in pathlib.Path(root).rglob("*")
            if path.is_file() and ".augur" not in path.parts}


def refusal(store, point, *options):
    """What the mount says that must fail."""
    words = mounts.augurfs_words(mounts.program("augurfs"), store, point, options)
    done = run(words)
    assert done.returncode != 0
    return done.stderr


def assert_holds(augurpack, store, tree, out, *options):
    must_run([augurpack, "verify", "--quiet", *options, store])
    must_run([augurpack, "extract", "--quiet", *options, store, out])
    assert files(out) == tree


@pytest.fixture(params=["folder", "bucket"])
def place(request, store, bucket):
    """Where the store is: in a folder, or in another bucket than the tar files."""
    return store if request.param == "folder" else f"s3://{bucket.bucket}/data/train.augur"


def test_over_the_tars_of_another_bucket(augurpack, place, tars, tree, folder, point, proxy, other_bucket):
    must_run([augurpack, "adopt", "--quiet", f"--endpoint-url={proxy.endpoint}", tars, place])
    endpoint, allowed = f"endpoint-url={proxy.endpoint}", f"s3://{other_bucket.bucket}/tars"
    assert f"s3://{other_bucket.bucket}/tars/x a.tar" in must_run([augurpack, "info", f"--{endpoint}", place])
    assert must_run([augurpack, "ls", f"--{endpoint}", place, "a"]).splitlines() == sorted(name for name in tree if name.startswith("a"))
    assert_holds(augurpack, place, tree, pathlib.Path(folder) / "out", f"--{endpoint}", f"--foreign={allowed}")
    with mounts.augurfs(place, point, endpoint, f"foreign={allowed}"):
        assert files(point) == tree


@pytest.mark.parametrize("named", [[], ["tars/x"], ["tar"], ["tars/x a.tar"]])
def test_no_request_is_made_that_was_not_allowed(augurpack, place, tars, folder, point, proxy, other_bucket, named):
    """R12: the refusal names the option that is missing, and no request was made to that bucket."""
    must_run([augurpack, "adopt", "--quiet", f"--endpoint-url={proxy.endpoint}", tars, place])
    proxy.forget()
    endpoint, other = f"endpoint-url={proxy.endpoint}", f"s3://{other_bucket.bucket}"
    allowed = [f"foreign={other}/{key}" for key in named]
    for said, option in [
        (refusal(place, point, endpoint, *allowed), "-o foreign="),
        (run([augurpack, "verify", f"--{endpoint}", *(f"--{one}" for one in allowed), place]).stderr, "--foreign="),
        (run([augurpack, "extract", f"--{endpoint}", *(f"--{one}" for one in allowed), place, pathlib.Path(folder) / "out"]).stderr, "--foreign="),
    ]:
        assert "requests to it are not allowed" in said and f"give {option}{other}/tars\n" in said.replace(": nothing", "\n")
    assert not proxy.requests(key=other_bucket.bucket)


def test_over_tars_of_a_web_server(augurpack, store, tree, folder, point, tmp_path, certificate, monkeypatch):
    """The query and the password with which they are read are in no file of the store: they come from whoever reads it."""
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate.file))
    (tmp_path / "my tars").mkdir()
    for part in "ab":
        (tmp_path / "my tars" / f"x+{part}.tar").write_bytes(tar_of(tree, part))
    with HttpsServer(tmp_path, certificate, query="signature=secret", login=("me", "word")) as server:
        host = server.url.removeprefix("https://")
        given = [f"https://me:word@{host}/my%20tars/x+{part}.tar?signature=secret" for part in "ab"]
        must_run([augurpack, "adopt", "--quiet", *given, store])
        assert not any(word in path.read_bytes() for path in store.iterdir() for word in (b"secret", b"word"))
        allowed = f"https://me:word@{host}/my tars?signature=secret"
        assert_holds(augurpack, store, tree, pathlib.Path(folder) / "out", f"--foreign={allowed}")
        log = pathlib.Path(folder) / "log"
        with mounts.augurfs(store, point, f"foreign={allowed}", f"log={log}"):
            assert files(point) == tree
        assert "secret" not in log.read_text() and "word" not in log.read_text()
        # Neither the folder beside it, nor the same one of another server.
        assert f"-o foreign={server.url}/my%20tars" in refusal(store, point, f"foreign=https://me:word@{host}/my?signature=secret")
        assert "not allowed" in refusal(store, point, f"foreign=https://elsewhere/my tars?signature=secret")
        assert {base64.b64decode(request.headers["authorization"].split()[1]) for request in server.log} == {b"me:word"}


def test_a_tar_of_the_stores_own_bucket_is_named_by_a_path(augurpack, bucket, tree, folder, s3_server):
    """So that both can be copied into another bucket."""
    bucket.put("tars/x-a.tar", tar_of(tree, "a"))
    url, endpoint = f"s3://{bucket.bucket}/store", f"--endpoint-url={s3_server.endpoint}"
    must_run([augurpack, "adopt", "--quiet", endpoint, f"s3://{bucket.bucket}/tars/x-a.tar", url])
    assert "  ../tars/x-a.tar\n" in must_run([augurpack, "info", endpoint, url])


def test_own_shards_beside_tars_of_a_bucket(augurpack, store, tars, tree, folder, point, s3_server, other_bucket):
    """Each shard is read from where it is; the disk cache takes what came from the server alone."""
    endpoint, allowed = f"endpoint-url={s3_server.endpoint}", f"foreign=s3://{other_bucket.bucket}/tars"
    must_run([augurpack, "adopt", "--quiet", f"--{endpoint}", tars, store])
    more = pathlib.Path(folder) / "more" / "c"
    more.mkdir(parents=True)
    (more / "new.bin").write_bytes(random.Random(3).randbytes(3 << 20))
    must_run([augurpack, "append", "--quiet", more.parent, store])
    whole = tree | {"c/new.bin": (more / "new.bin").read_bytes()}
    assert_holds(augurpack, store, whole, pathlib.Path(folder) / "out", f"--{endpoint}", f"--{allowed}")
    cache = pathlib.Path(folder) / "cache"
    with mounts.augurfs(store, point, endpoint, allowed, f"disk-cache={cache}"):
        assert files(point) == whole
    assert 0 < sum(path.stat().st_blocks for path in cache.rglob("*")) * 512 < sum(map(len, tree.values())) * 2


def test_a_second_mount_reads_the_local_copy(augurpack, store, tars, tree, folder, point, proxy, other_bucket):
    must_run([augurpack, "adopt", "--quiet", f"--endpoint-url={proxy.endpoint}", tars, store])
    options = [f"endpoint-url={proxy.endpoint}", f"foreign=s3://{other_bucket.bucket}/tars", f"disk-cache={pathlib.Path(folder) / 'cache'}"]
    with mounts.augurfs(store, point, *options):
        assert files(point) == tree
    proxy.forget()
    with mounts.augurfs(store, point, *options):
        assert files(point) == tree
    assert not proxy.requests(key=".tar")


def test_a_tar_that_is_another_one(augurpack, store, tars, folder, point, s3_server, other_bucket):
    must_run([augurpack, "adopt", "--quiet", f"--endpoint-url={s3_server.endpoint}", tars, store])
    other_bucket.put("tars/x a.tar", other_bucket.get("tars/x b.tar"))
    done = run([augurpack, "verify", f"--endpoint-url={s3_server.endpoint}", f"--foreign=s3://{other_bucket.bucket}", store])
    assert done.returncode == 1 and "x a.tar" in done.stderr


def test_a_store_is_read_after_its_folder_is_copied(augurpack, store, tars, tree, folder, s3_server, other_bucket):
    must_run([augurpack, "adopt", "--quiet", f"--endpoint-url={s3_server.endpoint}", tars, store])
    copy = pathlib.Path(folder) / "elsewhere" / "copy"
    shutil.copytree(store, copy)
    assert_holds(augurpack, copy, tree, pathlib.Path(folder) / "out", f"--endpoint-url={s3_server.endpoint}",
                 f"--foreign=s3://{other_bucket.bucket}/tars")


def test_tars_of_folders_and_of_servers_in_one_store(augurpack, store, folder, tars):
    done = subprocess.run([augurpack, "adopt", tars, "x.tar", store], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "x.tar: one store takes files of folders, or those of servers" in done.stderr
    assert not store.exists()
