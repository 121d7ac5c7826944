# SPDX-License-Identifier: Apache-2.0
"""The answer to the request that publishes a store is lost: the packer finds out what came of it, and removes no object that a
published store may need."""

import pathlib

import faults
import pytest
from bucket_support import while_held
from test_pack import assert_holds, assert_verifies, must_pack, names, pack, tree, url, words, work  # noqa: F401

pytestmark = pytest.mark.usefixtures("aws_environment")


def is_publication(request):
    return request.method == "PUT" and request.path.endswith("/manifest")


@pytest.fixture
def lost(proxy):
    """The first PUT of a manifest takes effect, and its answer is lost."""
    return proxy.faults.add(faults.LostAnswer(times=1, only=is_publication))


@pytest.fixture
def again(lost):
    """Holds the second attempt."""
    return faults.Hold(times=1, only=lambda request: lost.count == 1 and is_publication(request))


@pytest.fixture
def more(folder):
    path = pathlib.Path(folder) / "more"
    path.mkdir()
    (path / "new.jpg").write_bytes(b"new")
    return path


def shards(bucket, generation):
    return [name for name in names(bucket) if name.startswith(f"shard-{generation:08}-")]


def test_the_manifest_cannot_be_read_back(augurpack, bucket, url, tree, folder, work, proxy, lost):  # noqa: F811
    """Then the packer does not know, says so, and what it has sent stays."""
    denied = faults.access_denied(only=lambda request: lost.count == 1 and request.method == "GET" and request.path.endswith("/manifest"))
    with proxy.playing(denied):
        done = pack(augurpack, "create", tree, url, proxy.endpoint, work)
    assert lost.count == 1 and denied.count
    assert done.returncode == 2 and "whether generation 1 was published is not known, and what was sent stays" in done.stderr
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")


def test_another_packer_has_appended_meanwhile(augurpack, bucket, url, tree, folder, work, more, proxy, s3_server, lost, again):  # noqa: F811
    """The store that is there is another one, and has the shards of this one: so this one was published."""
    with while_held(proxy, again, words(augurpack, "create", tree, url, proxy.endpoint, work)) as first:
        must_pack(augurpack, "append", more, url, s3_server.endpoint, work)
        again.release()
        said = first.stderr.read()
        assert first.wait() == 0, said
    (tree / "new.jpg").write_bytes(b"new")
    assert_holds(augurpack, url, proxy.endpoint, tree, pathlib.Path(folder) / "out")
    assert not [name for name in names(bucket) if name.startswith("writer-")]


def test_another_packer_has_replaced_it_meanwhile(augurpack, bucket, url, tree, folder, work, more, proxy, s3_server, lost, again):  # noqa: F811
    """Whether this one was published before cannot be seen any more. A mount may use it, so it stays until gc."""
    with while_held(proxy, again, words(augurpack, "create", tree, url, proxy.endpoint, work)) as first:
        must_pack(augurpack, "create", more, url, s3_server.endpoint, work, "--force")
        before = shards(bucket, 1)
        again.release()
        said = first.stderr.read()
        assert first.wait() == 2
    assert "another packer has published generation 2 (augurpack" in said and "generation 1 was published is not known" in said
    assert before and shards(bucket, 1) == before
    assert_holds(augurpack, url, proxy.endpoint, more, pathlib.Path(folder) / "out")


def test_a_lost_answer_to_the_last_part_of_a_shard(augurpack, url, folder, work, proxy):  # noqa: F811
    """The upload is complete, so the next attempt finds none."""
    large = pathlib.Path(folder) / "large"
    large.mkdir()
    (large / "large").write_bytes(bytes(range(256)) * (80 << 10))
    completion = faults.LostAnswer(times=1, only=lambda request: request.method == "POST" and "uploadId=" in request.query)
    with proxy.playing(completion):
        must_pack(augurpack, "create", large, url, proxy.endpoint, work, "--shard-size=64M")
    assert completion.count == 1
    assert_verifies(augurpack, url, proxy.endpoint)
