# SPDX-License-Identifier: Apache-2.0
"""The control socket of a mount, and augurctl: SEMANTICS.md, Control."""

import json
import os
import pathlib
import pwd
import random
import re
import signal
import socket
import stat
import struct
import subprocess

import pytest
from mounts import is_running
from patience import PATIENCE_S, wait_until
from program_runs import NOBODY, as_user, run
from skips import needs_root, not_over_uring
from stores import HELLO

pytestmark = needs_root

CONNECTIONS_MAX = 8  # ControlServer::kConnectionsMax


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


def test_status_is_that_of_the_files(room, mounts, point, small_store, ctl):
    """K1"""
    mounts.mount(small_store, point)
    (point / "hello.txt").read_bytes()
    by_socket, by_file = {}, {}

    def are_the_same():  # not while the daemon hears of the open
        done = run([ctl, "status", point, "--json"])
        assert (done.returncode, done.stderr) == (0, "")
        by_socket.update(json.loads(done.stdout))
        by_file.update(json.loads((point / ".augur" / "stats.json").read_bytes()))
        return by_socket["mount"] == by_file["mount"] and by_socket["counters"] == by_file["counters"]

    wait_until(are_the_same, lambda: f"{by_socket} is {by_file}")
    assert by_socket["counters"]["reads"] == 1
    assert by_socket["mount"]["mountpoint"] == str(point) and by_socket["mount"]["store"] == str(small_store)
    table = run([ctl, "status", "--all", point])
    assert table.returncode == 0
    assert all(f"\n{name} " in table.stdout for name in [*by_file["counters"], *by_file["gauges"], *by_file["histograms"]])


def test_status_is_one_screen(room, mounts, point, small_store, ctl):
    """K1: its first line is about the order, the rest fits on a screen, in units that people read."""
    mounts.mount(small_store, point)
    (point / "folder" / "image.JPEG").read_bytes()
    done = run([ctl, "status", point])
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("order not known") and len(lines) <= 13, done.stdout
    assert f"mount      {point} shows {small_store}, generation 1" in lines and "1 read (125.0 KiB) that" in done.stdout
    assert re.search("^waits +.* in 1 read: ", done.stdout, re.MULTILINE), done.stdout
    text = done.stdout
    for named in (str(small_store), str(room), str(room).strip("/").replace("/", "-")):  # such a name may have many digits
        text = text.replace(named, "")
    assert not re.search(r"\d{5,}", text), done.stdout
    order = room / "order"
    order.write_text("hello.txt\nfolder/image.JPEG\n" * 50, encoding="ascii")
    assert run([ctl, "hint", point, "--order", order]).returncode == 0
    wait_until(lambda: run([ctl, "status", point]).stdout.startswith("order known: "), lambda: run([ctl, "status", point]).stdout)
    without = room / "without"
    without.mkdir()
    mounts.mount(small_store, without, "predict=off")
    assert run([ctl, "status", without]).stdout.startswith("order not worked out: ")


def test_found_wherever_the_mount_is_seen(room, mounts, point, small_store, ctl):
    """K1: by a relative path, by a link, by what lies below, through bind mounts and overlays."""
    mounts.mount(small_store, point)
    (room / "link").symlink_to(point)
    places = [point / "folder", point / "folder" / "image.JPEG", point / ".augur", room / "link" / "folder"]

    def found(place):
        done = run([ctl, "status", "--json", place])
        assert done.returncode == 0, (place, done.stderr)
        return json.loads(done.stdout)["mount"]["mountpoint"]

    assert [found(place) for place in places] == [str(point)] * len(places)
    for source, below in ((point, "folder"), (point / "folder", "image.JPEG")):
        bound = room / "bound"
        bound.mkdir()
        assert run(["mount", "--bind", source, bound]).returncode == 0
        try:
            assert [found(bound), found(bound / below)] == [str(point)] * 2
        finally:
            assert run(["umount", bound]).returncode == 0
            bound.rmdir()
    done = run([ctl, "status", room])
    assert done.returncode == 2 and "no AugurFS is mounted here" in done.stderr


def test_found_below_an_overlay(room, mounts, augurfs, small_store, ctl):
    """K1: the layers may have any name; the others are no mounts of ours."""
    point = room / "a:b,c"
    for folder in (point, room / "plain", room / "upper", room / "work", room / "over"):
        folder.mkdir()
    assert run(["mount", "-t", "tmpfs", "none", room / "upper"]).returncode == 0
    try:
        mounts.mount(small_store, point)
        for folder in ("top", "work"):
            (room / "upper" / folder).mkdir()
        lower = str(point).replace(":", "\\:").replace(",", "\\,")
        options = f"lowerdir={room / 'plain'}:{lower},upperdir={room / 'upper' / 'top'},workdir={room / 'upper' / 'work'}"
        done = run(["mount", "-t", "overlay", "none", "-o", options, room / "over"])
        if done.returncode != 0:
            pytest.skip(f"no overlay over FUSE here: {done.stderr}")
        try:
            (room / "over" / "folder" / "new").write_text("beside the data", encoding="ascii")
            for place in (room / "over", room / "over" / "folder"):
                done = run([ctl, "status", "--json", place])
                assert done.returncode == 0, done.stderr
                assert json.loads(done.stdout)["mount"]["mountpoint"] == str(point)
        finally:
            assert run(["umount", room / "over"]).returncode == 0
    finally:
        assert run(["umount", room / "upper"]).returncode == 0


