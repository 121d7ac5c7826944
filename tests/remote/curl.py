# SPDX-License-Identifier: Apache-2.0
"""Requests by the curl program, as a client that is not ours."""

import dataclasses
import subprocess
import tempfile

import s3_client


@dataclasses.dataclass(frozen=True)
class Curled:
    exit: int  # curl's: 18 partial body, 28 time is up, 52 no answer, 56 reset, 7 refused
    status: int  # 0: no answer
    body: bytes
    headers: dict


def curl(url, *words, patience_s=30):
    with tempfile.NamedTemporaryFile() as body, tempfile.NamedTemporaryFile() as head:
        done = subprocess.run(["curl", "--silent", "--noproxy", "*", "--max-time", str(patience_s), "--output", body.name, "--dump-header", head.name,
                               "--write-out", "%{http_code}", *words, url], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
        lines = [line.partition(":") for line in head.read().decode("latin-1").splitlines()]
        headers = {name.lower(): value.strip() for name, colon, value in lines if colon}
        return Curled(done.returncode, int(done.stdout), body.read(), headers)


def s3_curl(endpoint, bucket, key, *words, patience_s=30):
    """A GET that curl signs. `bucket`: an S3Client, of which the credentials, region and name are used."""
    credentials = bucket.credentials
    url = f"{endpoint}/{bucket.bucket}/{s3_client.encoded(key)}"
    return curl(url, "--aws-sigv4", f"aws:amz:{bucket.region}:s3", "--user", f"{credentials.access_key}:{credentials.secret_key}",
                "--header", f"x-amz-content-sha256: {s3_client.UNSIGNED}", *words, patience_s=patience_s)
