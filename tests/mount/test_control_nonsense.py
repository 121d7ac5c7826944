# SPDX-License-Identifier: Apache-2.0
"""Hostile ends of the control socket, the client's and the daemon's: SEMANTICS.md, K4 and K5."""

import json
import os
import random
import signal
import socket
import struct
import subprocess

import pytest
from control_socket import connect, frame, receive_header, socket_of
from mounts import is_running
from patience import PATIENCE_S, wait_until
from program_runs import run
from skips import needs_root
from stores import HELLO

pytestmark = needs_root

CONNECTIONS_MAX = 8  # ControlServer::kConnectionsMax


def accept_from(listener, pid):
    """Its connection. Programs that look for all mounts of the machine connect, too."""
    while True:
        connection, _ = listener.accept()
        peer = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        if peer == pid:
            return connection
        connection.close()


HOSTILE = "\x1b]0;owned\x07\r\x9b2Jname\nline"


@pytest.mark.parametrize("words, header, body", [
    (["status"], {"ok": True}, HOSTILE),
    (["status", "--json"], {"ok": True}, json.dumps({"mount": {"store": HOSTILE}}, ensure_ascii=False)),
    (["status", "--json"], {"ok": True}, HOSTILE),
    (["status"], {"error": HOSTILE, "code": "invalid"}, ""),
    (["views"], {"bytes_max": 1}, json.dumps([{"view": HOSTILE, "images": 1}])),
    (["views", "--json"], {"bytes_max": 1}, json.dumps([{"view": HOSTILE, "images": 1}])),
    (["hint", "--sampler", "torch", "--seed", "1"], {"accepted": HOSTILE}, ""),
    (["hint", "--order", "/dev/null"], {"files": HOSTILE}, ""),
])
def test_nothing_raw_reaches_a_terminal(room, mounts, point, small_store, ctl, words, header, body):
    """K5: whatever the daemon says."""
    mounts.mount(small_store, point)
    path = socket_of(point)
    moved = path.with_suffix(".moved")
    path.rename(moved)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.fspath(path))
            listener.listen(8)
            listener.settimeout(PATIENCE_S)
            client = subprocess.Popen([ctl, words[0], point, *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
            with accept_from(listener, client.pid) as connection:
                connection.sendall(frame({"program": "augurfs", "protocol": 1}))
                receive_header(connection)
                text = body.encode()
                pieces = struct.pack("<I", len(text)) + text if text else b""
                connection.sendall(frame(header) + pieces + b"\0\0\0\0")
                output, errors = client.communicate(timeout=PATIENCE_S)
    finally:
        path.unlink(missing_ok=True)
        moved.rename(path)
    printed = (output + errors).decode()
    assert "owned" in printed or "no JSON" in printed, printed
    assert not [c for c in printed if c != "\n" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0)], printed
    if client.returncode == 2:
        assert errors.count(b"\n") == 1


@pytest.mark.parametrize("end", ["umount", "signal"])
def test_clients_that_hang_hold_up_nothing(room, mounts, point, small_store, ctl, end):
    """K4: neither a reader, nor another client while there is a place, nor the end of the daemon."""
    pid = mounts.mount(small_store, point)
    path = socket_of(point)
    clients = [connect(path) for _ in range(CONNECTIONS_MAX - 1)]
    try:
        clients[0].sendall(b"AUGC\x10\x00")  # half of a request
        clients[1].sendall(frame({"command": "status", "format": "json"}))  # and the answer is not taken
        assert (point / "hello.txt").read_text(encoding="ascii") == HELLO
        assert run([ctl, "status", point]).returncode == 0
        wait_until(lambda: run([ctl, "status", point]).returncode == 0, "the place is free again")
        clients.append(connect(path))
        done = run([ctl, "status", point])
        while done.returncode == 0:  # the place of the last augurctl was the one that was taken
            clients.append(connect(path))
            done = run([ctl, "status", point])
        assert done.returncode == 2 and "too many clients at once" in done.stderr
        assert (point / "folder" / "image.JPEG").stat().st_size == 128_000
        if end == "umount":
            assert run(["umount", point]).returncode == 0
        else:
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not is_running(pid), "the daemon ends")
        assert not path.exists()
    finally:
        for client in clients:
            client.close()


def test_nonsense_does_no_harm(room, mounts, point, small_store, ctl):
    """K4"""
    pid = mounts.mount(small_store, point)
    path = socket_of(point)
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    right = frame({"command": "status", "format": "json"}) + b"\0\0\0\0"
    for _ in range(500):
        text = bytearray(right)
        for _ in range(chance.randrange(4)):
            text[chance.randrange(len(text))] = chance.randrange(256)
        text = text[:chance.randrange(len(text) + 1)] if chance.random() < 0.5 else text + chance.randbytes(50)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(os.fspath(path))
            try:
                client.sendall(text)
            except (BrokenPipeError, ConnectionResetError):
                pass
    wait_until(lambda: run([ctl, "status", point]).returncode == 0, "the daemon answers")
    assert is_running(pid) and (point / "hello.txt").read_text(encoding="ascii") == HELLO


def test_what_a_daemon_does_not_know_is_said(room, mounts, point, small_store):
    """K4: another version of augurctl, say."""
    mounts.mount(small_store, point)
    with connect(socket_of(point)) as client:
        client.sendall(frame({"command": "fly"}) + b"\0\0\0\0")
        answer = receive_header(client)
        assert answer["code"] == "unsupported" and "'fly'" in answer["error"]
