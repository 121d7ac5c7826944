# SPDX-License-Identifier: Apache-2.0
"""packaging/fleet: each recipe starts a memcached that takes records of 1 MiB and evicts nothing."""

import contextlib
import os
import pathlib
import pwd
import random
import shlex
import shutil
import signal
import socket
import subprocess
import time

import pytest
from fleet_servers import PATIENCE_S, Memcached

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "fleet"
FIRST_PORT = 20000  # of the Slurm recipe


def replaced(words, **values):
    """The options of memcached with other values: a port and a memory that fit this machine."""
    words = list(words)
    for name, value in values.items():
        words[words.index(f"-{name}") + 1] = str(value)
    return words


def check(member):
    """A block of 1 MiB fits; what does not fit any more is refused, and what is there stays."""
    block = random.Random(1).randbytes(1 << 20)
    member.put("block", block)
    assert block in member.ask(b"get block\r\n")
    settings = dict(line.split()[1:3] for line in member.ask(b"stats settings\r\n").decode().splitlines() if line.startswith("STAT "))
    assert settings["evictions"] == "off" and int(settings["item_size_max"]) == 2 << 20


def free_port():
    """One of those that a job of Slurm may have."""
    for port in random.Random().sample(range(FIRST_PORT, FIRST_PORT + 10_000), 100):
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


def test_the_unit():
    unit = RECIPES / "augurfs-memcached.service"
    if shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", unit], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == 0 and unit.name not in done.stderr, done.stderr
    start = next(line for line in unit.read_text().splitlines() if line.startswith("ExecStart=")).removeprefix("ExecStart=")
    program, *words = shlex.split(start)
    assert program == "/usr/bin/memcached"
    for name in ("LISTEN", "PORT", "MEGABYTES"):
        assert f"${{{name}}}" in words and f"{name}=" in unit.read_text()
    with Memcached(*replaced(words, l="127.0.0.1", p=-1, m=64)) as member:
        check(member)


def test_the_daemon_set():
    yaml = pytest.importorskip("yaml")
    daemons, policy = yaml.safe_load_all((RECIPES / "daemonset.yaml").read_text())
    assert (daemons["kind"], policy["kind"]) == ("DaemonSet", "NetworkPolicy")
    labels = daemons["spec"]["template"]["metadata"]["labels"]
    assert labels == daemons["spec"]["selector"]["matchLabels"] == policy["spec"]["podSelector"]["matchLabels"]
    (container,) = daemons["spec"]["template"]["spec"]["containers"]
    port = container["ports"][0]["containerPort"]
    assert policy["spec"]["ingress"][0]["ports"][0]["port"] == port and container["args"][container["args"].index("-p") + 1] == str(port)
    memory = int(container["args"][container["args"].index("-m") + 1])
    assert int(container["resources"]["limits"]["memory"].removesuffix("Mi")) >= 1.04 * memory
    with Memcached(*replaced(container["args"], p=-1, m=64)) as member:
        check(member)


def test_the_slurm_prolog(tmp_path):
    script = RECIPES / "slurm_prolog.sh"
    port = free_port()
    environment = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": str(port - FIRST_PORT), "SLURM_JOB_USER": pwd.getpwuid(os.geteuid()).pw_name,
                   "AUGURFS_FLEET_LISTEN": "127.0.0.1", "AUGURFS_FLEET_MEGABYTES": "64", "AUGURFS_FLEET_RUN": str(tmp_path)}

    def run(context):
        subprocess.run([script], env={**environment, "SLURM_SCRIPT_CONTEXT": context}, stdin=subprocess.DEVNULL, check=True)

    pid_file = tmp_path / f"augurfs-fleet-{port - FIRST_PORT}.pid"
    run("prolog_slurmd")
    try:
        end = time.monotonic() + PATIENCE_S
        while not pid_file.exists() or not pid_file.read_text().endswith("\n"):
            assert time.monotonic() < end
            time.sleep(0.01)
        member = Memcached()
        member.port = port
        check(member)
        run("epilog_slurmd")
        while True:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) != 0:
                    break
            assert time.monotonic() < end
            time.sleep(0.01)
    finally:
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(pid_file.read_text()), signal.SIGKILL)
    run("epilog_slurmd")  # and where there is none


def test_a_prolog_never_fails(tmp_path):
    """A node whose prolog fails is drained."""
    subprocess.run([RECIPES / "slurm_prolog.sh"], stdin=subprocess.DEVNULL, check=True, capture_output=True,
                   env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": "1", "SLURM_JOB_USER": "no-such-user", "SLURM_SCRIPT_CONTEXT": "prolog_slurmd",
                        "AUGURFS_FLEET_LISTEN": "no-such-host.invalid", "AUGURFS_FLEET_MEGABYTES": "64", "AUGURFS_FLEET_RUN": str(tmp_path)})
