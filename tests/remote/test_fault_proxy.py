# SPDX-License-Identifier: Apache-2.0
"""The fault proxy does what it says, seen by real clients: curl, and an S3 client of ours that shares no code with the product."""

import datetime
import http.client
import threading
import time

import faults
import pytest
from curl import s3_curl
from s3_client import Credentials, S3Client

BODY = bytes(range(256)) * 2000  # 512,000 bytes
RENEWED = Credentials("AUGURNEWKEY", "another-secret", "a-session-token")


@pytest.fixture
def stored(bucket):
    """The bucket with one object, "d=1/some photo.jpg"."""
    bucket.put("d=1/some photo.jpg", BODY)
    return bucket


KEY = "d=1/some photo.jpg"


def through(proxy, bucket, credentials=None, region=None):
    return S3Client(proxy.endpoint, bucket.bucket, credentials or bucket.credentials, region or bucket.region)


def test_without_a_fault_everything_passes(proxy, stored):
    """Also what has a body, and what the server answers in chunks; signatures of two clients stay right."""
    client = through(proxy, stored)
    assert client.get(KEY) == BODY
    assert client.request("GET", KEY, headers={"range": "bytes=1000-1999"}).body == BODY[1000:2000]
    client.put("new", b"x" * 3_000_000)
    assert stored.get("new") == b"x" * 3_000_000
    assert client.keys() == [KEY, "new"]
    assert client.request("HEAD", KEY).headers["content-length"] == str(len(BODY))
    client.delete("new")
    assert stored.keys() == [KEY]
    done = s3_curl(proxy.endpoint, stored, KEY, "--range", "5-9")
    assert (done.exit, done.status, done.body) == (0, 206, BODY[5:10])


def test_a_wrong_secret_is_still_refused_by_the_server(proxy, stored):
    answer = through(proxy, stored, Credentials(stored.credentials.access_key, "wrong")).request("GET", KEY)
    assert (answer.status, answer.code) == (403, "SignatureDoesNotMatch")


def test_the_log_has_every_request(proxy, stored):
    client = through(proxy, stored)
    client.request("GET", KEY, headers={"range": "bytes=0-99"})
    client.request("GET", "gone")
    client.put("other", b"12345")
    read, missing, put = proxy.requests()
    assert (read.method, read.range, read.status, read.bytes) == ("GET", "bytes=0-99", 206, 100)
    assert read.access_key == stored.credentials.access_key
    assert (missing.status, put.method, put.status) == (404, "PUT", 200)
    assert read.connection == put.connection, "the connection was not kept"
    assert proxy.requests(key="some photo") == [read]
    proxy.forget()
    assert proxy.requests() == []


