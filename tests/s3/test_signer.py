# SPDX-License-Identifier: Apache-2.0
"""src/s3 signs as botocore does: random requests to S3 and STS, with headers of a common prefix, tokens and odd keys.

botocore signs here, sign_dump beside it. Its packages are not in the environment of the other tests: AUGUR_BOTOCORE is the
folder that `packaging/venv.sh botocore` prints. The numbers come from a seed that is printed by a failure (AUGUR_TEST_SEED
repeats it).
"""

import datetime
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import urllib.parse

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import mounts  # noqa: E402

REQUESTS = 200
HEADERS = ["range", "if-match", "x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id", "x-amz-meta-a",
           "x-amz-meta-a-b", "x-amz-request-payer", "content-type"]
PARAMETERS = ["prefix", "list-type", "uploads", "uploadId", "partNumber", "continuation-token", "max-keys", "a-b", "a", "A"]
LETTERS = "abcXYZ019-._~ +%&$@:,;=?!*'()[]{}\u00fc\u1234\U0001f600\"<>#|^`\\"


@pytest.fixture
def rng():
    seed = int(os.environ.get("AUGUR_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"AUGUR_TEST_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def botocore():
    """The package, without a trace of it for other tests: another urllib3 comes with it."""
    folder = os.environ.get("AUGUR_BOTOCORE")
    if not folder:
        pytest.skip("AUGUR_BOTOCORE is not set: it is what `packaging/venv.sh botocore` prints")
    before = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        import botocore.auth
        import botocore.awsrequest
        import botocore.credentials

        yield botocore
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before:
            del sys.modules[name]


def text(rng, longest, letters=LETTERS):
    return "".join(rng.choices(letters, k=rng.randint(1, longest)))


def request(rng):
    service = rng.choice(["s3", "s3", "s3", "sts"])
    key = "/".join(text(rng, 12) for _ in range(rng.randint(1, 4))) if service == "s3" else ""
    body = rng.randbytes(rng.randint(0, 100))
    # The hash of STS is always that of the body.
    payload_hash = hashlib.sha256(body).hexdigest() if service == "sts" or rng.random() < 0.5 else "UNSIGNED-PAYLOAD"
    moment = datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=rng.randrange(10**9))
    return {
        "method": rng.choice(["GET", "PUT", "POST", "HEAD", "DELETE"]),
        "host": rng.choice(["b.s3.eu-west-1.amazonaws.com", "127.0.0.1:7070", "storage.googleapis.com"]),
        "path": "/" + key,
        "query": [[name, rng.choice(["", text(rng, 10)])] for name in rng.sample(PARAMETERS, rng.randint(0, 4))],
        "headers": [[name, "v" + text(rng, 12, "abc 0-9/")] for name in rng.sample(HEADERS, rng.randint(0, 5))],
        "payload_hash": payload_hash,
        "access_key_id": "AKIA" + text(rng, 16, "ABC123"),
        "secret_access_key": text(rng, 40, "abcABC/+012"),
        "session_token": rng.choice(["", text(rng, 200, "abcABC/+=012")]),
        "region": rng.choice(["us-east-1", "eu-west-1", "auto"]),
        "service": service,
        "time": moment.isoformat() + "Z",
    }


def signed_by_botocore(botocore, row):
    """(query, header authorization) as sign_dump prints them. botocore takes no time: the steps of its add_auth are called one by one."""
    query = sorted((urllib.parse.quote(name, safe="-_.~"), urllib.parse.quote(value, safe="-_.~")) for name, value in row["query"])
    query = "&".join(f"{name}={value}" for name, value in query)
    url = f"https://{row['host']}{urllib.parse.quote(row['path'], safe='/-_.~')}" + (f"?{query}" if query else "")
    credentials = botocore.credentials.Credentials(row["access_key_id"], row["secret_access_key"], row["session_token"] or None)
    auth = {"s3": botocore.auth.S3SigV4Auth, "sts": botocore.auth.SigV4Auth}[row["service"]](credentials, row["service"], row["region"])
    stamp = row["time"].replace("-", "").replace(":", "")
    signed = botocore.awsrequest.AWSRequest(row["method"], url, headers=dict(row["headers"]))
    signed.headers["Host"] = row["host"]
    signed.headers["X-Amz-Date"] = stamp
    if row["session_token"]:
        signed.headers["X-Amz-Security-Token"] = row["session_token"]
    auth.payload = lambda request: row["payload_hash"]
    if row["service"] == "s3":
        signed.headers["X-Amz-Content-SHA256"] = row["payload_hash"]
    signed.context["timestamp"] = stamp
    canonical = auth.canonical_request(signed)
    signature = auth.signature(auth.string_to_sign(signed, canonical), signed)
    names = auth.signed_headers(auth.headers_to_sign(signed))
    return query, f"AWS4-HMAC-SHA256 Credential={auth.scope(signed)}, SignedHeaders={names}, Signature={signature}"


def test_signatures_are_those_of_botocore(botocore, rng):
    rows = [request(rng) for _ in range(REQUESTS)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    run = subprocess.run([mounts.program("sign_dump")], input=lines, capture_output=True, text=True, check=True)
    ours = [tuple(line.split("\t")) for line in run.stdout.splitlines()]
    assert len(ours) == REQUESTS
    for row, mine in zip(rows, ours):
        assert mine == signed_by_botocore(botocore, row), row
