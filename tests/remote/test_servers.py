# SPDX-License-Identifier: Apache-2.0
"""The servers of these tests are what the tests of remote stores need: they check signatures, ranges, conditions. So is their client."""

import contextlib
import datetime
import os
import pathlib
import shutil

import faults
import mounts
import object_servers
import pytest
import s3_client
from curl import curl, s3_curl
from https_server import HttpsServer
from s3_client import Credentials, S3Client

BODY = bytes(range(256)) * 400
KEY = "d=1/a b+c%&$@:,;=?~!*'()ü.jpg"


def test_the_signature_of_the_published_example():
    """Amazon S3 API reference, "Authenticating Requests: Using the Authorization Header", GET Object."""
    signed = {"host": "examplebucket.s3.amazonaws.com", "range": "bytes=0-9", "x-amz-date": "20130524T000000Z",
              "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
    assert s3_client.signature("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "20130524", "us-east-1", "s3", "GET", "/test.txt", "", signed,
                               signed["x-amz-content-sha256"]) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"


def test_an_object_comes_back(bucket):
    etag = bucket.put(KEY, BODY)
    assert bucket.get(KEY) == BODY and bucket.keys() == [KEY]
    answer = bucket.request("GET", KEY, headers={"range": "bytes=100-199", "if-match": etag})
    assert (answer.status, answer.body, answer.headers["etag"]) == (206, BODY[100:200], etag)
    assert answer.headers["content-range"] == f"bytes 100-199/{len(BODY)}"


def test_curl_reads_it_too(bucket, s3_server):
    bucket.put(KEY, BODY)
    done = s3_curl(s3_server.endpoint, bucket, KEY)
    assert (done.exit, done.status, done.body) == (0, 200, BODY)


def test_conditions_and_ranges_are_kept(bucket):
    bucket.put("object", BODY)
    for headers, status, code in (({"if-match": '"other"'}, 412, "PreconditionFailed"), ({"range": f"bytes={len(BODY)}-"}, 416, "InvalidRange")):
        answer = bucket.request("GET", "object", headers=headers)
        assert (answer.status, answer.code) == (status, code)
    assert bucket.request("PUT", "object", headers={"if-none-match": "*"}, body=b"second").status == 412
    assert bucket.get("object") == BODY


def test_a_list_of_many_pages(bucket):
    keys = [f"prefix/{number:04}" for number in range(1100)]  # a page has 1,000
    for key in keys:
        bucket.put(key, b"")
    bucket.put("other", b"")
    assert bucket.keys("prefix/") == keys


def test_wrong_signatures_are_refused(bucket, s3_server):
    bucket.put("object", BODY)
    wrong = S3Client(s3_server.endpoint, bucket.bucket, Credentials(bucket.credentials.access_key, "wrong"))
    assert (wrong.request("GET", "object").status, wrong.request("GET", "object").code) == (403, "SignatureDoesNotMatch")
    late = bucket.request("GET", "object", moment=datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=20))
    assert (late.status, late.code) == (403, "RequestTimeTooSkewed")
    assert curl(f"{s3_server.endpoint}/{bucket.bucket}/object").status == 403


def local_sockets(pid):
    """The paths of the Unix sockets that a process listens at."""
    opened = set()
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            opened.add(os.readlink(f"/proc/{pid}/fd/{number}"))
    rows = [line.split(None, 7) for line in pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]]
    return {row[7] for row in rows if len(row) == 8 and f"socket:[{row[6]}]" in opened}


def test_a_server_leaves_no_socket_after_a_failure(s3_server):
    """SeaweedFS has some in /tmp, in no folder of ours."""
    with pytest.raises(InterruptedError), object_servers.in_new_folder(getattr(object_servers, s3_server.name)) as server:
        sockets = local_sockets(server.process.pid)
        assert sockets or server.name != "seaweedfs"
        raise InterruptedError
    assert not [path for path in sockets if os.path.exists(path)]


def test_the_web_server(https_server, certificate):
    (https_server.folder / "a b").write_bytes(BODY)
    url = f"{https_server.url}/a%20b"

    def get(*words):
        return curl(url, "--cacert", certificate.file, *words)

    assert get().body == BODY
    etag = get().headers["etag"]
    part = get("--range", "100-199", "--header", f"If-Match: {etag}")
    assert (part.status, part.body, part.headers["content-range"]) == (206, BODY[100:200], f"bytes 100-199/{len(BODY)}")
    assert get("--range", "-10").body == BODY[-10:]
    assert get("--range", f"{len(BODY)}-").status == 416
    (https_server.folder / "a b").write_bytes(BODY[::-1])
    assert get("--header", f"If-Match: {etag}").status == 412
    assert curl(f"{https_server.url}/../../etc/passwd", "--path-as-is", "--cacert", certificate.file).status == 404
    assert [one.status for one in https_server.log] == [200, 200, 206, 206, 416, 412, 404]
    assert https_server.log[2].bytes == 100


@pytest.mark.parametrize("options, words, status", [
    ({"query": "sig=abc"}, [], 403), ({"login": ("user", "password")}, [], 401),
    ({"login": ("user", "password")}, ["--user", "user:password"], 200), ({"ranges": False}, ["--range", "0-9"], 200),
    ({"ranges": True}, ["--range", "0-9"], 206)])
def test_what_some_web_servers_want_or_lack(folder, options, words, status):
    with HttpsServer(folder, **options) as server:
        (server.folder / "object").write_bytes(BODY)
        done = curl(f"{server.url}/object", *words)
        assert done.status == status and ("accept-ranges" in done.headers) == (status in (200, 206) and options.get("ranges", True))
        assert "query" not in options or curl(f"{server.url}/object?{options['query']}").body == BODY


def test_a_store_in_a_bucket_is_the_packed_one(remote_store, augurpack, folder):
    """What the tests of mounts begin with; each object comes back through the server."""
    back = pathlib.Path(folder) / "back"
    for key in remote_store.bucket.keys(remote_store.prefix + "/"):
        path = back / key.removeprefix(remote_store.prefix + "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(remote_store.bucket.get(key))
    mounts.run(augurpack, "verify", back)
    mounts.run(augurpack, "extract", back, pathlib.Path(folder) / "files")
    mounts.run("diff", "-r", remote_store.tree, pathlib.Path(folder) / "files")


def test_rclone_is_a_client_too(remote_store, proxy, aws_environment):
    """By the variables that a user has; through the proxy, which refuses some requests and breaks some answers."""
    if not shutil.which("rclone"):
        pytest.skip("rclone is not installed")
    remote = f":s3,provider=Other,env_auth=true,endpoint='{proxy.endpoint}':{remote_store.bucket.bucket}"
    proxy.faults.add(faults.slow_down(share=0.1))
    reset = proxy.faults.add(faults.ResetInBody(times=3, after=1000, only=lambda request: request.method == "GET" and "shard" in request.path))
    mounts.run("rclone", "--config", "/dev/null", "check", "--download", remote_store.store, f"{remote}/{remote_store.prefix}")
    assert reset.count > 0
    mounts.run("rclone", "--config", "/dev/null", "copy", remote_store.tree, f"{remote}/copied")
    names = [path.relative_to(remote_store.tree).as_posix() for path in remote_store.tree.rglob("*.jpg")]
    assert remote_store.bucket.keys("copied/") == sorted("copied/" + name for name in names)
    assert all(remote_store.bucket.get("copied/" + name) == (remote_store.tree / name).read_bytes() for name in names)
