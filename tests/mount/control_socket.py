# SPDX-License-Identifier: Apache-2.0
"""The control socket of a mount, spoken with as augurctl does."""

import json
import os
import pathlib
import socket
import struct

from patience import PATIENCE_S


def socket_of(point):
    return pathlib.Path((point / ".augur" / "control").read_text(encoding="utf-8").removesuffix("\n"))


def listens(path):
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


def frame(header):
    text = json.dumps(header).encode()
    return b"AUGC" + struct.pack("<I", len(text)) + text


def receive_header(connection):
    head = connection.recv(8, socket.MSG_WAITALL)
    assert head[:4] == b"AUGC"
    return json.loads(connection.recv(struct.unpack("<I", head[4:])[0], socket.MSG_WAITALL))


def connect(path):
    """A client that has been greeted."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE_S)
    connection.connect(os.fspath(path))
    greeting = receive_header(connection)
    assert greeting == {"program": "augurfs", "protocol": 1}
    return connection
