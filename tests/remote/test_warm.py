# SPDX-License-Identifier: Apache-2.0
"""augurctl warm of a mount whose store is on a server."""

import json
import signal
import subprocess
import time

import pytest
from far_mounts import assert_same_tree, files, mounted

pytestmark = pytest.mark.usefixtures("aws_environment")


def warm_words(augurctl, point):
    return [augurctl, "warm", point, "--json"]


def test_warmed_once_it_asks_for_nothing_more(remote_store, point, proxy, augurctl):
    with mounted(remote_store, point, proxy.endpoint):
        done = subprocess.run(warm_words(augurctl, point), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done
        assert json.loads(done.stdout)["kept_files"] == len(files(remote_store.tree))
        proxy.forget()
        assert_same_tree(point, remote_store.tree)
        assert not proxy.requests("GET", "shard-")


@pytest.fixture
def warming(remote_store, point, proxy, augurctl):
    """augurctl warm, and the daemon that it asks, while the server cannot be reached."""
    with mounted(remote_store, point, proxy.endpoint) as daemon:
        proxy.refuse_connections()
        words = warm_words(augurctl, point)
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                while json.loads((point / ".augur" / "stats.json").read_bytes())["mount"]["policy"] != "warm":
                    assert process.poll() is None, process.communicate()
                    time.sleep(0.01)
                yield process, daemon
            finally:
                process.kill()
                proxy.accept_connections()


def test_warming_ends_by_a_signal(remote_store, point, proxy, augurctl, warming):
    """One at a time; what comes after it fetches the rest."""
    process, _ = warming
    done = subprocess.run(warm_words(augurctl, point), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and "another 'augurctl warm' is not done" in done.stderr, done
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=100)
    assert process.returncode == 2 and "augurctl: stopped by SIGINT" in error, error
    assert json.loads(out)["stopped"] is True
    proxy.accept_connections()
    done = subprocess.run(warm_words(augurctl, point), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and json.loads(done.stdout)["kept_files"] == len(files(remote_store.tree)), done
    assert_same_tree(point, remote_store.tree)
    proxy.refuse_connections()  # as the fixture expects


def test_warming_ends_with_the_daemon(point, warming):
    process, daemon = warming
    daemon.kill()
    out, error = process.communicate(timeout=100)
    assert (process.returncode, out) == (2, "") and "the daemon of this mount has ended meanwhile" in error, error
