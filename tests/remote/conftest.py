# SPDX-License-Identifier: Apache-2.0
"""Object stores for the tests of remote stores: real servers, and a proxy in front of them that plays faults. All of it is gone
after the tests, also when they fail."""

import contextlib
import dataclasses
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench" / "remote"), str(ROOT / "tests" / "remote")]
import mounts  # noqa: E402
import object_servers  # noqa: E402
from bucket_support import put_folder  # noqa: E402
from fault_proxy import FaultProxy  # noqa: E402
from https_server import HttpsServer  # noqa: E402

buckets = itertools.count()


@dataclasses.dataclass(frozen=True)
class RemoteStore:
    """A packed store in a bucket."""

    bucket: object  # an S3Client
    prefix: str
    tree: pathlib.Path   # what was packed
    store: pathlib.Path  # the same store on the disk

    @property
    def url(self):
        return f"s3://{self.bucket.bucket}/{self.prefix}"


@pytest.fixture(scope="session")
def certificate():
    with tempfile.TemporaryDirectory(prefix="augur-certificate-") as folder:
        yield object_servers.Certificate.make(folder, "127.0.0.1")


@pytest.fixture(scope="session")
def s3_server():
    """An object_servers.ObjectServer that all tests share; $AUGUR_S3_SERVER chooses its kind."""
    try:
        kind = object_servers.default_server()
    except subprocess.CalledProcessError:
        (pytest.fail if "CI" in os.environ else pytest.skip)("no S3 server could be installed: packaging/servers.sh s3 says why")
    with object_servers.in_new_folder(kind, versions=True) as server:
        yield server


@contextlib.contextmanager
def new_bucket(s3_server):
    client = s3_server.client(f"augur-test-{next(buckets)}")
    client.create_bucket()
    try:
        yield client
    finally:
        for key in client.keys():
            client.delete(key)
        client.must("DELETE")
        client.close()


@pytest.fixture
def bucket(s3_server):
    """An S3Client of a new bucket."""
    with new_bucket(s3_server) as client:
        yield client


@pytest.fixture
def other_bucket(s3_server):
    """The same, of another one."""
    with new_bucket(s3_server) as client:
        yield client


@pytest.fixture
def proxy(s3_server):
    """A FaultProxy in front of the S3 server, without a fault as yet."""
    with FaultProxy(s3_server.endpoint, s3_server.credentials, s3_server.region) as running:
        yield running


@pytest.fixture
def tls_proxy(s3_server, certificate):
    """The same, and clients speak TLS with it."""
    with FaultProxy(s3_server.endpoint, s3_server.credentials, s3_server.region, certificate=certificate) as running:
        yield running


@pytest.fixture
def https_server(folder, certificate):
    """A plain web server of an empty folder, which a test fills (`https_server.folder`)."""
    with HttpsServer(folder, certificate) as server:
        yield server


@pytest.fixture
def point(folder):
    """A mount point."""
    path = pathlib.Path(folder) / "mount"
    path.mkdir()
    return path


@pytest.fixture
def remote_store(bucket, augurpack, folder):
    """A RemoteStore of 120 files, 4 MB."""
    tree, store = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "store"
    for number in range(120):
        path = tree / f"class-{number % 4}" / f"{number:03} photo.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(random.Random(number).randbytes(500 * number + 1))
    mounts.run(augurpack, "create", "--quiet", tree, store)
    put_folder(bucket, store, "data/train.augur")
    return RemoteStore(bucket, "data/train.augur", tree, store)


@pytest.fixture
def aws_environment(s3_server, monkeypatch):
    """The variables of a user who has credentials for the S3 server, and nothing else that concerns AWS or proxies."""
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
