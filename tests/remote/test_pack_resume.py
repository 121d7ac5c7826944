# SPDX-License-Identifier: Apache-2.0
"""augurpack create s3://... --resume: a run that ended early is gone on with, and nothing is believed that was not checked. And
create --decode into a bucket."""

import pathlib
import random
import signal

import faults
import mounts
import pytest
from bucket_support import run, while_held
from PIL import Image
from test_pack import assert_holds, contents, must_pack, names, tree, uploads, url, words, work  # noqa: F401

pytestmark = pytest.mark.usefixtures("aws_environment")

HELD_SHARD = "shard-00000001-00005"


def holds(name):
    return faults.Hold(only=lambda request: request.method == "PUT" and name in request.path)


def killed_at(proxy, name, arguments):
    """Packs until the server is asked to take the object `name`, and kills the packer."""
    with while_held(proxy, holds(name), arguments) as process:
        process.kill()
        process.wait()


def sent(proxy):
    """The names of the shards that were sent since the log was emptied, each once."""
    return {request.path.rsplit("/", 1)[1] for request in proxy.requests("PUT", "/shard-")}


def noted(work):  # noqa: F811
    """The shards of which the killed packer knew that they were sent."""
    (folder,) = work.iterdir()
    return {line.split()[1] for line in (folder / "sent").read_text().splitlines() if line.startswith("sent shard-")}


@pytest.fixture
def local(augurpack, tree, folder):  # noqa: F811
    """The store that a folder would have."""
    path = pathlib.Path(folder) / "local"
    mounts.run(augurpack, "create", "--quiet", f"--shard-size={256 << 10}", tree, path)
    return path


@pytest.mark.parametrize("first", [[], ["--resume"]])
def test_after_a_kill(augurpack, bucket, url, tree, local, folder, work, proxy, first):  # noqa: F811
    """Shards that were sent are not sent again, and the store has the files of the tree."""
    killed_at(proxy, HELD_SHARD, words(augurpack, "create", tree, url, proxy.endpoint, work, *first))
    before = noted(work)
    assert 3 <= len(before) <= 8 and "manifest" not in names(bucket)
    proxy.forget()
    must_pack(augurpack, "create", tree, url, proxy.endpoint, work, "--resume")
    assert not sent(proxy) & before
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")
    # Where the killed run had begun a shard, its catalogue has other frames than one that is written at one go.
    wanted = {path.name: path.read_bytes() for path in local.iterdir() if path.name in before}
    assert {name: data for name, data in contents(bucket).items() if name in before} == wanted
    assert names(bucket).count("manifest") == 1 and len(names(bucket)) == len(list(local.iterdir())) - 1
    assert not uploads(bucket) and not list(work.iterdir())


def test_after_ctrl_c(augurpack, bucket, url, tree, folder, work, proxy):  # noqa: F811
    """Complete shards stay, and no upload that is not complete."""
    large = tree / "zz-large"
    large.write_bytes(random.Random(1).randbytes(40 << 20))
    held = faults.Hold(only=lambda request: request.method == "PUT" and "partNumber=2" in request.query)
    with while_held(proxy, held, words(augurpack, "create", tree, url, proxy.endpoint, work, "--resume")) as process:
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait() == 2
    assert "stopped by SIGINT: what was sent stays" in said
    before = noted(work)
    assert before and "manifest" not in names(bucket)
    # A part that the server had taken whole may bring the upload back, as S3 says of AbortMultipartUpload: the end looks again.
    ended = {request.query for request in proxy.requests("DELETE", "/shard-")}
    assert ended and ended == {one.query.split("&")[1] for one in proxy.requests("PUT", "/shard-") if "partNumber=" in one.query}
    proxy.forget()
    must_pack(augurpack, "create", tree, url, proxy.endpoint, work, "--resume")
    assert not sent(proxy) & before
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")
    assert not uploads(bucket) and not list(work.iterdir())


@pytest.mark.parametrize("what", ["replaced", "removed"])
def test_an_object_is_not_believed_that_is_another_one(augurpack, bucket, url, tree, folder, work, proxy, what):  # noqa: F811
    killed_at(proxy, HELD_SHARD, words(augurpack, "create", tree, url, proxy.endpoint, work))
    name = "data/train.augur/shard-00000001-00001"
    data = bytearray(bucket.get(name))
    data[100] ^= 1
    bucket.delete(name)
    if what == "replaced":
        bucket.put(name, bytes(data))
    done = run(words(augurpack, "create", tree, url, proxy.endpoint, work, "--resume"))
    assert done.returncode == 0 and "shard-00000001-00001: not the object that was sent" in done.stderr
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")
    assert not list(work.iterdir())


def test_a_source_that_has_changed(augurpack, bucket, url, tree, folder, work, proxy):  # noqa: F811
    """What was sent and is of no use any more is gone after the run."""
    killed_at(proxy, HELD_SHARD, words(augurpack, "create", tree, url, proxy.endpoint, work))
    (tree / "class-0" / "001.jpg").write_bytes(b"changed")
    must_pack(augurpack, "create", tree, url, proxy.endpoint, work, "--resume")
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")
    assert {name.split("-")[1] for name in names(bucket) if "-" in name} == {"00000001"}


