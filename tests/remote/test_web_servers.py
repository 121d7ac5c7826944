# SPDX-License-Identifier: Apache-2.0
"""What web servers and name servers do that no bucket does: a store is read all the same."""

import os
import pathlib
import random
import sys

import mounts
import pytest
from bucket_support import must_run
from https_server import HttpsServer

NAME_SERVERS = pathlib.Path(__file__).parent / "name_servers.py"


@pytest.fixture
def store(augurpack, folder):
    """A store of some shards."""
    tree, path = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "store"
    tree.mkdir()
    for number in range(40):
        (tree / f"{number:02}.jpg").write_bytes(random.Random(number).randbytes(20_000))
    mounts.run(augurpack, "create", "--quiet", "--shard-size=256K", tree, path)
    return path


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


class FirstWeak(HttpsServer):
    """The ETag of each file is weak in its first answers, as Apache has it for a file that has changed within the last second."""

    def is_weak(self, request):
        return len([one for one in self.log if one.path == request.path]) <= 2


def test_weak_etags(augurpack, store):
    """No If-Match fits them, of the same file neither."""
    with HttpsServer(store, weak=True) as site:
        must_run([augurpack, "verify", "--quiet", site.url])
        assert {request.status for request in site.log} <= {200, 206}
        assert not [request for request in site.log if "if-match" in request.headers]


def test_etags_that_are_weak_at_first(augurpack, store):
    with FirstWeak(store) as site:
        must_run([augurpack, "verify", "--quiet", site.url])
        assert {request.status for request in site.log} <= {200, 206}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: namespaces, and a name server's port")
def test_the_first_name_server_does_not_answer(augurpack, store):
    """The C library waits for it for 5 s, which is longer than a connection may take."""
    said = must_run(["unshare", "--mount", "--net", sys.executable, NAME_SERVERS, store, augurpack, "info", "{url}"])
    assert "40" in said
