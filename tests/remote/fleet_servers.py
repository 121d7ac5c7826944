# SPDX-License-Identifier: Apache-2.0
"""memcached servers of a fleet, as context managers: real ones, on free ports of 127.0.0.1. None is left when the context ends."""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE_S = 60


class Memcached:
    """`words` come after those of a fleet: no eviction, and room for values of 1 MiB."""

    def __init__(self, *words):
        self.words = [str(word) for word in (words or ("-M", "-I", "2m", "-m", "64"))]
        self.process, self.port = None, None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        """At the port that it had before, if it was killed."""
        with tempfile.TemporaryDirectory(prefix="augur-memcached-") as folder:
            file = pathlib.Path(folder) / "port"
            user = ["-u", "root"] if os.geteuid() == 0 else []
            self.process = subprocess.Popen(["memcached", "-l", "127.0.0.1", "-U", "0", "-t", "1", "-p", str(self.port or -1), *user, *self.words],
                                            stdin=subprocess.DEVNULL, env={**os.environ, "MEMCACHED_PORT_FILENAME": str(file)})
            end = time.monotonic() + PATIENCE_S
            while not file.exists() or not file.read_text().endswith("\n"):
                if self.process.poll() is not None or time.monotonic() > end:
                    self.kill()
                    raise RuntimeError(f"memcached does not start: {' '.join(self.words)}")
                time.sleep(0.005)
            self.port = int(file.read_text().split()[-1])

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        """As a machine that hangs."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def ask(self, request, end=b"END\r\n"):
        """The answer to a request of the text protocol."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as connection:
            connection.sendall(request)
            answer = b""
            while not answer.endswith(end):
                received = connection.recv(1 << 16)
                if not received:
                    break
                answer += received
            return answer

    def keys(self):
        """Names and sizes of all values."""
        lines = self.ask(b"lru_crawler metadump all\r\n").decode().splitlines()
        return [line.split()[0].removeprefix("key=") for line in lines if line.startswith("key=")]

    def put(self, key, value):
        assert self.ask(f"set {key} 0 0 {len(value)}\r\n".encode() + value + b"\r\n", b"STORED\r\n") == b"STORED\r\n"
