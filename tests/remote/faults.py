# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between a client and an object store: the faults that a FaultProxy plays, one class a kind.

A fault sees each request, and may answer it in place of the server (`refuse`), or change what the server answers (`spoil`).
`only` chooses requests, `share` takes some of those by chance (a seed makes it the same chance in each run), `times` is how many at
most. All of it happens on the proxy's thread; a test reads `count`.
"""

import dataclasses
import datetime
import email.utils
import random
import re
import threading
from collections.abc import Callable

import s3_client

SKEW_MAX = datetime.timedelta(minutes=15)  # S3's


@dataclasses.dataclass
class Request:
    """A request as it came, and what became of it. `bytes` are those of the body that were sent."""

    method: str
    path: str  # encoded, with the bucket in front where the client uses path style
    query: str
    headers: dict  # lower-case names
    connection: int  # number of the client's connection
    status: int = 0
    bytes: int = 0
    fault: str = ""  # the class that was played

    @property
    def range(self):
        return self.headers.get("range", "")

    @property
    def access_key(self):
        claim = s3_client.Claim.of(self.headers)
        return claim.access_key if claim else ""


@dataclasses.dataclass
class Refusal:
    """An answer in place of the server's."""

    status: int
    headers: dict
    body: bytes


def error(status, code, message="", headers=(), **elements):
    """An error as S3 tells it."""
    text = "".join(f"<{name}>{value}</{name}>" for name, value in {"Code": code, "Message": message or code, **elements}.items())
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{text}<RequestId>1</RequestId></Error>'.encode()
    return Refusal(status, {"content-type": "application/xml", **dict(headers)}, body)


@dataclasses.dataclass(kw_only=True)
class Fault:
    """The base: a fault that does nothing. Its subclasses override one of the methods."""

    only: Callable[[Request], bool] = lambda request: True
    share: float = 1.0
    times: int | None = None
    seed: int = 1
    count: int = dataclasses.field(default=0, init=False)

    def __post_init__(self):
        self.chance = random.Random(self.seed)

    def is_due(self, request):
        """Whether this request is one of those; counts it."""
        if not self.only(request) or (self.times is not None and self.count >= self.times) or self.chance.random() >= self.share:
            return False
        self.count += 1
        return True

    def refuse(self, request, proxy):
        """A Refusal, or nothing: then the server is asked."""

    def first_byte_delay_s(self):
        """What the answer waits for."""
        return 0.0

    def spoil(self, answer):
        """Changes a ServerAnswer: what is sent of its head and body."""


@dataclasses.dataclass
class ServerAnswer:
    """What the server has answered, and how the proxy passes it on. A fault sets fields."""

    status: int
    headers: dict
    body_bytes: int | None  # nothing: not known before its end
    stop_after: int | None = None  # bytes of the body, then `stop`
    stop: str = "reset"            # or "close": an orderly end; "stall": silence until the client gives up
    flip_at: int | None = None     # the byte at this offset of the body is another
    is_lost: bool = False          # nothing of it is passed on: the connection is reset

    @property
    def is_data(self):
        return self.status in (200, 206) and bool(self.body_bytes)


@dataclasses.dataclass(kw_only=True)
class Refused(Fault):
    """Any error of S3."""

    status: int
    code: str
    message: str = ""
    headers: dict = dataclasses.field(default_factory=dict)

    def refuse(self, request, proxy):
        return error(self.status, self.code, self.message, self.headers)


def slow_down(**options):
    return Refused(status=503, code="SlowDown", message="Please reduce your request rate.", **options)


def no_such_key(key, **options):
    return Refused(status=404, code="NoSuchKey", only=lambda request: request.path.endswith(s3_client.encoded(key)), **options)


def access_denied(**options):
    return Refused(status=403, code="AccessDenied", message="Access Denied", **options)


def precondition_failed(**options):
    return Refused(status=412, code="PreconditionFailed", **options)


def invalid_range(**options):
    return Refused(status=416, code="InvalidRange", **options)


@dataclasses.dataclass(kw_only=True)
class ResetInBody(Fault):
    """The connection breaks after so many bytes of the body."""

    after: int = 10_000

    def spoil(self, answer):
        if answer.is_data:
            answer.stop_after, answer.stop = min(self.after, answer.body_bytes - 1), "reset"


@dataclasses.dataclass(kw_only=True)
class Stall(Fault):
    """After so many bytes of the body nothing more comes, and the connection stays."""

    after: int = 10_000

    def spoil(self, answer):
        if answer.is_data:
            answer.stop_after, answer.stop = min(self.after, answer.body_bytes - 1), "stall"


