# SPDX-License-Identifier: Apache-2.0
"""A raw folder of objects in a bucket becomes a store in one command: the same store as that of the same folder on a disk, whatever
happens on the way."""

import pathlib
import random
import signal
import subprocess

import faults
import mounts
import pytest
from bucket_support import asked_for, must_run, put_folder, run, wait_until, while_held

pytestmark = pytest.mark.usefixtures("aws_environment")


@pytest.fixture
def tree(folder):
    """120 files, 3 MB, two of which have several pieces of 4 MiB in all; names that a URL must encode; folders in folders."""
    path = pathlib.Path(folder) / "tree"
    for number in range(120):
        file = path / f"class {number % 5}" / f"{number:03} +%&é.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(random.Random(number).randbytes(300 * number))
    (path / "a" / "b").mkdir(parents=True)
    (path / "a" / "b" / "large").write_bytes(random.Random(1).randbytes(13 << 20))
    (path / "a-").mkdir()
    (path / "a-" / "x").write_bytes(b"'-' is before '/' as a byte")
    return path


@pytest.fixture
def raw(bucket, tree):
    """The address of the same tree in a bucket."""
    put_folder(bucket, tree, "raw/photos")
    bucket.put("raw/photos/a/empty/", b"")  # as programs write a folder
    (tree / "a" / "empty").mkdir()
    return f"s3://{bucket.bucket}/raw/photos/"


def words(augurpack, source, store, endpoint, *options, command="create"):
    return [augurpack, command, "--quiet", f"--endpoint-url={endpoint}", *options, source, store]


def pack(*arguments, **options):
    return run(words(*arguments, **options))


def must_pack(*arguments, **options):
    must_run(words(*arguments, **options))


def content(root):
    return {path.relative_to(root): path.read_bytes() if path.is_file() else None for path in pathlib.Path(root).rglob("*")}


def assert_holds(augurpack, store, endpoint, tree, out):
    there = [f"--endpoint-url={endpoint}"] if str(store).startswith("s3://") else []
    mounts.run(augurpack, "verify", "--quiet", store, *there)
    mounts.run(augurpack, "extract", "--quiet", store, out, *there)
    assert content(out) == content(tree)


def shards(store):
    return {path.name: path.read_bytes() for path in pathlib.Path(store).glob("shard-*")}


def test_it_is_the_store_of_the_same_folder(augurpack, raw, bucket, tree, folder, s3_server):
    """Records in path order: shards are byte for byte those of the folder up to the catalogues, whose times differ."""
    store, local = (pathlib.Path(folder) / name for name in ("store", "local"))
    must_pack(augurpack, raw, store, s3_server.endpoint)
    assert_holds(augurpack, store, s3_server.endpoint, tree, pathlib.Path(folder) / "out")
    mounts.run(augurpack, "create", "--quiet", tree, local)
    records = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())
    assert shards(store)["shard-00000001-00000"][64:records] == shards(local)["shard-00000001-00000"][64:records]
    modified = bucket.must("HEAD", "raw/photos/a-/x").headers["last-modified"]
    stat = (pathlib.Path(folder) / "out" / "a-" / "x").stat()
    assert stat.st_mode & 0o7777 == 0o644
    assert subprocess.run(["date", "-d", modified, "+%s"], capture_output=True, text=True, check=True).stdout == f"{int(stat.st_mtime)}\n"


def test_from_a_bucket_into_a_bucket(augurpack, raw, bucket, tree, folder, s3_server):
    """The store lies below its own source, and is not packed into itself, also when it is packed anew."""
    url = f"{raw}train.augur"
    for force in ([], ["--force"]):
        must_pack(augurpack, raw, url, s3_server.endpoint, f"--work-dir={folder}", *force)
    assert_holds(augurpack, url, s3_server.endpoint, tree, pathlib.Path(folder) / "out")
    refused = pack(augurpack, raw, raw, s3_server.endpoint, "--force")
    assert refused.returncode == 2 and "is the store itself" in refused.stderr


