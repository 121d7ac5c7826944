# SPDX-License-Identifier: Apache-2.0
"""A server behind a slow line: the namespaces and the delay that netlag makes, for as long as the context lasts."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess

import mounts


libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


def _enter(namespace):
    if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")


class Host:
    """A network namespace with one address."""

    def __init__(self, description):
        self.address, self.namespace = description["address"], description["namespace"]

    @property
    def prefix(self):
        """The words that run a command there. Its mounts are seen everywhere, unlike those of 'ip netns exec'."""
        return ["nsenter", f"--net={self.namespace}"]

    @contextlib.contextmanager
    def entered(self):
        """The calling thread is there, and so are the connections, processes and threads that it makes; afterwards it is back."""
        with open("/proc/thread-self/ns/net", "rb") as back, open(self.namespace, "rb") as there:
            _enter(there)
            try:
                yield
            finally:
                _enter(back)

    def received_bytes(self):
        """All that came over the line until now, headers included."""
        return self._device()[0]

    def sent_bytes(self):
        """The same of what went out."""
        return self._device()[8]

    def _device(self):
        text = mounts.run(*self.prefix, "cat", "/proc/net/dev")
        row = next(line for line in text.splitlines() if line.strip().startswith("lag0:"))
        return [int(field) for field in row.split(":")[1].split()]


class Line:
    def __init__(self, process, description):
        self.process = process
        self.server = Host(description["server"])
        self.clients = [Host(client) for client in description["clients"]]

    def cut(self):
        """Until `mend` nothing passes, and what is on its way is lost."""
        self.process.send_signal(signal.SIGUSR1)

    def mend(self):
        self.process.send_signal(signal.SIGUSR2)


@contextlib.contextmanager
def slow_line(clients=1, delay_ms=15.0, rate_mbit=0.0, queue_kib=16384):
    """A Line, once its namespaces are there. Needs root. What is started in them should have ended before the context does."""
    words = [mounts.program("netlag"), "--clients", clients, "--delay-ms", delay_ms, "--rate-mbit", rate_mbit, "--queue-kib", queue_kib]
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        first = process.stdout.readline()
        if not first:
            raise RuntimeError(f"netlag: {process.communicate()[1].decode(errors='replace')}")
        yield Line(process, json.loads(first))
    finally:
        process.terminate()
        mounts.end(process)