def test_append_goes_on(augurpack, bucket, url, tree, folder, work, proxy):  # noqa: F811
    must_pack(augurpack, "create", tree, url, proxy.endpoint, work)
    more = pathlib.Path(folder) / "more" / "new"
    more.mkdir(parents=True)
    for number in range(40):
        (more / f"{number:02}").write_bytes(random.Random(1000 + number).randbytes(40_000))
    first = max(name for name in names(bucket) if name.startswith("shard-")).split("-")[2]
    held = f"shard-00000002-{int(first) + 4:05}"
    killed_at(proxy, held, words(augurpack, "append", more.parent, url, proxy.endpoint, work))
    before = noted(work)
    proxy.forget()
    must_pack(augurpack, "append", more.parent, url, proxy.endpoint, work, "--resume")
    assert before and not sent(proxy) & before
    for path in more.iterdir():
        (tree / "new").mkdir(exist_ok=True)
        (tree / "new" / path.name).write_bytes(path.read_bytes())
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_another_packer_has_published_meanwhile(augurpack, bucket, url, tree, folder, work, proxy):  # noqa: F811
    """The claim of the killed run is gone then. The run starts anew, and finds the other's store."""
    killed_at(proxy, HELD_SHARD, words(augurpack, "create", tree, url, proxy.endpoint, work))
    other = pathlib.Path(folder) / "other-work"
    other.mkdir()
    must_pack(augurpack, "create", tree, url, proxy.endpoint, other)
    done = run(words(augurpack, "create", tree, url, proxy.endpoint, work, "--resume"))
    assert done.returncode == 2 and "there is a store already" in done.stderr
    must_pack(augurpack, "create", tree, url, proxy.endpoint, work, "--resume", "--force")
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_two_runs_that_resume(augurpack, url, tree, work, proxy):  # noqa: F811
    held = holds(HELD_SHARD)
    with while_held(proxy, held, words(augurpack, "create", tree, url, proxy.endpoint, work, "--resume")) as process:
        done = run(words(augurpack, "create", tree, url, proxy.endpoint, work, "--resume"))
        assert done.returncode == 2 and "another run packs into this store now" in done.stderr
        held.release()
        assert process.wait() == 0


def test_with_nothing_to_resume(augurpack, url, tree, folder, work, s3_server):  # noqa: F811
    must_pack(augurpack, "create", tree, url, s3_server.endpoint, work, "--resume")
    assert_holds(augurpack, url, s3_server.endpoint, tree, pathlib.Path(folder) / "out")
    assert not list(work.iterdir())


@pytest.fixture
def images(folder):
    path = pathlib.Path(folder) / "images"
    for number in range(12):
        file = path / f"{number % 3}" / f"{number:02}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.frombytes("RGB", (97, 61), random.Random(number).randbytes(97 * 61 * 3)).save(file)
    return path


@pytest.mark.parametrize("kind", ["folder", "store", "bucket"])
def test_decode(augurpack, bucket, url, images, folder, work, s3_server, kind):  # noqa: F811
    """The store is the one that a folder would have, whatever the source is."""
    local, source = pathlib.Path(folder) / "local", images
    mounts.run(augurpack, "create", "--quiet", "--decode=npy+size=32x32", images, local)
    if kind == "store":
        source = pathlib.Path(folder) / "packed"
        mounts.run(augurpack, "create", "--quiet", images, source)
    elif kind == "bucket":
        for path in images.rglob("*.png"):
            bucket.put(f"raw/{path.relative_to(images).as_posix()}", path.read_bytes())
        source = f"s3://{bucket.bucket}/raw/"
    must_pack(augurpack, "create", source, url, s3_server.endpoint, work, "--decode=npy+size=32x32")
    out = [pathlib.Path(folder) / name for name in ("a", "b")]
    mounts.run(augurpack, "extract", "--quiet", local, out[0])
    mounts.run(augurpack, "extract", "--quiet", f"--endpoint-url={s3_server.endpoint}", url, out[1])
    trees = [{path.relative_to(root): path.read_bytes() for path in root.rglob("*.npy")} for root in out]
    assert len(trees[0]) == 12 and trees[0] == trees[1]
    assert not list(work.iterdir())


def test_decode_goes_on(augurpack, bucket, url, images, folder, work, proxy):  # noqa: F811
    """Also with the source that the killed run had packed first."""
    options = ["--decode=npy+size=256x256", f"--shard-size={256 << 10}"]
    arguments = words(augurpack, "create", images, url, proxy.endpoint, work, *options)
    killed_at(proxy, "shard-00000001-00003", arguments)
    before = noted(work)
    proxy.forget()
    must_pack(augurpack, "create", images, url, proxy.endpoint, work, *options, "--resume")
    assert before and not sent(proxy) & before
    mounts.run(augurpack, "verify", "--quiet", f"--endpoint-url={proxy.endpoint}", url)
    assert not list(work.iterdir())
