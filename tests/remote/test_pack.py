# SPDX-License-Identifier: Apache-2.0
"""A store that is packed straight into a bucket: the same as one that is packed into a folder, whatever happens on the way, and
never seen by halves."""

import contextlib
import hashlib
import os
import pathlib
import random
import re
import signal
import subprocess
import tarfile
import time

import faults
import mounts
import pytest
from bucket_support import wait_until, while_held

pytestmark = pytest.mark.usefixtures("aws_environment")

PREFIX = "data/train.augur"
SHARD_SIZE = 256 << 10


@pytest.fixture
def work(folder):
    """A folder for --work-dir, which must be empty again after each run that ends by itself."""
    path = pathlib.Path(folder) / "work"
    path.mkdir()
    return path


@pytest.fixture
def tree(folder):
    """100 files, 2.5 MB: 10 or so shards of 256 KiB. Each tenth file is a copy of the first one, and so in an older shard."""
    path = pathlib.Path(folder) / "tree"
    for number in range(100):
        file = path / f"class-{number // 25}" / f"{number:03}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(random.Random(number if number % 10 else 0).randbytes(25_000))
    return path


@pytest.fixture
def url(bucket):
    return f"s3://{bucket.bucket}/{PREFIX}"


def words(augurpack, command, source, url, endpoint, work, *options):
    size = [] if any(option.startswith("--shard-size") for option in options) else [f"--shard-size={SHARD_SIZE}"]
    return [augurpack, command, "--quiet", *size, f"--endpoint-url={endpoint}", f"--work-dir={work}", *options, source, url]


