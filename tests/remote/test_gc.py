# SPDX-License-Identifier: Apache-2.0
"""augurpack gc of a store in a bucket: what no reader of the current generation needs goes, and nothing else, also while others pack."""

import os
import pathlib
import random
import re
import subprocess
import time

import bucket_support
import faults
import mounts
import object_servers
import pytest
from bucket_support import wait_until, while_held

pytestmark = pytest.mark.usefixtures("aws_environment")

PREFIX = "data/train.augur"


@pytest.fixture
def url(bucket):
    return f"s3://{bucket.bucket}/{PREFIX}"


@pytest.fixture
def trees(folder):
    """Two folders without a file in common."""
    made = []
    for name in ("one", "two"):
        path = pathlib.Path(folder) / name
        path.mkdir()
        for number in range(30):
            (path / f"{name}-{number}").write_bytes(random.Random(f"{name}-{number}").randbytes(20_000))
        made.append(path)
    return made


@pytest.fixture
def large(folder):
    """A folder whose shard goes up in parts."""
    path = pathlib.Path(folder) / "large"
    path.mkdir()
    (path / "large").write_bytes(random.Random(1).randbytes(40 << 20))
    return path


def words(augurpack, command, *rest, endpoint, options=()):
    size = [] if command == "gc" else ["--quiet", "--shard-size=100K"]
    return [augurpack, command, *size, f"--endpoint-url={endpoint}", *options, *rest]


def run(*arguments, **options):
    return bucket_support.run(words(*arguments, **options))


def must(*arguments, **options):
    return bucket_support.must_run(words(*arguments, **options))


def names(bucket):
    return {key.removeprefix(f"{PREFIX}/") for key in bucket.keys(f"{PREFIX}/")}


def of_generation(bucket, generation):
    return {name for name in names(bucket) if f"-{generation:08}" in name}


def uploads(bucket):
    return re.findall(rb"<Upload>", bucket.must("GET", query={"uploads": ""}).body)