def test_patterns_and_the_command_append(augurpack, raw, bucket, tree, folder, proxy):
    """A folder that is left out is not even listed."""
    store = pathlib.Path(folder) / "store"
    must_pack(augurpack, raw, store, proxy.endpoint, "--include=*.jpg", "--exclude=class [1-4]")
    assert not [request for request in proxy.requests() if "class%201" in request.query]
    assert len(asked_for(proxy.requests("GET", "raw/photos/"))) == len(list((tree / "class 0").iterdir())) - 1  # one is empty
    must_pack(augurpack, raw, store, proxy.endpoint, "--include=*.jpg", "--exclude=class 0", command="append")
    for path in ("a", "a-"):
        mounts.run("rm", "-r", tree / path)
    assert_holds(augurpack, store, proxy.endpoint, tree, pathlib.Path(folder) / "out")
    nothing = pack(augurpack, raw, f"{store}.2", proxy.endpoint, "--include=*.tiff")
    assert nothing.returncode == 2 and "--include" in nothing.stderr


def test_a_list_of_several_pages(augurpack, bucket, folder, proxy):
    """A page of the list has 1,000 keys."""
    tree = pathlib.Path(folder) / "many"
    tree.mkdir()
    for number in range(1_203):
        (tree / f"{number}").write_bytes(str(number).encode())
    put_folder(bucket, tree, "many")
    must_pack(augurpack, f"s3://{bucket.bucket}/many", pathlib.Path(folder) / "store", proxy.endpoint)
    assert [request for request in proxy.requests() if "continuation-token" in request.query]
    assert_holds(augurpack, pathlib.Path(folder) / "store", proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_many_objects_are_asked_for_at_once(augurpack, raw, folder, proxy):
    """The server answers none before several wait: were they asked for one by one, the run would not end."""
    held = faults.Hold(only=lambda request: request.method == "GET" and request.path.endswith(".jpg"))
    with proxy.playing(held), subprocess.Popen(words(augurpack, raw, pathlib.Path(folder) / "store", proxy.endpoint), stdin=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: held.count >= 16)
            held.release()
            assert process.wait() == 0
        finally:
            held.release()
            process.kill()


@pytest.mark.parametrize("fault", [
    faults.slow_down(share=0.3), faults.Refused(status=500, code="InternalError", share=0.3), faults.ResetInBody(share=0.3, after=10),
    faults.ShortBody(share=0.2), faults.OtherRegion(region="eu-central-9", status=301),
], ids=lambda fault: type(fault).__name__ + str(getattr(fault, "status", "")))
def test_a_fault_that_passes_is_not_seen(augurpack, raw, tree, folder, proxy, fault, monkeypatch):
    monkeypatch.delenv("AWS_REGION", raising=False)
    store = pathlib.Path(folder) / "store"
    with proxy.playing(fault):
        must_pack(augurpack, raw, store, proxy.endpoint)
    assert fault.count
    assert_holds(augurpack, store, proxy.endpoint, tree, pathlib.Path(folder) / "out")


@pytest.mark.parametrize("policy", ["stop", "skip"])
@pytest.mark.parametrize("what", ["replaced", "removed", "denied"])
def test_an_object_that_cannot_be_read_as_it_was_listed(augurpack, raw, bucket, tree, folder, proxy, what, policy):
    """It is held back until it is listed, and another one or none is in its place then."""
    key = "raw/photos/class 3/003 +%&é.jpg"
    store = pathlib.Path(folder) / "store"
    chosen = faults.s3_client.encoded(key)
    held = faults.Hold(only=lambda request: request.method == "GET" and request.path.endswith(chosen))
    denied = faults.access_denied(only=lambda request: request.method == "GET" and request.path.endswith(chosen))
    fault = denied if what == "denied" else held
    with proxy.playing(fault), subprocess.Popen(words(augurpack, raw, store, proxy.endpoint, f"--on-error={policy}"), stdin=subprocess.DEVNULL,
                                                stderr=subprocess.PIPE, text=True) as process:
        try:
            if fault is held:
                wait_until(lambda: held.count)
                bucket.delete(key)
                if what == "replaced":
                    bucket.put(key, random.Random(99).randbytes(900))
                held.release()
            text = process.stderr.read()
            assert process.wait() == (2 if policy == "stop" else 1)
        finally:
            held.release()
            process.kill()
    sentence = {"replaced": "changed while it was read", "removed": "there is no such object", "denied": "access denied"}[what]
    assert f"{raw}class 3/003 +%&é.jpg: {sentence}" in text
    if policy == "stop":
        assert not (store / "manifest").exists()
        return
    (tree / "class 3" / "003 +%&é.jpg").unlink()
    assert_holds(augurpack, store, proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_a_server_that_goes_away_ends_the_run(augurpack, raw, folder, proxy):
    """Also with --on-error=skip: a store without what the server did not send would be of no use."""
    gone = faults.Refused(status=500, code="InternalError", only=lambda request: request.path.endswith(".jpg"))
    with proxy.playing(gone):
        done = pack(augurpack, raw, pathlib.Path(folder) / "store", proxy.endpoint, "--on-error=skip", "--io-timeout=2")
    assert done.returncode == 2 and "InternalError" in done.stderr
    assert not (pathlib.Path(folder) / "store" / "manifest").exists()


def test_ctrl_c_and_resume(augurpack, raw, tree, folder, proxy):
    store = pathlib.Path(folder) / "store"
    held = faults.Hold(only=lambda request: request.method == "GET" and "class%203" in request.path)
    with while_held(proxy, held, words(augurpack, raw, store, proxy.endpoint, "--shard-size=64K")) as process:
        wait_until(lambda: len(list(store.glob("shard-*"))) > 4)  # the large file is in one of the first
        process.send_signal(signal.SIGINT)
        assert "stopped by SIGINT" in process.stderr.read()
        assert process.wait() == 2
    before = len(proxy.requests("GET", "a/b/large"))
    must_pack(augurpack, raw, store, proxy.endpoint, "--shard-size=64K", "--resume")
    assert len(proxy.requests("GET", "a/b/large")) == before
    assert_holds(augurpack, store, proxy.endpoint, tree, pathlib.Path(folder) / "out")


@pytest.mark.parametrize("kind", ["raw", "store"])
def test_a_view_of_it(augurpack, bucket, folder, s3_server, kind):
    """create --decode: of a raw folder in a bucket, and of a store there."""
    image = pytest.importorskip("PIL.Image")
    folder = pathlib.Path(folder)
    for number in range(5):
        (folder / "tree" / f"{number % 2}").mkdir(parents=True, exist_ok=True)
        image.frombytes("RGB", (40, 30), random.Random(number).randbytes(3600)).save(folder / "tree" / f"{number % 2}" / f"{number}.png")
    mounts.run(augurpack, "create", "--quiet", "--decode=npy+size=16+crop=12", folder / "tree", folder / "local")
    if kind == "store":
        mounts.run(augurpack, "create", "--quiet", folder / "tree", folder / "packed")
    put_folder(bucket, folder / ("packed" if kind == "store" else "tree"), "raw/images")
    must_pack(augurpack, f"s3://{bucket.bucket}/raw/images", folder / "store", s3_server.endpoint, "--decode=npy+size=16+crop=12")
    mounts.run(augurpack, "extract", "--quiet", folder / "local", folder / "wanted")
    assert_holds(augurpack, folder / "store", s3_server.endpoint, folder / "wanted", folder / "out")


@pytest.mark.parametrize("source, options, sentence", [
    ("s3://{bucket}/raw/nothing", [], "no object is below this address"),
    ("s3://{bucket}/raw/photos/a-/x", [], "is an object, and not a folder of objects"),
    ("https://127.0.0.1:1/photos", [], "a web server does not list its files"),
    ("s3://{bucket}/raw/photos", ["--order=listing"], "has no listing that --order=listing could keep"),
    ("s3://no-such-bucket-here/x", [], "there is no such bucket"),
])
def test_what_is_no_source(augurpack, raw, bucket, folder, s3_server, source, options, sentence):
    done = pack(augurpack, source.format(bucket=bucket.bucket), pathlib.Path(folder) / "store", s3_server.endpoint, *options)
    assert done.returncode == 2 and sentence in done.stderr, done.stderr
    assert not (pathlib.Path(folder) / "store" / "manifest").exists()
