# SPDX-License-Identifier: Apache-2.0
"""An HTTP/1.1 proxy in front of an object store, that plays faults while it runs, and keeps a list of all requests.

    with FaultProxy(server.endpoint, server.credentials) as proxy:
        client.use(proxy.endpoint)
        fault = proxy.faults.add(faults.slow_down(share=0.05))
        ...
        assert len(proxy.requests(method="GET", key="shard-0")) == 3

The Host header passes as the client sent it, so signatures stay right. Where a fault needs a request that the client could not have
signed for the server (another clock, region or secret; no range), the proxy checks the client's signature itself and signs anew.
It runs on a thread of its own, and ends with the context.
"""

import asyncio
import contextlib
import socket
import ssl
import struct
import threading
import urllib.parse

import s3_client
from faults import ClockSkew, ExpiredToken, Faults, HeaderIgnored, Hold, OtherRegion, Request, ServerAnswer, WholeObject, error

PIECE_BYTES = 256 << 10
NOT_PASSED_ON = {"connection", "keep-alive", "proxy-connection", "expect"}
RESIGNED_BY = (ClockSkew, ExpiredToken, HeaderIgnored, OtherRegion, WholeObject)


class ConnectionEnded(Exception):
    """One of the two sides is gone, or must go."""


async def read_head(reader):
    """First line and {lower-case name: value} of a request or an answer. ConnectionEnded when none comes."""
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError) as failure:
        raise ConnectionEnded from failure
    first, *lines = text.rstrip("\r\n").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return first, headers


def head_bytes(first, headers):
    return "".join([first, "\r\n", *(f"{name}: {value}\r\n" for name, value in headers.items()), "\r\n"]).encode("latin-1")


async def body_pieces(reader, headers, until_end=False):
    """The bytes of a body, as they come; a chunked one without its chunks."""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        while size := int((await reader.readline()).split(b";")[0] or b"0", 16):
            while size:
                piece = await reader.read(min(size, PIECE_BYTES))
                if not piece:
                    raise ConnectionEnded
                size -= len(piece)
                yield piece
            await reader.readline()
        while (await reader.readline()).strip():
            pass
        return
    left = int(headers["content-length"]) if "content-length" in headers else None if until_end else 0
    while left is None or left > 0:
        piece = await reader.read(PIECE_BYTES if left is None else min(left, PIECE_BYTES))
        if not piece:
            if left is None:
                return
            raise ConnectionEnded
        left = None if left is None else left - len(piece)
        yield piece


class Upstream:
    """The server's side of one connection of a client; made anew when the server has closed it."""

    def __init__(self, url, ca_file):
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self.tls = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
        self.reader = self.writer = None

    async def open(self):
        if self.writer is None or self.writer.is_closing() or self.reader.at_eof():
            self.close()
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port, ssl=self.tls, limit=PIECE_BYTES)

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


