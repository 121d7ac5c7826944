# SPDX-License-Identifier: Apache-2.0
"""A plain web server for a folder: ranges, ETags, conditions, TLS; and without what some servers lack.

    with HttpsServer(folder, certificate) as server:
        get(server.url + "/manifest")
"""

import base64
import contextlib
import hashlib
import http.server
import pathlib
import re
import ssl
import threading
import urllib.parse

from faults import Request


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        site = self.server.site
        path, _, query = self.path.partition("?")
        request = Request(self.command, path, query, {name.lower(): value for name, value in self.headers.items()}, self.client_address[1])
        site.log.append(request)
        status, headers, body = site.answer(request)
        request.status, request.bytes = status, len(body) if self.command != "HEAD" else 0
        self.send_response(status)
        for name, value in {**headers, "Content-Length": len(body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body)


class HttpsServer:
    """`query`: what each URL must have behind its '?', as an Azure SAS. `login`: (user, password) of basic authentication. `ranges` and
    `etags`: whether the server has them. `weak`: the ETags are marked as weak, which no If-Match fits. Without a certificate it speaks
    HTTP."""

    def __init__(self, folder, certificate=None, address="127.0.0.1", query="", login=None, ranges=True, etags=True, weak=False):
        self.folder, self.query, self.login, self.ranges, self.etags = pathlib.Path(folder).resolve(), query, login, ranges, etags
        self.weak = weak
        self.log = []  # of faults.Request
        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        self.server.site = self
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate.file, certificate.key)
            # The handshake belongs to the connection's thread, not to the one that accepts.
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"{'https' if certificate else 'http'}://{address}:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def is_weak(self, _request):
        return self.weak

    def answer(self, request):
        """Status, headers, body."""
        if self.query and request.query != self.query:
            return 403, {}, b"the signature in the address is missing or wrong\n"
        if self.login:
            wanted = "Basic " + base64.b64encode(":".join(self.login).encode()).decode()
            if request.headers.get("authorization") != wanted:
                return 401, {"WWW-Authenticate": 'Basic realm="store"'}, b""
        file = (self.folder / urllib.parse.unquote(request.path).lstrip("/")).resolve()
        if not file.is_relative_to(self.folder) or not file.is_file():
            return 404, {}, b"not found\n"
        body = file.read_bytes()
        etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        weak = self.is_weak(request)
        headers = {"ETag": f"W/{etag}" if weak else etag} if self.etags else {}
        headers |= {"Accept-Ranges": "bytes"} if self.ranges else {}
        condition = request.headers.get("if-match")
        if self.etags and condition and condition != "*" and (weak or etag not in re.split(r"\s*,\s*", condition)):
            return 412, headers, b""
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("range", ""))
        if not self.ranges or not match or match.groups() == ("", ""):
            return 200, headers, body
        first = int(match[1]) if match[1] else max(0, len(body) - int(match[2]))
        end = min(len(body), int(match[2]) + 1) if match[1] and match[2] else len(body)
        if first >= end:
            return 416, {**headers, "Content-Range": f"bytes */{len(body)}"}, b""
        return 206, {**headers, "Content-Range": f"bytes {first}-{end - 1}/{len(body)}"}, body[first:end]