def pack(*arguments, **options):
    """Runs `words` to its end."""
    return subprocess.run(words(*arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, **options)


def must_pack(*arguments):
    done = pack(*arguments)
    assert done.returncode == 0, done.stderr
    return done


def names(bucket):
    return [key.removeprefix(f"{PREFIX}/") for key in bucket.keys(f"{PREFIX}/")]


def contents(bucket):
    return {name: bucket.get(f"{PREFIX}/{name}") for name in names(bucket)}


def uploads(bucket):
    """The keys of uploads that are not complete."""
    return re.findall(rb"<Upload>", bucket.must("GET", query={"uploads": ""}).body)


def assert_verifies(augurpack, url, endpoint):
    done = subprocess.run([augurpack, "verify", "--quiet", url, f"--endpoint-url={endpoint}"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def assert_holds(augurpack, url, endpoint, tree, out):
    """The store is whole, and has the files of the tree."""
    assert_verifies(augurpack, url, endpoint)
    mounts.run(augurpack, "extract", "--quiet", url, f"--endpoint-url={endpoint}", out)
    there, wanted = ({path.relative_to(root): path.read_bytes() for path in pathlib.Path(root).rglob("*") if path.is_file()} for root in (out, tree))
    assert there == wanted


# ---- what comes of it ----


@pytest.mark.parametrize("kind", ["folder", "tar", "stdin"])
def test_it_is_the_store_that_a_folder_would_have(augurpack, bucket, url, tree, folder, work, s3_server, kind):
    """Byte for byte: shards, with duplicates in older shards found, index and manifest."""
    source = tree
    if kind != "folder":
        source = pathlib.Path(folder) / "tree.tar"
        with tarfile.open(source, "w") as archive:
            archive.add(tree, ".")
    local = pathlib.Path(folder) / "local"
    mounts.run(augurpack, "create", "--quiet", f"--shard-size={SHARD_SIZE}", source, local)
    if kind == "stdin":
        with open(source, "rb") as stream:
            done = subprocess.run(words(augurpack, "create", "-", url, s3_server.endpoint, work), stdin=stream, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    else:
        must_pack(augurpack, "create", source, url, s3_server.endpoint, work)
    wanted = {path.name: path.read_bytes() for path in local.iterdir() if path.name.startswith(("shard-", "index-", "manifest"))}
    assert contents(bucket) == wanted
    assert len([name for name in wanted if name.startswith("shard-")]) > 5
    assert not list(work.iterdir()) and not uploads(bucket)
    assert_holds(augurpack, url, s3_server.endpoint, tree, pathlib.Path(folder) / "out")


def test_a_large_shard_goes_up_in_parts(augurpack, bucket, url, folder, work, proxy):
    """Equal parts of 16 MiB, each signed with the SHA-256 of its bytes; a file over 1 MiB is one of blocks."""
    tree = pathlib.Path(folder) / "large"
    tree.mkdir()
    for number in range(5):
        (tree / f"{number}").write_bytes(random.Random(number % 4).randbytes(9 << 20))  # the last is the first again
    must_pack(augurpack, "create", tree, url, proxy.endpoint, work, "--shard-size=24M")
    parts = [request for request in proxy.requests("PUT", "shard-") if "partNumber" in request.query]
    shard = bucket.get(f"{PREFIX}/shard-00000001-00000")
    assert len(shard) > 24 << 20
    pieces = {hashlib.sha256(shard[begin:begin + (16 << 20)]).hexdigest() for begin in range(0, len(shard), 16 << 20)}
    assert pieces <= {request.headers["x-amz-content-sha256"] for request in parts}
    assert not uploads(bucket)
    assert sum(map(len, contents(bucket).values())) < 37 << 20  # four files of 9 MiB
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_force_and_append_make_a_further_generation(augurpack, bucket, url, tree, folder, work, s3_server):
    must_pack(augurpack, "create", tree, url, s3_server.endpoint, work)
    refused = pack(augurpack, "create", tree, url, s3_server.endpoint, work)
    assert refused.returncode == 2 and f"{url}: there is a store already" in refused.stderr and "--force" in refused.stderr
    first = contents(bucket)
    more = pathlib.Path(folder) / "more"
    more.mkdir()
    (more / "new.jpg").write_bytes(b"new")
    (more / "same.jpg").write_bytes((tree / "class-0" / "001.jpg").read_bytes())
    must_pack(augurpack, "append", more, url, s3_server.endpoint, work)
    second = contents(bucket)
    shards = [name for name in second.keys() - first.keys() if name.startswith("shard-")]
    assert len(shards) == 1 and len(second[shards[0]]) < 25_000  # what was there already was not sent again
    assert {name: second[name] for name in first if name != "manifest"} == {name: first[name] for name in first if name != "manifest"}
    for path in more.iterdir():
        (tree / path.name).write_bytes(path.read_bytes())
    assert_holds(augurpack, url, s3_server.endpoint, tree, pathlib.Path(folder) / "both")
    must_pack(augurpack, "create", more, url, s3_server.endpoint, work, "--force")
    assert_holds(augurpack, url, s3_server.endpoint, more, pathlib.Path(folder) / "forced")
    assert b"generation 3\n" in bucket.get(f"{PREFIX}/manifest")
    missing = pack(augurpack, "append", more, f"{url}.other", s3_server.endpoint, work)
    assert missing.returncode == 2 and "there is no store to append to" in missing.stderr


def test_at_most_three_shards_are_on_the_disk(augurpack, url, tree, folder, work, proxy):
    """While the server takes none, the packer keeps two that are complete, and the next one waits."""
    held = faults.Hold(only=lambda request: request.method == "PUT" and "shard-" in request.path)
    with proxy.playing(held), subprocess.Popen(words(augurpack, "create", tree, url, proxy.endpoint, work), stdin=subprocess.DEVNULL) as process:

        def shards():
            found = []
            for link in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):  # it is closed meanwhile
                    found.append(os.readlink(link))
            return [target for target in found if "/shard-" in target and "catalogue" not in target]

        try:
            wait_until(lambda: held.count == 2 and len(shards()) == 3)
            for _ in range(20):
                assert held.count == 2 and len(shards()) == 3
                time.sleep(0.02)
            held.release()
            assert process.wait() == 0
        finally:
            held.release()
            process.kill()
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_info_asks_several_shards_at_once(augurpack, url, tree, work, proxy):
    """Each takes some round trips: a store has thousands."""
    must_pack(augurpack, "create", tree, url, proxy.endpoint, work)
    proxy.forget()
    held = faults.Hold(only=lambda request: request.method == "GET" and "shard-" in request.path)
    with while_held(proxy, held, [augurpack, "info", "--json", url, f"--endpoint-url={proxy.endpoint}"]) as process:
        wait_until(lambda: len({request.path for request in proxy.requests("GET", "shard-")}) > 5)
        held.release()
        assert process.wait() == 0


# ---- faults that the user must not notice ----


@pytest.mark.parametrize("fault", [
    faults.slow_down(share=0.3), faults.Refused(status=500, code="InternalError", share=0.3), faults.ResetInBody(share=0.2, after=10),
    faults.OtherRegion(region="eu-central-9", status=301),
], ids=lambda fault: type(fault).__name__ + str(getattr(fault, "status", "")))
def test_a_fault_that_passes_is_not_seen(augurpack, bucket, url, tree, folder, work, proxy, s3_server, fault, monkeypatch):
    monkeypatch.delenv("AWS_REGION", raising=False)
    with proxy.playing(fault):
        must_pack(augurpack, "create", tree, url, proxy.endpoint, work)
    assert fault.count
    assert_holds(augurpack, url, s3_server.endpoint, tree, pathlib.Path(folder) / "out")
    assert not [name for name in names(bucket) if name.startswith("writer-")] and not uploads(bucket)


@pytest.mark.parametrize("what", ["writer-", "manifest"])
def test_an_answer_that_is_lost_is_not_another_packer(augurpack, url, tree, folder, work, proxy, what):
    """The PUT took effect, and the next attempt is told that the object is there: it is the packer's own."""
    lost = faults.LostAnswer(times=1, only=lambda request: request.method == "PUT" and what in request.path)
    with proxy.playing(lost):
        must_pack(augurpack, "create", tree, url, proxy.endpoint, work)
    assert lost.count == 1
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")


# ---- faults that are told ----


def test_a_run_that_fails_leaves_nothing(augurpack, bucket, url, tree, work, proxy):
    denied = faults.access_denied(only=lambda request: request.method == "PUT" and "shard-00000001-00003" in request.path)
    with proxy.playing(denied):
        done = pack(augurpack, "create", tree, url, proxy.endpoint, work)
    assert done.returncode == 2
    assert f"{url}/shard-00000001-00003: access denied" in done.stderr and "is s3:PutObject allowed on it?" in done.stderr
    assert names(bucket) == [] and not uploads(bucket) and not list(work.iterdir())


def test_ctrl_c_aborts_the_upload(augurpack, bucket, url, folder, work, proxy):
    """In the middle of a part, which the server does not answer: the upload is aborted, and nothing stays."""
    tree = pathlib.Path(folder) / "large"
    tree.mkdir()
    (tree / "large").write_bytes(random.Random(1).randbytes(40 << 20))
    held = faults.Hold(only=lambda request: request.method == "PUT" and "partNumber=2" in request.query)
    with while_held(proxy, held, words(augurpack, "create", tree, url, proxy.endpoint, work)) as process:
        assert uploads(bucket)
        process.send_signal(signal.SIGINT)
        text = process.stderr.read()
        assert process.wait() == 2
    assert "stopped by SIGINT: what was sent is removed" in text
    assert names(bucket) == [] and not uploads(bucket) and not list(work.iterdir())


def test_two_packers_at_once(augurpack, bucket, url, tree, folder, work, proxy):
    """The second one begins and ends while the first one waits for its last object. It wins, and the first one says so."""
    first_tree = pathlib.Path(folder) / "first"
    first_tree.mkdir()
    (first_tree / "a").write_bytes(b"first")
    held = faults.Hold(only=lambda request: request.method == "PUT" and "index-00000001" in request.path)
    with while_held(proxy, held, words(augurpack, "create", first_tree, url, proxy.endpoint, work)) as first:
        must_pack(augurpack, "create", tree, url, proxy.endpoint, work)
        held.release()
        text = first.stderr.read()
        assert first.wait() == 2
    assert "another packer has published generation 2 (augurpack" in text and "--force" in text
    assert {name.split("-")[1] for name in names(bucket) if "-" in name} == {"00000002"}
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_a_killed_packer_is_not_seen_and_is_cleared_by_the_next(augurpack, bucket, url, tree, folder, work, proxy):
    must_pack(augurpack, "create", tree, url, proxy.endpoint, work)
    more = pathlib.Path(folder) / "more"
    more.mkdir()
    (more / "large").write_bytes(random.Random(1).randbytes(40 << 20))
    held = faults.Hold(only=lambda request: request.method == "PUT" and "partNumber=2" in request.query)
    with proxy.playing(held):
        process = subprocess.Popen(words(augurpack, "append", more, url, proxy.endpoint, work), stdin=subprocess.DEVNULL)
        try:
            wait_until(lambda: held.count)
        finally:
            process.kill()
            process.wait()
            held.release()
    assert uploads(bucket) and "writer-00000002" in names(bucket)
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "old")
    (more / "large").write_bytes(b"small")
    must_pack(augurpack, "append", more, url, proxy.endpoint, work)
    assert not uploads(bucket) and not [name for name in names(bucket) if "00000002" in name]
    (tree / "large").write_bytes(b"small")
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "new")


@pytest.mark.parametrize("condition", ["if-none-match", "if-match"])
def test_a_server_that_ignores_conditions_is_refused(augurpack, bucket, url, tree, folder, work, proxy, condition):
    force = []
    if condition == "if-match":
        must_pack(augurpack, "create", tree, url, proxy.endpoint, work)
        force = ["--force"]
    before = contents(bucket)
    with proxy.playing(faults.HeaderIgnored(header=condition)):
        done = pack(augurpack, "create", tree, url, proxy.endpoint, work, *force)
    assert done.returncode == 2 and "this server ignores conditions" in done.stderr and "pack into a folder" in done.stderr
    assert contents(bucket) == before


@pytest.mark.parametrize("command, options, store, sentence", [
    ("create", ["--work-dir=/nonexistent"], "s3://bucket/x", "no work folder can be made there"),
    ("create", ["--work-dir=/tmp"], "store", "--work-dir is for stores in a bucket"),
    ("append", [], "https://host/x", "a web server takes no files"),
])
def test_what_does_not_go_together(augurpack, folder, tree, command, options, store, sentence):
    done = subprocess.run([augurpack, command, *options, tree, store], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 2 and sentence in done.stderr
    assert not (pathlib.Path(folder) / "store").exists()


def test_a_bucket_that_is_not_there(augurpack, tree, work, s3_server):
    done = pack(augurpack, "create", tree, "s3://no-such-bucket-here/x", s3_server.endpoint, work)
    assert done.returncode == 2 and "there is no such bucket" in done.stderr
    assert not list(work.iterdir())