@pytest.mark.parametrize("fault, status, code", [
    (faults.slow_down(), 503, "SlowDown"),
    (faults.access_denied(), 403, "AccessDenied"),
    (faults.precondition_failed(), 412, "PreconditionFailed"),
    (faults.invalid_range(), 416, "InvalidRange"),
    (faults.no_such_key(KEY), 404, "NoSuchKey"),
    (faults.Refused(status=500, code="InternalError"), 500, "InternalError"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_an_error_as_s3_tells_it(proxy, stored, fault, status, code):
    stored.put("other", b"12345")
    client = through(proxy, stored)
    with proxy.playing(fault):
        answer = client.request("GET", KEY)
        assert (answer.status, answer.code, answer.headers["content-type"]) == (status, code, "application/xml")
    assert client.get(KEY) == BODY and fault.count == 1
    assert [one.fault for one in proxy.requests(key=KEY)] == ["Refused", ""]


def test_only_the_missing_key_is_missing(proxy, stored):
    stored.put("other", b"12345")
    client = through(proxy, stored)
    with proxy.playing(faults.no_such_key(KEY)):
        assert client.request("GET", KEY).status == 404 and client.get("other") == b"12345"


def test_a_share_is_the_same_by_chance_in_each_run(proxy, stored):
    client = through(proxy, stored)

    def refused():
        with proxy.playing(faults.slow_down(share=0.05)) as fault:
            answers = [client.request("HEAD", KEY).status for _ in range(200)]
        assert answers.count(503) == fault.count
        return [number for number, status in enumerate(answers) if status == 503]

    # 5 % of 200 are 10; 2 to 25 are 5 standard deviations.
    assert 2 <= len(refused()) <= 25
    assert refused() == refused()


def test_at_most_so_many_times(proxy, stored):
    client = through(proxy, stored)
    with proxy.playing(faults.slow_down(times=2)):
        assert [client.request("GET", KEY).status for _ in range(4)] == [503, 503, 200, 200]


def test_a_reset_in_the_body(proxy, stored):
    with proxy.playing(faults.ResetInBody(after=50_000)):
        done = s3_curl(proxy.endpoint, stored, KEY)
        assert done.exit in (18, 56) and done.body == BODY[:len(done.body)] and len(done.body) <= 50_000
    (request,) = proxy.requests()
    assert (request.status, request.bytes, request.fault) == (200, 50_000, "ResetInBody")
    assert s3_curl(proxy.endpoint, stored, KEY).body == BODY


def test_a_body_that_stalls(proxy, stored):
    with proxy.playing(faults.Stall(after=50_000, times=1)):
        done = s3_curl(proxy.endpoint, stored, KEY, patience_s=5)  # for what comes before
        assert (done.exit, done.body) == (28, BODY[:50_000])
        assert s3_curl(proxy.endpoint, stored, KEY).body == BODY, "another connection was held up"


def test_wrong_bytes(proxy, stored):
    with proxy.playing(faults.WrongBytes(at=300_000)):
        done = s3_curl(proxy.endpoint, stored, KEY)
    assert (done.exit, len(done.body)) == (0, len(BODY))
    assert [at for at, (got, wanted) in enumerate(zip(done.body, BODY, strict=True)) if got != wanted] == [300_000]


def test_a_server_without_ranges(proxy, stored):
    """The client signs the Range header, so the proxy must sign anew."""
    client = through(proxy, stored)
    with proxy.playing(faults.WholeObject()):
        answer = client.request("GET", KEY, headers={"range": "bytes=1000-1999"})
        assert (answer.status, answer.body) == (200, BODY)
        assert s3_curl(proxy.endpoint, stored, KEY, "--range", "5-9").body == BODY
        wrong = through(proxy, stored, Credentials(stored.credentials.access_key, "wrong"))
        assert wrong.request("GET", KEY, headers={"range": "bytes=0-9"}).code == "SignatureDoesNotMatch"


def test_a_short_body(proxy, stored):
    with proxy.playing(faults.ShortBody(missing=100)):
        done = s3_curl(proxy.endpoint, stored, KEY)
        assert (done.exit, done.body, done.headers["content-length"]) == (18, BODY[:-100], str(len(BODY)))
    with proxy.playing(faults.ShortBody(missing=100, announced=True)):
        done = s3_curl(proxy.endpoint, stored, KEY, "--range", "1000-1999")
        assert (done.exit, done.body, done.headers["content-length"]) == (0, BODY[1000:1900], "900")
        assert done.headers["content-range"] == f"bytes 1000-1899/{len(BODY)}"


def test_a_slow_first_byte(proxy, stored):
    with proxy.playing(faults.SlowFirstByte(seconds=30, times=1)):
        assert s3_curl(proxy.endpoint, stored, KEY, patience_s=5).exit == 28  # by then the fault has seen it
        assert s3_curl(proxy.endpoint, stored, KEY).body == BODY


def test_a_line_that_is_cut_and_mended(proxy, stored):
    client = through(proxy, stored)
    assert client.get(KEY) == BODY
    proxy.cut()
    assert s3_curl(proxy.endpoint, stored, KEY, patience_s=1).exit == 28
    found = []
    waiting = threading.Thread(target=lambda: found.append(client.get(KEY)))
    waiting.start()
    waiting.join(timeout=0.2)
    assert waiting.is_alive()
    proxy.mend()
    waiting.join()
    assert found == [BODY], "what waited in the cut line did not arrive"
    start = time.monotonic()
    proxy.cut_for(0.5)
    assert client.get(KEY) == BODY and time.monotonic() - start > 0.49, "it was not cut"


def test_a_server_that_is_down_and_up_again(proxy, stored):
    client = through(proxy, stored)
    assert client.get(KEY) == BODY
    proxy.refuse_connections()
    assert s3_curl(proxy.endpoint, stored, KEY).exit == 7
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        client.get(KEY)
    proxy.accept_connections()
    assert client.get(KEY) == BODY


def test_credentials_that_expire(proxy, stored):
    with proxy.playing(faults.ExpiredToken(access_key=stored.credentials.access_key, renewed=RENEWED)) as fault:
        old = through(proxy, stored)
        assert [(old.request("GET", KEY).status, old.request("GET", KEY).code) for _ in range(2)] == [(400, "ExpiredToken")] * 2
        assert through(proxy, stored, RENEWED).get(KEY) == BODY
        assert fault.count == 4
        for wrong, code in ((Credentials(RENEWED.access_key, "wrong", RENEWED.token), "SignatureDoesNotMatch"),
                            (Credentials(RENEWED.access_key, RENEWED.secret_key), "InvalidToken"),
                            (Credentials("UNKNOWN", "wrong"), "InvalidAccessKeyId")):
            assert through(proxy, stored, wrong).request("GET", KEY).code == code


def test_a_clock_that_is_off(proxy, stored):
    with proxy.playing(faults.ClockSkew()) as fault:
        client = through(proxy, stored)
        answer = client.request("GET", KEY)
        assert (answer.status, answer.code) == (403, "RequestTimeTooSkewed")
        told = datetime.datetime.strptime(answer.headers["date"], "%a, %d %b %Y %H:%M:%S %Z").replace(tzinfo=datetime.timezone.utc)
        assert told > datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=20)
        assert client.request("GET", KEY, moment=told).body == BODY
        client.must("PUT", "new", body=b"12345", moment=told)
        assert fault.count == 1
    assert stored.get("new") == b"12345"


@pytest.mark.parametrize("status, code", [(301, "PermanentRedirect"), (400, "AuthorizationHeaderMalformed")])
def test_a_bucket_in_another_region(proxy, stored, status, code):
    with proxy.playing(faults.OtherRegion(region="eu-west-1", status=status)):
        answer = through(proxy, stored).request("GET", KEY)
        assert (answer.status, answer.code, answer.headers["x-amz-bucket-region"]) == (status, code, "eu-west-1")
        assert (b"<Region>eu-west-1</Region>" in answer.body) == (status == 400)
        assert through(proxy, stored).request("HEAD").headers["x-amz-bucket-region"] == "eu-west-1"
        assert through(proxy, stored, region="eu-west-1").get(KEY) == BODY


def test_many_at_once(proxy, stored):
    """Each connection by itself: one that stalls holds up none."""
    stored.put("held", BODY)
    with proxy.playing(faults.Stall(only=lambda request: request.path.endswith("held"))):
        held = threading.Thread(target=s3_curl, args=(proxy.endpoint, stored, "held"), kwargs={"patience_s": 2})
        held.start()
        read_by_eight(proxy, stored)
        held.join()


def read_by_eight(proxy, stored):
    results = []

    def read():
        client = through(proxy, stored)
        results.extend(client.get(KEY) == BODY for _ in range(5))
        client.close()

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 40


def test_tls(tls_proxy, stored, certificate):
    assert tls_proxy.endpoint.startswith("https://")
    assert s3_curl(tls_proxy.endpoint, stored, KEY).exit == 60, "a certificate of an unknown authority was taken"
    assert s3_curl(tls_proxy.endpoint, stored, KEY, "--cacert", certificate.file).body == BODY
    client = S3Client(tls_proxy.endpoint, stored.bucket, stored.credentials, stored.region, certificate.file)
    with tls_proxy.playing(faults.ResetInBody(times=1)), pytest.raises((ConnectionError, http.client.HTTPException, OSError)):
        client.get(KEY)
    assert client.get(KEY) == BODY
