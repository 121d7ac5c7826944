# SPDX-License-Identifier: Apache-2.0
"""A small S3 client for tests and benchmarks: signs requests (AWS Signature Version 4), and checks the signatures of others.

It shares no code with the client of src/s3, so each can be tested with the other. One connection, kept; one thread.
"""

import dataclasses
import datetime
import hashlib
import hmac
import http.client
import re
import ssl
import urllib.parse
import xml.etree.ElementTree

UNSIGNED = "UNSIGNED-PAYLOAD"
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w{64})")


@dataclasses.dataclass(frozen=True)
class Credentials:
    access_key: str
    secret_key: str
    token: str = ""


def encoded(text, safe="/"):
    """S3's rule: all but letters, digits and -._~ as upper-case %XX."""
    return urllib.parse.quote(text, safe=safe + "-._~")


def encoded_query(parameters):
    """{name: value} as a query string, sorted as a signature wants it."""
    return "&".join(f"{encoded(name, '')}={encoded(str(value), '')}" for name, value in sorted(parameters.items()))


def canonical_query(query):
    """The query string of a request, as a signature has it: each value with a '=', sorted."""
    return "&".join(sorted(part if "=" in part else part + "=" for part in query.split("&") if part))


def amz_date(moment=None):
    return (moment or datetime.datetime.now(datetime.timezone.utc)).strftime("%Y%m%dT%H%M%SZ")


def signature(secret_key, date, region, service, method, path, query, signed, payload_hash):
    """The hexadecimal signature; `signed` are the signed headers, {lower-case name: value}, x-amz-date among them."""
    headers = "".join(f"{name}:{' '.join(value.split())}\n" for name, value in sorted(signed.items()))
    canonical = "\n".join([method, path, canonical_query(query), headers, ";".join(sorted(signed)), payload_hash])
    scope = f"{date}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", signed["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret_key).encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, text.encode(), "sha256").hexdigest()


def signed_headers(credentials, region, method, host, path, query="", headers=(), payload_hash=UNSIGNED, moment=None):
    """The headers to add to a request, so that it is signed: those given are signed, too."""
    date = amz_date(moment)
    signed = {"host": host, "x-amz-content-sha256": payload_hash, "x-amz-date": date, **{name.lower(): value for name, value in dict(headers).items()}}
    if credentials.token:
        signed["x-amz-security-token"] = credentials.token
    found = signature(credentials.secret_key, date[:8], region, "s3", method, path, query, signed, payload_hash)
    scope = f"{credentials.access_key}/{date[:8]}/{region}/s3/aws4_request"
    return {**signed, "authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={';'.join(sorted(signed))}, Signature={found}"}


@dataclasses.dataclass(frozen=True)
class Claim:
    """What a request's Authorization says."""

    access_key: str
    region: str
    signed_names: tuple
    signature: str
    date: str
    service: str

    @classmethod
    def of(cls, headers):
        """Nothing when there is none. `headers`: {lower-case name: value}."""
        match = AUTHORIZATION.fullmatch(headers.get("authorization", ""))
        return match and cls(match[1], match[3], tuple(match[5].split(";")), match[6], match[2], match[4])

    def is_signed_by(self, secret_key, method, path, query, headers):
        signed = {name: headers.get(name, "") for name in self.signed_names}
        if "x-amz-date" not in signed or "host" not in signed:
            return False
        expected = signature(secret_key, self.date, self.region, self.service, method, path, query, signed, headers.get("x-amz-content-sha256", ""))
        return hmac.compare_digest(expected, self.signature)


@dataclasses.dataclass(frozen=True)
class Answer:
    status: int
    headers: dict  # lower-case names
    body: bytes

    @property
    def code(self):
        """S3's name of an error, or nothing."""
        match = re.search(rb"<Code>(\w+)</Code>", self.body)
        return match[1].decode() if match else ""


class S3Client:
    """Requests to one bucket of one server, in path style."""

    def __init__(self, endpoint, bucket, credentials, region="us-east-1", ca_file=None, timeout_s=30):
        parts = urllib.parse.urlsplit(endpoint)
        self.bucket, self.credentials, self.region = bucket, credentials, region
        self.host = parts.netloc
        if parts.scheme == "https":
            self.connection = http.client.HTTPSConnection(parts.netloc, timeout=timeout_s, context=ssl.create_default_context(cafile=ca_file))
        else:
            self.connection = http.client.HTTPConnection(parts.netloc, timeout=timeout_s)

    def request(self, method, key="", query=None, headers=(), body=b"", moment=None):
        """One request; its answer, whatever its status. A connection that fails is the caller's error, and is closed."""
        path = "/" + encoded(self.bucket) + ("/" + encoded(key) if key else "")
        text = encoded_query(query or {})
        payload_hash = hashlib.sha256(body).hexdigest() if body else UNSIGNED if method in ("GET", "HEAD") else hashlib.sha256().hexdigest()
        all_headers = signed_headers(self.credentials, self.region, method, self.host, path, text, headers, payload_hash, moment)
        try:
            self.connection.request(method, path + ("?" + text if text else ""), body or None, all_headers)
            answer = self.connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        except Exception:
            self.connection.close()
            raise

    def must(self, *words, **options):
        """The same, and it must succeed."""
        answer = self.request(*words, **options)
        if answer.status >= 300:
            raise RuntimeError(f"{words}: {answer.status} {answer.body.decode(errors='replace')}")
        return answer

    def create_bucket(self):
        self.must("PUT")

    def put(self, key, body):
        """Returns the ETag."""
        return self.must("PUT", key, body=body).headers["etag"]

    def get(self, key):
        return self.must("GET", key).body

    def delete(self, key):
        self.must("DELETE", key)

    def keys(self, prefix=""):
        """All keys that begin so, sorted."""
        found, more = [], {}
        while True:
            root = xml.etree.ElementTree.fromstring(self.must("GET", query={"list-type": 2, "prefix": prefix, **more}).body)
            texts = {name: [one.text for one in root.iter() if one.tag.endswith("}" + name) or one.tag == name]
                     for name in ("Key", "NextContinuationToken")}
            found += texts["Key"]
            if not texts["NextContinuationToken"]:
                return sorted(found)
            more = {"continuation-token": texts["NextContinuationToken"][0]}

    def versions(self):
        """(version, key) of all that a bucket keeps, also of the marks that something was removed. One page."""
        root = xml.etree.ElementTree.fromstring(self.must("GET", query={"versions": ""}).body)
        texts = [{one.tag.rpartition("}")[2]: one.text for one in node} for node in root]
        return [(node["VersionId"], node["Key"]) for node in texts if "VersionId" in node]

    def close(self):
        self.connection.close()