def assert_holds(augurpack, url, endpoint, tree, out):
    mounts.run(augurpack, "verify", "--quiet", url, f"--endpoint-url={endpoint}")
    mounts.run(augurpack, "extract", "--quiet", url, f"--endpoint-url={endpoint}", out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {path.name: path.read_bytes() for path in tree.iterdir()}


def kill_a_packer(augurpack, url, endpoint, proxy, large):
    """One that appends, in the middle of an upload."""
    held = faults.Hold(only=lambda request: request.method == "PUT" and "partNumber=2" in request.query)
    with proxy.playing(held):
        process = subprocess.Popen(words(augurpack, "append", large, url, endpoint=endpoint), stdin=subprocess.DEVNULL)
        try:
            wait_until(lambda: held.count)
        finally:
            process.kill()
            process.wait()
            held.release()


def test_earlier_generations_go(augurpack, bucket, url, trees, folder, s3_server):
    """A shard of an earlier generation stays where the current one uses it, and what is none of ours stays."""
    one, two = trees
    bucket.put(f"{PREFIX}/notes.txt", b"mine")
    bucket.put(f"{PREFIX}/other/index-00000001", b"mine")
    for source, force in ((one, []), (two, ["--force"])):
        must(augurpack, "create", source, url, endpoint=s3_server.endpoint, options=force)
    more = pathlib.Path(folder) / "more"
    more.mkdir()
    (more / "new").write_bytes(b"new")
    must(augurpack, "append", more, url, endpoint=s3_server.endpoint)
    old, middle = of_generation(bucket, 1) - {"other/index-00000001"}, of_generation(bucket, 2)
    assert len(old) > 5 and len(middle) > 5
    said = must(augurpack, "gc", url, endpoint=s3_server.endpoint)
    assert said.startswith(f"removed {len(old) + 1} objects, ") and "kept" not in said
    assert names(bucket) == {"manifest", "index-00000003", "notes.txt", "other/index-00000001", *of_generation(bucket, 3), *(middle - {"index-00000002"})}
    (two / "new").write_bytes(b"new")
    assert_holds(augurpack, url, s3_server.endpoint, two, pathlib.Path(folder) / "out")
    assert must(augurpack, "gc", url, endpoint=s3_server.endpoint) == "removed 0 objects, 0 bytes\n"


def test_young_generations_stay(augurpack, trees, folder, point):
    """--older-than means the same as in a folder: a generation stays for so long after the next one was written."""
    day = 24 * 60 * 60
    with object_servers.versitygw(pathlib.Path(folder) / "server") as server:
        client = server.client("augur-young")
        client.create_bucket()
        url, objects = f"s3://{client.bucket}/{PREFIX}", pathlib.Path(folder) / "server" / "objects" / client.bucket / PREFIX
        for source in (trees[0], trees[1], trees[0]):
            must(augurpack, "create", source, url, endpoint=server.endpoint, options=["--force"])
        os.utime(objects / "index-00000002", (time.time() - 10 * day,) * 2)  # since then generation 1 is not the current one
        os.utime(objects / "index-00000003", (time.time() - 3 * day,) * 2)
        second = of_generation(client, 2)
        said = must(augurpack, "gc", url, endpoint=server.endpoint, options=["--older-than=5"])
        assert "1 earlier generation is too young, and kept" in said
        assert not of_generation(client, 1) and of_generation(client, 2) == second
        with mounts.augurfs(url, point, f"endpoint-url={server.endpoint}", "generation=2"):
            for path in trees[1].iterdir():
                assert (point / path.name).read_bytes() == path.read_bytes()
        assert "kept" not in must(augurpack, "gc", url, endpoint=server.endpoint, options=["--older-than=2"])
        assert not of_generation(client, 2)
        assert_holds(augurpack, url, server.endpoint, trees[0], pathlib.Path(folder) / "out")


def test_a_generation_that_is_young_and_damaged_keeps_its_shards(augurpack, bucket, url, trees, s3_server):
    for source in trees:
        must(augurpack, "create", source, url, endpoint=s3_server.endpoint, options=["--force"])
    first = of_generation(bucket, 1)
    bucket.put(f"{PREFIX}/index-00000001", b"damaged")
    must(augurpack, "gc", url, endpoint=s3_server.endpoint, options=["--older-than=1"])
    assert of_generation(bucket, 1) == first
    must(augurpack, "gc", url, endpoint=s3_server.endpoint)
    assert not of_generation(bucket, 1)


def test_what_a_killed_packer_left_goes_when_it_is_old(augurpack, bucket, url, trees, large, folder, proxy):
    must(augurpack, "create", trees[0], url, endpoint=proxy.endpoint)
    kill_a_packer(augurpack, url, proxy.endpoint, proxy, large)
    assert uploads(bucket) and of_generation(bucket, 2)
    manifest = bucket.get(f"{PREFIX}/manifest")
    said = must(augurpack, "gc", url, endpoint=proxy.endpoint)
    assert "kept what may still be written: generation 2, by augurpack" in said and "--older-than" in said
    assert uploads(bucket) and of_generation(bucket, 2) and bucket.get(f"{PREFIX}/manifest") == manifest
    said = must(augurpack, "gc", url, endpoint=proxy.endpoint, options=["--older-than=0"])
    assert "ended 1 upload" in said
    assert not uploads(bucket) and names(bucket) == {"manifest", *of_generation(bucket, 1)}
    assert not [name for name in names(bucket) if name.startswith("writer-")]
    assert_holds(augurpack, url, proxy.endpoint, trees[0], pathlib.Path(folder) / "out")
    (trees[0] / "large").write_bytes((large / "large").read_bytes())
    must(augurpack, "append", large, url, endpoint=proxy.endpoint)
    assert_holds(augurpack, url, proxy.endpoint, trees[0], pathlib.Path(folder) / "appended")


def test_a_packer_that_is_at_work_never_publishes_what_was_removed(augurpack, bucket, url, trees, folder, proxy):
    """With --older-than=0 its shards go. It is told when it would publish, and the store stays as it was."""
    one, two = trees
    must(augurpack, "create", one, url, endpoint=proxy.endpoint)
    held = faults.Hold(only=lambda request: request.method == "PUT" and "index-00000002" in request.path)
    with while_held(proxy, held, words(augurpack, "append", two, url, endpoint=proxy.endpoint)) as packer:
        must(augurpack, "gc", url, endpoint=proxy.endpoint, options=["--older-than=0"])
        assert not of_generation(bucket, 2)
        held.release()
        text = packer.stderr.read()
        assert packer.wait() == 2
    assert "'augurpack gc' took this run for a killed one" in text
    assert names(bucket) == {"manifest", *of_generation(bucket, 1)}
    assert_holds(augurpack, url, proxy.endpoint, one, pathlib.Path(folder) / "out")


def test_a_packer_that_publishes_meanwhile_wins(augurpack, bucket, url, trees, folder, proxy):
    """gc has listed its objects, and is about to remove them: it may not."""
    one, two = trees
    must(augurpack, "create", one, url, endpoint=proxy.endpoint)
    packing = faults.Hold(only=lambda request: request.method == "PUT" and "index-00000002" in request.path)
    clearing = faults.Hold(only=lambda request: request.method == "PUT" and request.path.endswith("/manifest"), times=1)
    with proxy.playing(packing), subprocess.Popen(words(augurpack, "append", two, url, endpoint=proxy.endpoint), stdin=subprocess.DEVNULL) as packer:
        try:
            wait_until(lambda: packing.count)
            with proxy.playing(clearing), subprocess.Popen(words(augurpack, "gc", url, endpoint=proxy.endpoint, options=["--older-than=0"]),
                                                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as gc:
                try:
                    wait_until(lambda: clearing.count)
                    packing.release()
                    assert packer.wait() == 0
                    clearing.release()
                    text = gc.stderr.read()
                    assert gc.wait() == 2
                finally:
                    clearing.release()
                    gc.kill()
        finally:
            packing.release()
            packer.kill()
    assert "another packer has published a generation just now" in text
    for path in two.iterdir():
        (one / path.name).write_bytes(path.read_bytes())
    assert_holds(augurpack, url, proxy.endpoint, one, pathlib.Path(folder) / "out")
    assert not [name for name in names(bucket) if name.startswith("writer-")]


@pytest.mark.parametrize("fault", [
    faults.slow_down(share=0.3), faults.Refused(status=500, code="InternalError", share=0.3),
    faults.LostAnswer(share=0.3, only=lambda request: request.method in ("PUT", "DELETE")),
], ids=lambda fault: type(fault).__name__ + str(getattr(fault, "status", "")))
def test_a_fault_that_passes_is_not_seen(augurpack, bucket, url, trees, large, folder, proxy, fault):
    one, two = trees
    must(augurpack, "create", one, url, endpoint=proxy.endpoint)
    must(augurpack, "create", two, url, endpoint=proxy.endpoint, options=["--force"])
    kill_a_packer(augurpack, url, proxy.endpoint, proxy, large)
    with proxy.playing(fault):
        must(augurpack, "gc", url, endpoint=proxy.endpoint, options=["--older-than=0"])
    assert fault.count
    assert names(bucket) == {"manifest", *of_generation(bucket, 2)} and not uploads(bucket)
    assert_holds(augurpack, url, proxy.endpoint, two, pathlib.Path(folder) / "out")


def test_a_server_that_ignores_conditions_is_refused(augurpack, bucket, url, trees, proxy):
    for force in ([], ["--force"]):
        must(augurpack, "create", trees[0], url, endpoint=proxy.endpoint, options=force)
    before = names(bucket)
    with proxy.playing(faults.HeaderIgnored(header="if-match")):
        done = run(augurpack, "gc", url, endpoint=proxy.endpoint)
    assert done.returncode == 2 and "this server ignores conditions" in done.stderr
    assert names(bucket) == before


@pytest.mark.parametrize("store, options, sentence", [
    ("s3://{bucket}/data/other", [], "there is no store"),
    ("s3://{bucket}/strange", [], "not the manifest of a store"),
    ("https://127.0.0.1:1/x", [], "a web server removes no files"),
])
def test_what_is_refused(augurpack, bucket, s3_server, store, options, sentence):
    bucket.put("strange/manifest", b"version 1\n")
    bucket.put("strange/shard-00000001-00000", b"mine")
    done = run(augurpack, "gc", store.format(bucket=bucket.bucket), endpoint=s3_server.endpoint, options=options)
    assert done.returncode == 2 and sentence in done.stderr, done.stderr
    assert bucket.keys("strange/") == ["strange/manifest", "strange/shard-00000001-00000"]