class FaultProxy:
    """`url`: the server's. `credentials`: with which the proxy signs where it must. `certificate`: clients speak TLS with the proxy."""

    def __init__(self, url, credentials=None, region="us-east-1", address="127.0.0.1", certificate=None, ca_file=None):
        self.url, self.credentials, self.region, self.ca_file = url, credentials, region, ca_file
        self.address, self.certificate = address, certificate
        self.faults = Faults()
        self.log = []  # of Request, in the order of coming
        self.connections = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="fault-proxy")
        self.tasks = set()
        self.listener = None
        self.flowing = None  # an asyncio.Event: not set while the line is cut

    # What tests call, from their thread.

    def __enter__(self):
        self.thread.start()
        self._call(self._start())
        return self

    def __exit__(self, *_):
        self._call(self._stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    @property
    def endpoint(self):
        return f"{'https' if self.certificate else 'http'}://{self.address}:{self.port}"

    def requests(self, method=None, key=None, status=None):
        """Those of this method, with this text in their path, answered with this status (0: no answer yet)."""
        return [one for one in list(self.log) if method in (None, one.method) and (key is None or key in urllib.parse.unquote(one.path))
                and status in (None, one.status)]

    def forget(self):
        """Empties the log."""
        self.log.clear()

    @contextlib.contextmanager
    def playing(self, fault):
        self.faults.add(fault)
        try:
            yield fault
        finally:
            self.faults.remove(fault)

    def cut(self):
        """The line is silent: nothing passes, and connections stay, as when a router is off."""
        self.loop.call_soon_threadsafe(self.flowing.clear)

    def mend(self):
        self.loop.call_soon_threadsafe(self.flowing.set)

    def cut_for(self, seconds):
        """Cut now, mended by itself."""
        self.loop.call_soon_threadsafe(self._cut_for, seconds)

    def refuse_connections(self):
        """The server is down: those that are open break, and new ones are refused."""
        self._call(self._close_listener())
        self.loop.call_soon_threadsafe(self._break_connections)

    def accept_connections(self):
        self._call(self._listen())

    # The rest runs on the proxy's thread.

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=30)

    def _cut_for(self, seconds):
        self.flowing.clear()
        self.loop.call_later(seconds, self.flowing.set)

    def _break_connections(self):
        for task in self.tasks:
            task.cancel()

    async def _start(self):
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.port = 0
        await self._listen()

    async def _listen(self):
        tls = None
        if self.certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(self.certificate.file, self.certificate.key)
        self.listener = await asyncio.start_server(self._serve, self.address, self.port, ssl=tls, limit=PIECE_BYTES)
        self.port = self.listener.sockets[0].getsockname()[1]

    async def _close_listener(self):
        if self.listener is not None:
            self.listener.close()
        self.listener = None

    async def _stop(self):
        await self._close_listener()
        tasks = list(self.tasks)
        self._break_connections()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        self.connections += 1
        number = self.connections
        upstream = Upstream(self.url, self.ca_file)
        try:
            while True:
                await self._one_request(reader, writer, upstream, number)
        except (ConnectionEnded, OSError, ssl.SSLError):
            pass
        except asyncio.CancelledError:
            self._reset(writer)
        finally:
            self.tasks.discard(task)
            upstream.close()
            writer.close()

    @staticmethod
    def _reset(writer):
        connection = writer.get_extra_info("socket")
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def _one_request(self, reader, writer, upstream, number):
        first, headers = await read_head(reader)
        await self.flowing.wait()
        method, target, _ = first.split(" ", 2)
        path, _, query = target.partition("?")
        request = Request(method, path, query, headers, number)
        self.log.append(request)
        on = self.faults.all
        due = next((fault for fault in on if fault.is_due(request)), None)
        if due is not None:
            request.fault = type(due).__name__
        while isinstance(due, Hold) and not due.released.is_set():
            await asyncio.sleep(0.02)
        body = self._request_body(reader, writer, headers)
        refusal = due and due.refuse(request, self)
        if refusal is None and any(isinstance(fault, RESIGNED_BY) for fault in on) and self.credentials:
            refusal = self._check_signature(request, on)
        if refusal is not None:
            async for _ in body:
                pass
            request.status, request.bytes = refusal.status, len(refusal.body) if method != "HEAD" else 0
            writer.write(head_bytes(f"HTTP/1.1 {refusal.status} Refused", {**refusal.headers, "content-length": str(len(refusal.body))}))
            writer.write(refusal.body if method != "HEAD" else b"")
            await writer.drain()
            return
        first, answer_headers = await self._answer_of_server(request, body, upstream, self._headers_for_server(request, on, due))
        await self._pass_on(request, reader, writer, upstream, due, int(first.split(" ", 2)[1]), answer_headers)

    @staticmethod
    async def _request_body(reader, writer, headers):
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await writer.drain()
        async for piece in body_pieces(reader, headers):
            yield piece

    def _check_signature(self, request, on):
        """As the server would, with the secrets that the proxy knows."""
        known = [self.credentials, *(fault.renewed for fault in on if isinstance(fault, ExpiredToken))]
        claim = s3_client.Claim.of(request.headers)
        if claim is None:
            return None  # anonymous: the server decides
        match = next((one for one in known if one.access_key == claim.access_key), None)
        if match is None:
            return error(403, "InvalidAccessKeyId")
        if match.token != request.headers.get("x-amz-security-token", ""):
            return error(400, "InvalidToken")
        if not claim.is_signed_by(match.secret_key, request.method, request.path, request.query, request.headers):
            return error(403, "SignatureDoesNotMatch")
        return None

    def _headers_for_server(self, request, on, due):
        headers = {name: value for name, value in request.headers.items() if name not in NOT_PASSED_ON}
        if isinstance(due, WholeObject):
            headers.pop("range")
        for fault in on:
            if isinstance(fault, HeaderIgnored):
                headers.pop(fault.header, None)
        claim = s3_client.Claim.of(request.headers)
        if claim is None or not self.credentials or not any(isinstance(fault, RESIGNED_BY) for fault in on):
            return headers
        for name in ("authorization", "x-amz-date", "x-amz-security-token"):
            headers.pop(name, None)
        again = {name: headers[name] for name in claim.signed_names
                 if name in headers and name not in ("host", "x-amz-content-sha256")}
        return {**headers, **s3_client.signed_headers(self.credentials, self.region, request.method, request.headers["host"], request.path,
                                                      request.query, again, request.headers.get("x-amz-content-sha256", s3_client.UNSIGNED))}

    async def _answer_of_server(self, request, body, upstream, headers):
        """Asks once more when the server has closed the kept connection just then: that is no fault that was asked for."""
        is_empty = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        if is_empty and upstream.writer is not None:
            with contextlib.suppress(ConnectionEnded, OSError):
                await self._ask_server(request, body, upstream, headers)
                return await read_head(upstream.reader)
            upstream.close()
        await self._ask_server(request, body, upstream, headers)
        return await read_head(upstream.reader)

    @staticmethod
    async def _ask_server(request, body, upstream, headers):
        await upstream.open()
        target = request.path + ("?" + request.query if request.query else "")
        upstream.writer.write(head_bytes(f"{request.method} {target} HTTP/1.1", headers))
        chunked = "transfer-encoding" in headers
        async for piece in body:
            upstream.writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            await upstream.writer.drain()
        if chunked:
            upstream.writer.write(b"0\r\n\r\n")
        await upstream.writer.drain()

    async def _pass_on(self, request, reader, writer, upstream, due, status, headers):
        has_body = request.method != "HEAD" and status not in (204, 304)
        answer = ServerAnswer(status, dict(headers), int(headers["content-length"]) if has_body and "content-length" in headers else None)
        if due is not None:
            await asyncio.sleep(due.first_byte_delay_s())
            due.spoil(answer)
        await self.flowing.wait()
        if answer.is_lost:
            self._reset(writer)
            raise ConnectionEnded
        server_closes = answer.headers.get("connection", "").lower() == "close"
        to_client = {name: value for name, value in answer.headers.items() if name not in NOT_PASSED_ON}
        chunked = has_body and answer.body_bytes is None
        if chunked:
            to_client["transfer-encoding"] = "chunked"
        if server_closes:
            to_client["connection"] = "close"
        request.status = status
        writer.write(head_bytes(f"HTTP/1.1 {status} From the server", to_client))
        if has_body:
            pieces = body_pieces(upstream.reader, headers, until_end=True)
            await self._pass_body(request, reader, writer, pieces, answer, chunked)
        await writer.drain()
        if server_closes:
            raise ConnectionEnded

    async def _pass_body(self, request, reader, writer, pieces, answer, chunked):
        async for piece in pieces:
            await self.flowing.wait()
            if answer.flip_at is not None and request.bytes <= answer.flip_at < request.bytes + len(piece):
                at = answer.flip_at - request.bytes
                piece = piece[:at] + bytes([piece[at] ^ 0xFF]) + piece[at + 1:]
            if answer.stop_after is not None:
                piece = piece[:max(0, answer.stop_after - request.bytes)]
            request.bytes += len(piece)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked and piece else piece)
            await writer.drain()
            if answer.stop_after is not None and request.bytes >= answer.stop_after and answer.stop != "end":
                await self._stop_in_body(reader, writer, answer.stop)
        if chunked:
            writer.write(b"0\r\n\r\n")

    async def _stop_in_body(self, reader, writer, how):
        if how == "reset":
            self._reset(writer)
        while how == "stall" and not reader.at_eof() and not writer.is_closing():
            await asyncio.sleep(0.05)
        raise ConnectionEnded
