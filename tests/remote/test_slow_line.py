# SPDX-License-Identifier: Apache-2.0
"""The slow line of bench/remote: packets pass between its namespaces, wait their time, and are lost while it is cut."""

import os
import pathlib
import signal
import subprocess

import mounts
import pytest
from line import slow_line

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: network namespaces")
BODY = os.urandom(3_000_000)


@pytest.fixture
def site(folder):
    (pathlib.Path(folder) / "object").write_bytes(BODY)
    return folder


def serve(host, site):
    """A web server there, which answers when this returns."""
    process = subprocess.Popen([*host.prefix, "python3", "-u", "-m", "http.server", "--bind", host.address, "--directory", site, "8000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout.readline().startswith("Serving")
    return process


def fetch(client, server, path, patience_s=20):
    done = subprocess.run([*client.prefix, "curl", "--silent", "--noproxy", "*", "--max-time", str(patience_s), "--output", path, "--write-out", "%{time_connect}",
                           f"http://{server.address}:8000/object"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, float(done.stdout)


def test_bytes_pass_and_take_their_time(site, tmp_path):
    with slow_line(clients=2, delay_ms=20) as line:
        assert [host.address for host in (line.server, *line.clients)] == ["10.77.0.1", "10.77.0.2", "10.77.0.3"]
        process = serve(line.server, site)
        try:
            for client in line.clients:
                exit_code, connected_s = fetch(client, line.server, tmp_path / "got")
                assert exit_code == 0 and (tmp_path / "got").read_bytes() == BODY
                # There and back; it may take longer, never less.
                assert connected_s >= 0.040
                assert len(BODY) < client.received_bytes() < 1.2 * len(BODY)
        finally:
            process.terminate()
            process.communicate()


def test_a_limited_line_takes_longer(site, tmp_path):
    with slow_line(delay_ms=1, rate_mbit=80) as line:
        process = serve(line.server, site)
        try:
            done = subprocess.run([*line.clients[0].prefix, "curl", "--silent", "--noproxy", "*", "--output", tmp_path / "got", "--write-out", "%{time_total}",
                                   f"http://{line.server.address}:8000/object"], stdout=subprocess.PIPE, text=True, check=True)
            assert float(done.stdout) >= len(BODY) * 8 / 80e6
            assert (tmp_path / "got").read_bytes() == BODY
        finally:
            process.terminate()
            process.communicate()


def test_clients_reach_each_other(site, tmp_path):
    with slow_line(clients=2, delay_ms=20) as line:
        process = serve(line.clients[0], site)
        try:
            line.cut()
            assert fetch(line.clients[1], line.clients[0], tmp_path / "got")[0] == 0, "only the lines to the server are cut"
        finally:
            process.terminate()
            process.communicate()


def test_cut_and_mend(site, tmp_path):
    with slow_line(delay_ms=1) as line:
        process = serve(line.server, site)
        try:
            line.cut()
            assert fetch(line.clients[0], line.server, tmp_path / "got", patience_s=1)[0] == 28
            line.mend()
            assert fetch(line.clients[0], line.server, tmp_path / "got")[0] == 0 and (tmp_path / "got").read_bytes() == BODY
        finally:
            process.terminate()
            process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_however_it_ends(number):
    with slow_line() as line:
        inside = os.stat(line.server.namespace).st_ino
        line.process.send_signal(number)
        assert line.process.wait() == (-9 if number == signal.SIGKILL else 0)
        assert not any(os.stat(f"/proc/{pid}/ns/net").st_ino == inside for pid in running_processes())
    assert not os.path.exists(line.server.namespace)
    assert "lag0" not in mounts.run("cat", "/proc/net/dev")


def running_processes():
    return [name for name in os.listdir("/proc") if name.isdigit() and os.path.exists(f"/proc/{name}/ns/net")]


def test_wrong_numbers_are_refused():
    done = subprocess.run([mounts.program("netlag"), "--clients", "0"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "--clients" in done.stderr