@not_over_uring("a request that a queue of a stopped daemon holds cannot be broken off by a signal (kernel)")
def test_a_stopped_daemon(room, mounts, point, small_store, ctl):
    """K3: every command ends by itself and says what to do, wherever it finds the daemon silent: at the mount, or at the socket."""
    pid = mounts.mount(small_store, point)
    path = socket_of(point)
    assert (point / "folder").is_dir()
    order = room / "order"
    order.write_text("hello.txt\n", encoding="ascii")
    os.kill(pid, signal.SIGSTOP)
    try:
        words = [["status", point], ["drop", point], ["views", point], ["hint", point, "--order", order], ["status", point / "folder"]]
        asked = [subprocess.Popen([ctl, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for command in words]
        for command in asked:
            out, error = command.communicate(timeout=60)
            assert (command.returncode, out) == (2, "") and "has not answered for 5 s" in error and "kill -CONT" in error, error
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: run([ctl, "status", point]).returncode == 0, "the daemon goes on")
    # A daemon that takes connections and says nothing; and one that has no room for them.
    path.unlink()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(os.fspath(path))
        silent.listen(1)
        done = run([ctl, "drop", point])
        assert done.returncode == 2 and "has not answered for 5 s" in done.stderr
        clients = []
        for _ in range(2):
            clients.append(socket.socket(socket.AF_UNIX))
            clients[-1].setblocking(False)
            clients[-1].connect_ex(os.fspath(path))
        done = run([ctl, "status", point])
        assert done.returncode == 2 and "has not answered for 5 s" in done.stderr
        for client in clients:
            client.close()


def test_views_checks_a_spec(room, mounts, point, small_store, ctl):
    """W8: a mistyped view is a missing name; augurctl and the log say what is wrong with it."""
    log = room / "log"
    mounts.mount(small_store, point, f"log={log}")
    wrong = {"npy+sise=256": ["sise=256", "did you mean size=256?"], "npy+size=0": ["size=0"], "nppy": ["did you mean npy?"],
             "npy+size=8+filter=bicubik": ["filter=bicubik", "did you mean bicubic?"], "npy+crop": ["crop", "its value is missing"],
             "zebra": ["not a word of a view"]}
    for spec, words in wrong.items():
        with pytest.raises(FileNotFoundError):
            (point / ".augur" / "views" / spec).stat()
        done = run([ctl, "views", point, spec])
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
        assert all(word in done.stderr for word in words), done.stderr
        lines = [line for line in log.read_text(encoding="utf-8").splitlines() if f"'{spec}'" in line]
        assert len(lines) == 1 and "warning: no such view" in lines[0] and all(word in lines[0] for word in words), lines
    assert "did you mean" not in run([ctl, "views", point, "zebra"]).stderr
    spelled = "npy+crop=4+size=8"
    done = run([ctl, "views", point, spelled])
    assert done.returncode == 0 and ".augur/views/npy+size=8+crop=4" in done.stdout and "not used yet" in done.stdout
    assert (point / ".augur" / "views" / spelled).is_dir()
    (point / ".augur" / "views" / "pixels").stat()
    done = run([ctl, "views", point, spelled])
    assert done.returncode == 0 and "npy+size=8+crop=4" in done.stdout and "0 images" in done.stdout and "pixels" not in done.stdout


def test_two_mounts_do_not_mix(room, mounts, point, small_store, ctl):
    """K1"""
    other = room / "other"
    other.mkdir()
    mounts.mount(small_store, point)
    mounts.mount(small_store, other)
    (other / "hello.txt").read_bytes()
    counts = [json.loads(run([ctl, "status", "--json", place]).stdout)["counters"]["reads"] for place in (point, other)]
    assert counts == [0, 1] and socket_of(point) != socket_of(other)


def test_another_user_is_refused(room, mounts, point, small_store, ctl):
    """K2: by the folder, and where that were open, by the daemon itself."""
    mounts.mount(small_store, point, "allow_other")
    path = socket_of(point)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    done = run([*as_user(), ctl, "status", point])
    assert done.returncode == 2 and "only root and the user who mounted" in done.stderr
    open_room = room / "open"
    open_room.mkdir()
    assert run(["mount", "--bind", path.parent, open_room]).returncode == 0
    try:
        # Another way to the socket, without the closed folder: its bits are opened for the time of the test.
        path.parent.chmod(0o711)
        path.chmod(0o666)
        for command in (["status"], ["drop"]):
            done = run([*as_user(), ctl, *command, point])
            assert done.returncode == 2 and "only root and user 0" in done.stderr, done.stderr
            assert done.stdout == ""
    finally:
        path.parent.chmod(0o700)
        path.chmod(0o600)
        assert run(["umount", open_room]).returncode == 0


def test_a_mount_leads_to_no_other_daemon(room, mounts, point, small_store, ctl, users_may_mount):
    """K5: a user's mount that names the socket of root's daemon; root asks the user's mount."""
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    rooted = room / "rooted"
    rooted.mkdir()
    mounts.mount(small_store, rooted)
    os.chown(point, NOBODY, NOBODY)
    mounts.mount(small_store, point, "allow_other", prefix=as_user())
    own = socket_of(point)
    moved = own.with_suffix(".moved")
    own.rename(moved)
    own.symlink_to(socket_of(rooted))
    try:
        for words in (["status", point], ["status", "--json", point], ["drop", point], ["views", point]):
            done = run([ctl, *words])
            assert (done.returncode, done.stdout) == (2, "")
            assert f"the mount is user {NOBODY}'s" in done.stderr and "a program of user 0 listens" in done.stderr, done.stderr
    finally:
        own.unlink()
        moved.rename(own)
    assert run([ctl, "status", point]).returncode == 0


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


def test_without_allow_other_the_mount_says_no(room, mounts, point, small_store, ctl):
    """K2"""
    mounts.mount(small_store, point)
    done = run([*as_user(), ctl, "status", point])
    assert done.returncode == 2 and "as the user who mounted" in done.stderr


@pytest.mark.parametrize("with_runtime_folder", [True, False])
def test_an_ordinary_user_has_it_too(room, mounts, point, small_store, ctl, users_may_mount, with_runtime_folder):
    """K1, K2: the user and root may ask."""
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    os.chown(point, NOBODY, NOBODY)
    runtime = room / "runtime"
    runtime.mkdir(mode=0o700)
    os.chown(runtime, NOBODY, NOBODY)
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    if with_runtime_folder:
        environment["XDG_RUNTIME_DIR"] = str(runtime)
    pid = mounts.mount(small_store, point, "allow_other", prefix=as_user(), env=environment)
    path = socket_of(point)
    assert path.parent == (runtime / "augurfs" if with_runtime_folder else pathlib.Path(f"/tmp/augurfs-{NOBODY}"))
    assert run([*as_user(), ctl, "status", point], env={}).returncode == 0
    assert run([ctl, "status", point]).returncode == 0
    done = run([*as_user(NOBODY - 1), ctl, "status", point])
    assert done.returncode == 2 and "only root and the user who mounted" in done.stderr
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert not path.exists()


def test_without_a_place_for_the_socket(room, mounts, point, small_store, ctl, users_may_mount):
    """K3: the mount is as good; the log says what is missing, and augurctl where to look."""
    user = pwd.getpwnam("man").pw_uid  # no other test has a daemon of this user, whose folder would be there
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    os.chown(point, user, user)
    room.chmod(0o777)
    blocked = pathlib.Path(f"/tmp/augurfs-{user}")
    blocked.mkdir()
    try:
        environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
        mounts.mount(small_store, point, "allow_other", f"log={room / 'log'}", prefix=as_user(user), env=environment)
        assert (point / "hello.txt").read_text(encoding="ascii") == HELLO
        assert "augurctl will not reach this mount" in (room / "log").read_text(encoding="utf-8")
        done = run([ctl, "status", point])
        assert done.returncode == 2 and "has no control socket: its log says why" in done.stderr
        assert json.loads((point / ".augur" / "stats.json").read_bytes())["counters"]
    finally:
        blocked.rmdir()


def test_a_killed_daemon(room, mounts, point, small_store, ctl):
    """K3: what it leaves is told from a mount that works, and cleared by the next daemon."""
    pid = mounts.mount(small_store, point, "restart=no")
    path = socket_of(point)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon is dead")
    # Its last threads, which the kernel ends after the first, hold its descriptors.
    wait_until(lambda: not listens(path), "its socket is dead, too")
    done = run([ctl, "status", point])
    assert done.returncode == 2 and "has ended: unmount it" in done.stderr
    assert path.exists()
    assert run(["umount", point]).returncode == 0
    done = run([ctl, "status", point])
    assert done.returncode == 2 and "no AugurFS is mounted here" in done.stderr
    mounts.mount(small_store, point)
    assert not path.exists() and socket_of(point) != path
    assert run([ctl, "status", point]).returncode == 0


def test_nothing_is_left_at_the_end(room, mounts, point, small_store):
    """K3"""
    pid = mounts.mount(small_store, point)
    path = socket_of(point)
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not is_running(pid), "the daemon ends")
    assert not path.exists()


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


def test_results_into_a_broken_pipe(room, mounts, point, small_store, ctl):
    mounts.mount(small_store, point)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([ctl, "status", point], stdout=writer, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