@dataclasses.dataclass(kw_only=True)
class LostAnswer(Fault):
    """The server does what it is asked for, and the client does not hear of it."""

    def spoil(self, answer):
        answer.is_lost = True


@dataclasses.dataclass(kw_only=True)
class Hold(Fault):
    """The request does not reach the server before `release` is called."""

    released: threading.Event = dataclasses.field(default_factory=threading.Event, init=False)

    def release(self):
        self.released.set()


@dataclasses.dataclass(kw_only=True)
class HeaderIgnored(Fault):
    """The server does as if this header were not there."""

    header: str


@dataclasses.dataclass(kw_only=True)
class ShortBody(Fault):
    """The body lacks its last bytes. `announced`: the head says so, as for a range that ends past the object; else the connection
    is closed in good order before the length that was announced."""

    missing: int = 100
    announced: bool = False

    def spoil(self, answer):
        if not answer.is_data:
            return
        length = max(0, answer.body_bytes - self.missing)
        answer.stop_after, answer.stop = length, "end" if self.announced else "close"
        if self.announced:
            answer.headers["content-length"] = str(length)
            if match := re.fullmatch(r"bytes (\d+)-\d+/(.*)", answer.headers.get("content-range", "")):
                answer.headers["content-range"] = f"bytes {match[1]}-{int(match[1]) + length - 1}/{match[2]}"


@dataclasses.dataclass(kw_only=True)
class WrongBytes(Fault):
    """One byte of the body is another."""

    at: int = 0

    def spoil(self, answer):
        if answer.is_data:
            answer.flip_at = min(self.at, answer.body_bytes - 1)


@dataclasses.dataclass(kw_only=True)
class WholeObject(Fault):
    """The server does not do ranges: 200 with all of the object."""

    def is_due(self, request):
        return bool(request.range) and super().is_due(request)


@dataclasses.dataclass(kw_only=True)
class SlowFirstByte(Fault):
    seconds: float = 2.0

    def first_byte_delay_s(self):
        return self.seconds


@dataclasses.dataclass(kw_only=True)
class ExpiredToken(Fault):
    """Credentials that have run out: refused until the client comes with others. Those are checked by the proxy, which knows their
    secret, and then passed to the server as the proxy's own."""

    access_key: str
    renewed: s3_client.Credentials

    def is_due(self, request):
        return request.access_key == self.access_key and super().is_due(request)

    def refuse(self, request, proxy):
        return error(400, "ExpiredToken", "The provided token has expired.")


@dataclasses.dataclass(kw_only=True)
class ClockSkew(Fault):
    """The server's clock is so much ahead of the client's: refused unless the request is signed for the server's time. Counts only
    the refused."""

    ahead: datetime.timedelta = datetime.timedelta(minutes=21)

    def now(self):
        return datetime.datetime.now(datetime.timezone.utc) + self.ahead

    def is_due(self, request):
        try:
            signed_at = datetime.datetime.strptime(request.headers.get("x-amz-date", ""), "%Y%m%dT%H%M%S%z")
        except ValueError:
            return False
        return abs(self.now() - signed_at) > SKEW_MAX and super().is_due(request)

    def refuse(self, request, proxy):
        return error(403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.",
                     {"date": email.utils.format_datetime(self.now(), usegmt=True)}, ServerTime=self.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
                     MaxAllowedSkewMilliseconds=int(SKEW_MAX.total_seconds() * 1000))


@dataclasses.dataclass(kw_only=True)
class OtherRegion(Fault):
    """The bucket is in another region: requests that are signed for a wrong one are refused, with 301 or 400."""

    region: str
    status: int = 301

    def is_due(self, request):
        claim = s3_client.Claim.of(request.headers)
        return claim is not None and claim.region != self.region and super().is_due(request)

    def refuse(self, request, proxy):
        headers = {"x-amz-bucket-region": self.region}
        if self.status == 301:
            message = "The bucket you are attempting to access must be addressed using the specified endpoint."
            return error(301, "PermanentRedirect", message, headers, Endpoint=request.headers.get("host", ""))
        wrong = s3_client.Claim.of(request.headers).region
        message = f"The authorization header is malformed; the region '{wrong}' is wrong; expecting '{self.region}'"
        return error(400, "AuthorizationHeaderMalformed", message, headers, Region=self.region)


class Faults:
    """The faults that are on. Safe from any thread; each that is added sees only what comes later."""

    def __init__(self):
        self.mutex = threading.Lock()
        self.all = ()

    def add(self, fault):
        with self.mutex:
            self.all = (*self.all, fault)
        return fault

    def remove(self, fault):
        with self.mutex:
            self.all = tuple(one for one in self.all if one is not fault)

    def clear(self):
        with self.mutex:
            self.all = ()
