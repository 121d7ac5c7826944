# SPDX-License-Identifier: Apache-2.0
"""A store in a bucket or on a web server, mounted: it is the tree that was packed. SEMANTICS.md, R14."""

import concurrent.futures
import filecmp
import pathlib
import shutil
import signal
import subprocess

import faults
import mounts
import pytest
from bucket_support import wait_until, while_held
from far_mounts import assert_same_tree, files, mounted, refusal

pytestmark = pytest.mark.usefixtures("aws_environment")


def test_it_is_the_tree_that_was_packed(remote_store, point, s3_server):
    """R14"""
    with mounted(remote_store, point, s3_server.endpoint):
        assert_same_tree(point, remote_store.tree)
        rows = mounts.mount_rows(point)
        assert rows and remote_store.url in str(rows)


def test_over_tls(remote_store, point, tls_proxy, certificate):
    with mounted(remote_store, point, tls_proxy.endpoint, f"ca-bundle={certificate.file}"):
        assert_same_tree(point, remote_store.tree)
    assert "certificate" in refusal(remote_store.url, point, f"endpoint-url={tls_proxy.endpoint}")


def test_from_a_web_server(remote_store, point, https_server, certificate, augurpack):
    """R14"""
    shutil.copytree(remote_store.store, pathlib.Path(https_server.folder) / "train store")
    url = f"{https_server.url}/train%20store?signature=secret"
    with mounts.augurfs(url, point, f"ca-bundle={certificate.file}"):
        assert_same_tree(point, remote_store.tree)
        assert "secret" not in pathlib.Path("/proc/self/mounts").read_text()
    for command in (["info"], ["info", "--json"], ["verify"], ["verify", "--json"], ["ls"]):
        said = mounts.run(augurpack, *command, url, f"--ca-bundle={certificate.file}")
        assert said and "secret" not in said


def test_the_order_is_found_and_read_ahead(remote_store, point, proxy, augurctl):
    """With the order known there are fewer requests than files."""
    names = sorted(files(remote_store.tree))
    order = [names[(number * 37) % len(names)] for number in range(len(names))]
    with mounted(remote_store, point, proxy.endpoint):
        hint = pathlib.Path(point).parent / "order.txt"
        hint.write_text("".join(f"{name}\n" for name in order))
        proxy.forget()
        subprocess.run([augurctl, "hint", point, "--order", hint], check=True, stdin=subprocess.DEVNULL)
        wait_until(lambda: mounts.statistics(point)["counters"]["pushes"] > len(names) * 3 / 4)
        for name in order:
            assert (point / name).read_bytes() == (remote_store.tree / name).read_bytes()
        shards = proxy.requests("GET", "shard-")
        assert shards and len(shards) < len(names) / 2


def test_many_readers_at_once(remote_store, point, s3_server):
    with mounted(remote_store, point, s3_server.endpoint), concurrent.futures.ThreadPoolExecutor(16) as pool:
        names = sorted(files(remote_store.tree)) * 3
        for name, same in zip(names, pool.map(lambda name: filecmp.cmp(point / name, remote_store.tree / name, shallow=False), names)):
            assert same, name


def test_augurpack_reads_addresses(remote_store, augurpack, s3_server, folder):
    far = [remote_store.url, f"--endpoint-url={s3_server.endpoint}"]
    for command in (["ls", "-R"], ["info", "--json"], ["verify", "--quiet"]):
        texts = [mounts.run(augurpack, *command, *where) for where in (far, [remote_store.store])]
        assert len(set(str(text).replace(remote_store.url, str(remote_store.store)) for text in texts)) == 1 or command[0] == "info"
    mounts.run(augurpack, "extract", "--quiet", *far, pathlib.Path(folder) / "out")
    assert_same_tree(pathlib.Path(folder) / "out", remote_store.tree)


def test_an_extract_that_is_stopped_leaves_whole_files(remote_store, augurpack, proxy, folder):
    """Also of the file whose second block was under way."""
    out = pathlib.Path(folder) / "out"
    count = []
    held = faults.Hold(only=lambda request: "shard-" in request.path and (count.append(1) or len(count) > 4))
    words = [augurpack, "extract", "--quiet", f"--endpoint-url={proxy.endpoint}", remote_store.url, out]
    with while_held(proxy, held, words) as process:
        process.send_signal(signal.SIGINT)
        held.release()
        said = process.stderr.read()
        assert process.wait() == 2 and "stopped by SIGINT: the files that are there are whole" in said, said
    there, wanted = files(out), files(remote_store.tree)
    assert there.keys() < wanted.keys()
    assert all(path.read_bytes() == wanted[name].read_bytes() for name, path in there.items())


def test_verify_names_a_damaged_object(remote_store, augurpack, s3_server):
    key = f"{remote_store.prefix}/shard-00000001-00000"
    content = bytearray(remote_store.bucket.get(key))
    content[len(content) // 2] ^= 1
    remote_store.bucket.put(key, bytes(content))
    done = subprocess.run([augurpack, "verify", remote_store.url, f"--endpoint-url={s3_server.endpoint}"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    assert done.returncode == 1 and "checksum mismatch" in done.stderr
