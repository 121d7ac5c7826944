#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a folder as http://NAME:PORT in namespaces of its own, where the first name server never answers and the second one knows
each name, and runs a program there: {url} in its words is the folder's address.

    unshare --mount --net name_servers.py FOLDER PROGRAM [WORD...]

It ends with the program's status. The sockets and the mount end with the namespaces.
"""

import fcntl
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "remote")]
from https_server import HttpsServer  # noqa: E402

SILENT, ANSWERING, SITE = "127.0.0.2", "127.0.0.3", "127.0.0.1"
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
TYPE_A = 1


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def name_server(address):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    return server


def answer(question):
    """Of RFC 1035, section 4: the address SITE where an address of IPv4 is asked for, else none."""
    end = question.index(b"\0", 12) + 5
    is_address = struct.unpack("!H", question[end - 4:end - 2])[0] == TYPE_A
    record = b"\xc0\x0c" + struct.pack("!HHIH", TYPE_A, 1, 60, 4) + socket.inet_aton(SITE) if is_address else b""
    return question[:2] + struct.pack("!HHHHH", 0x8180, 1, is_address, 0, 0) + question[12:end] + record


def answer_all(server):
    while True:
        question, client = server.recvfrom(4096)
        server.sendto(answer(question), client)


def main():
    folder, words = sys.argv[1], sys.argv[2:]
    loopback_up()
    with tempfile.NamedTemporaryFile("w") as file, name_server(SILENT), name_server(ANSWERING) as second, HttpsServer(folder) as site:
        file.write(f"nameserver {SILENT}\nnameserver {ANSWERING}\n")
        file.flush()
        os.chmod(file.name, 0o644)
        subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True)
        threading.Thread(target=answer_all, args=[second], daemon=True).start()
        url = site.url.replace(SITE, "store.test")
        return subprocess.run([word.replace("{url}", url) for word in words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
