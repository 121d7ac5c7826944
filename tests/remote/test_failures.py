# SPDX-License-Identifier: Apache-2.0
"""What is said of a failure of the server or of the way to it, and what follows: the table of REMOTE.md.
test_mount_faults.py has the rest."""

import datetime
import errno
import pathlib

import faults
import mounts
import pytest
import s3_client
from bucket_support import asked_for
from far_mounts import assert_same_tree, files, mounted, refusal

pytestmark = pytest.mark.usefixtures("aws_environment")


@pytest.mark.parametrize("fault, sentence", [
    (faults.ClockSkew(ahead=datetime.timedelta(minutes=21, seconds=30)), "this machine's clock is 21 min behind that of "),
    (faults.OtherRegion(region="eu-central-9", status=301), "the bucket is in region eu-central-9: set region=eu-central-9 to save a request"),
    (faults.OtherRegion(region="eu-central-9", status=400), "the bucket is in region eu-central-9: set region=eu-central-9 to save a request"),
], ids=lambda value: type(value).__name__ + str(value.status if isinstance(value, faults.OtherRegion) else ""))
def test_what_is_learnt_is_said_once(remote_store, point, proxy, folder, monkeypatch, fault, sentence):
    monkeypatch.delenv("AWS_REGION", raising=False)
    log = pathlib.Path(folder) / "log"
    with proxy.playing(fault), mounted(remote_store, point, proxy.endpoint, f"log={log}"):
        assert_same_tree(point, remote_store.tree)
    assert log.read_text().count(sentence) == 1, log.read_text()
    assert 0 < fault.count < 20, "what was learnt is not used"


def failed_read(remote_store, point, endpoint, folder, fault):
    """What the log has once a file could not be read, and the gauges of the mount."""
    log = pathlib.Path(folder) / "log"
    with mounted(remote_store, point, endpoint, f"log={log}", "predict=off"), fault:
        with pytest.raises(OSError) as failed:
            (point / sorted(files(remote_store.tree))[-1]).read_bytes()
        assert failed.value.errno == errno.EIO
        gauges = mounts.statistics(point)["gauges"]
    return log.read_text(), gauges


def test_credentials_that_are_not_renewed(remote_store, point, proxy, s3_server, folder, monkeypatch):
    """The source is named, and what to do."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    fault = proxy.playing(faults.ExpiredToken(access_key=s3_server.credentials.access_key, renewed=s3_client.Credentials("NEW", "new")))
    text, _ = failed_read(remote_store, point, proxy.endpoint, folder, fault)
    assert text.count("cannot renew credentials: the server refuses the credentials of the environment") == 1, text
    assert "the credentials have expired" in text and "(the environment): log in anew" in text


def test_a_server_that_stays_overloaded(remote_store, point, proxy, folder, monkeypatch):
    """An error only after all attempts; the status counts them."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    fault = faults.slow_down(only=lambda request: "shard-" in request.path)
    text, gauges = failed_read(remote_store, point, proxy.endpoint, folder, proxy.playing(fault))
    assert "the server answered 503 (SlowDown: Please reduce your request rate.) (given up after 3 requests" in text
    assert gauges["server_slow_downs"] == fault.count >= 3


def test_an_object_that_is_shorter_than_it_should_be(remote_store, point, proxy, folder):
    """The server says itself that it has less, in a 206: it is not asked again."""
    fault = faults.ShortBody(missing=100, announced=True, only=lambda request: "shard-" in request.path)
    text, _ = failed_read(remote_store, point, proxy.endpoint, folder, proxy.playing(fault))
    assert "the object was not uploaded whole" in text and "shard-00000001-00000" in text


@pytest.mark.parametrize("what", ["replaced", "removed"])
def test_a_bucket_that_keeps_versions(remote_store, point, proxy, folder, what):
    """R14: the version that was mounted is read on."""
    bucket, key = remote_store.bucket, f"{remote_store.prefix}/shard-00000001-00000"
    status = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    if bucket.request("PUT", query={"versioning": ""}, body=status).status != 200:
        pytest.skip("this server keeps no versions")
    try:
        bucket.put(key, bucket.get(key))
        log = pathlib.Path(folder) / "log"
        with mounted(remote_store, point, proxy.endpoint, f"log={log}", "predict=off"):
            name, *names = sorted(files(remote_store.tree))
            assert (point / name).read_bytes() == (remote_store.tree / name).read_bytes()
            if what == "replaced":
                bucket.put(key, bytes(len(bucket.get(key))))
            else:
                bucket.delete(key)
            proxy.forget()
            for name in names:
                assert (point / name).read_bytes() == (remote_store.tree / name).read_bytes()
            requests = proxy.requests("GET", "shard-")
        assert "its earlier version is read, which the bucket keeps" in log.read_text()
        versions = [request for request in requests if request.query]
        # The first one, which finds that out, asks for no version.
        assert not requests[0].query and asked_for(request for request in requests if not request.query) == asked_for(requests[:1])
        assert len(asked_for(versions)) == len(names) and all(request.query.startswith("versionId=") for request in versions)
    finally:
        for version, name in bucket.versions():
            bucket.must("DELETE", name, query={"versionId": version})
        bucket.must("PUT", query={"versioning": ""}, body=status.replace(b"Enabled", b"Suspended"))


@pytest.mark.parametrize("given, scheme, sentence", [
    ("http", "https", "a server that has no TLS is named by http:// and not https://"),
    ("https", "http", "a server that has TLS is named by https:// and not http://"),
    ("http", "", "https://HOST:PORT is the form, or http://HOST:PORT"),
])
def test_the_other_scheme(remote_store, point, s3_server, tls_proxy, given, scheme, sentence):
    place = (s3_server if given == "http" else tls_proxy).endpoint.partition("://")[2]
    text = refusal(remote_store.url, point, f"endpoint-url={scheme}{'://' if scheme else ''}{place}", "io-timeout=2")
    assert sentence in text
