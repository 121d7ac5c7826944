# SPDX-License-Identifier: Apache-2.0
"""What a mount of a store on a server bears of what happens on the way to it, and what it says of the rest. SEMANTICS.md, R14."""

import ctypes
import datetime
import errno
import os
import pathlib
import shutil
import signal
import time

import faults
import mounts
import pytest
import s3_client
from bucket_support import daemon_of, wait_until
from far_mounts import assert_same_tree, files, mounted, refusal
from https_server import HttpsServer

pytestmark = pytest.mark.usefixtures("aws_environment")


# ---- faults that nobody must notice ----


@pytest.mark.parametrize("fault", [
    faults.slow_down(share=0.2), faults.Refused(status=500, code="InternalError", share=0.2), faults.ResetInBody(share=0.2, after=200),
    faults.ShortBody(share=0.2, missing=10), faults.WrongBytes(share=0.2, at=100), faults.Stall(times=1, after=10),
    faults.SlowFirstByte(share=0.3, seconds=1), faults.ClockSkew(ahead=datetime.timedelta(minutes=21)),
    faults.OtherRegion(region="eu-central-9", status=301), faults.OtherRegion(region="eu-central-9", status=400),
], ids=lambda fault: type(fault).__name__ + str(getattr(fault, "status", "")))
def test_a_fault_that_passes_is_not_seen(remote_store, point, proxy, fault, monkeypatch):
    monkeypatch.delenv("AWS_REGION", raising=False)
    with mounted(remote_store, point, proxy.endpoint), proxy.playing(fault):
        assert_same_tree(point, remote_store.tree)
    assert fault.count or isinstance(fault, faults.OtherRegion)


def test_a_line_that_is_cut_for_a_while(remote_store, point, proxy):
    """R14: readers wait."""
    with mounted(remote_store, point, proxy.endpoint, "io-timeout=60"):
        begin = time.monotonic()
        proxy.cut_for(4)
        assert_same_tree(point, remote_store.tree)
        assert time.monotonic() - begin > 3  # it was cut: the files came after that


def test_a_line_that_stays_cut_is_an_error_and_then_well_again(remote_store, point, proxy):
    """R14: EIO after io-timeout=."""
    names = sorted(files(remote_store.tree))
    with mounted(remote_store, point, proxy.endpoint, "io-timeout=3", "predict=off"):
        proxy.refuse_connections()
        with pytest.raises(OSError) as failed:
            (point / names[-1]).read_bytes()
        assert failed.value.errno == errno.EIO
        proxy.accept_connections()
        assert_same_tree(point, remote_store.tree)


def test_credentials_that_expire_are_renewed(remote_store, point, proxy, s3_server, folder, monkeypatch):
    old, new = s3_client.Credentials("OLDKEY", "old"), s3_client.Credentials("NEWKEY", "new-secret")
    fault = faults.ExpiredToken(access_key=old.access_key, renewed=new)
    script = pathlib.Path(folder) / "credentials"
    keys = pathlib.Path(folder) / "keys.json"
    text = '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "%s"}'
    keys.write_text(text % (old.access_key, old.secret_key))
    keys.with_name(f"{keys.name}.new").write_text(text % (new.access_key, new.secret_key))
    # The first question is refused, and the program is asked again: it has others by then.
    script.write_text(f"#!/bin/sh\ncat {keys}\nmv {keys}.new {keys} 2>/dev/null || :\n")
    script.chmod(0o755)
    home = pathlib.Path(folder) / "home" / ".aws"
    home.mkdir(parents=True)
    (home / "config").write_text(f"[default]\ncredential_process = {script}\nregion = {s3_server.region}\n")
    monkeypatch.setenv("HOME", str(home.parent))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with proxy.playing(fault), mounted(remote_store, point, proxy.endpoint):
        assert_same_tree(point, remote_store.tree)
    assert fault.count


# ---- faults that are told ----


def test_an_object_that_was_replaced_is_an_error_by_name(remote_store, point, s3_server, folder):
    """R14: never bytes of another version."""
    log = pathlib.Path(folder) / "log"
    name = sorted(files(remote_store.tree))[-1]
    with mounted(remote_store, point, s3_server.endpoint, f"log={log}", "predict=off"):
        (point / sorted(files(remote_store.tree))[0]).read_bytes()
        key = f"{remote_store.prefix}/shard-00000001-00000"
        remote_store.bucket.put(key, remote_store.bucket.get(key)[::-1])
        with pytest.raises(OSError) as failed:
            (point / name).read_bytes()
        assert failed.value.errno == errno.EIO
    assert "was replaced while it was in use" in log.read_text()


def test_a_shard_that_is_gone_is_an_error_by_name(remote_store, point, s3_server, folder):
    """R14"""
    log = pathlib.Path(folder) / "log"
    with mounted(remote_store, point, s3_server.endpoint, f"log={log}", "predict=off"):
        remote_store.bucket.delete(f"{remote_store.prefix}/shard-00000001-00000")
        with pytest.raises(OSError) as failed:
            (point / sorted(files(remote_store.tree))[-1]).read_bytes()
        assert failed.value.errno == errno.EIO
    assert "there is no such object" in log.read_text() and "shard-00000001-00000" in log.read_text()


def test_wrong_bytes_again_and_again_are_an_error(remote_store, point, proxy, folder):
    log = pathlib.Path(folder) / "log"
    fault = faults.WrongBytes(at=3, only=lambda request: "shard-" in request.path)
    with mounted(remote_store, point, proxy.endpoint, f"log={log}", "predict=off"), proxy.playing(fault):
        with pytest.raises(OSError) as failed:
            (point / sorted(files(remote_store.tree))[-1]).read_bytes()
        assert failed.value.errno == errno.EIO
        assert fault.count >= 2  # read again before it is believed
    assert "checksum mismatch" in log.read_text()


def test_wrong_bytes_are_asked_for_again_on_a_new_connection(remote_store, point, proxy):
    """What spoils them may be a proxy or a network card on the way of that connection."""
    with mounted(remote_store, point, proxy.endpoint, "predict=off"):
        before = set()
        for name in reversed(sorted(files(remote_store.tree))):
            before |= {request.connection for request in proxy.requests()}
            proxy.forget()
            with proxy.playing(faults.WrongBytes(at=3, times=1, only=lambda request: "shard-" in request.path)):
                assert (point / name).read_bytes() == (remote_store.tree / name).read_bytes()
            asked = proxy.requests("GET", "shard-")
            # Where the first answer is late, as on a busy machine, a third request overtakes it, and another file is tried.
            if len(asked) == 2:
                break
    wrong, right = asked
    assert wrong.range == right.range
    assert wrong.connection in before, "the first request had no kept connection"
    assert right.connection not in before


def test_a_server_without_ranges(remote_store, point, proxy, folder):
    log = pathlib.Path(folder) / "log"
    fault = faults.WholeObject(only=lambda request: "shard-" in request.path)
    with mounted(remote_store, point, proxy.endpoint, f"log={log}", "predict=off"), proxy.playing(fault):
        with pytest.raises(OSError) as failed:
            (point / sorted(files(remote_store.tree))[-1]).read_bytes()
        assert failed.value.errno == errno.EIO
    assert "a store needs a server that does ranges" in log.read_text()


@pytest.mark.parametrize("fault, sentence", [
    (faults.access_denied(), "access denied for AUGURTESTKEY, from the environment: is s3:GetObject allowed on it?"),
    (faults.Refused(status=403, code="SignatureDoesNotMatch"), "the secret key is wrong, or a proxy changes requests"),
    (faults.Refused(status=403, code="InvalidAccessKeyId"), "does not know the access key for AUGURTESTKEY, from the environment"),
    (faults.Refused(status=404, code="NoSuchBucket"), "there is no such bucket: correct its name, or make it"),
    (faults.no_such_key("data/train.augur/manifest"), "there is no store (or no right to list the bucket"),
    (faults.no_such_key("data/train.augur/manifest"), "'augurpack create SRC STORE' makes one"),
    (faults.Refused(status=307, code="TemporaryRedirect", headers={"location": "http://elsewhere/x?secret=1"}), "the server sends elsewhere"),
    (faults.invalid_range(only=lambda request: "index-" in request.path), "the object ends before"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_said_at_the_mount(remote_store, point, proxy, fault, sentence):
    with proxy.playing(fault):
        text = refusal(remote_store.url, point, f"endpoint-url={proxy.endpoint}")
    assert sentence in text and "secret=1" not in text
    assert remote_store.url in text


def test_a_web_server_without_ranges_is_refused_at_the_mount(remote_store, point):
    """Also where the first part that is asked for is all of an object, which it can send."""
    with HttpsServer(remote_store.store, ranges=False) as server:
        assert "a store needs a server that does ranges" in refusal(server.url, point)


def test_a_region_that_was_given_and_is_wrong(remote_store, point, proxy):
    with proxy.playing(faults.OtherRegion(region="eu-central-9")):
        text = refusal(remote_store.url, point, f"endpoint-url={proxy.endpoint}", "region=us-west-7")
    assert "the bucket is in region eu-central-9" in text and "us-west-7" in text


def test_a_server_that_is_not_there(remote_store, point):
    text = refusal(remote_store.url, point, "endpoint-url=http://127.0.0.1:9", "io-timeout=2")
    assert "Failed to connect to 127.0.0.1 port 9" in text


def test_a_key_that_the_server_does_not_know(remote_store, point, s3_server, monkeypatch):
    """versitygw says it with 404."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "UNKNOWN")
    text = refusal(remote_store.url, point, f"endpoint-url={s3_server.endpoint}")
    assert "the server does not know the access key for UNKNOWN, from the environment" in text


@pytest.mark.parametrize("address, sentence", [("s3://", "bucket"), ("gs://bucket/x", "gs://"), ("https://", "host"),
                                               ("https:///x", "it names no host: https://HOST/PATH")])
def test_wrong_addresses(point, address, sentence):
    assert sentence in refusal(address, point)


def test_an_adopted_store_says_where_it_can_be_mounted(bucket, augurpack, point, s3_server, folder):
    """R14: whoever made a store does not choose in which other places the mount's credentials are used."""
    tree, tar, store = (pathlib.Path(folder) / name for name in ("tree", "x.tar", "adopted"))
    tree.mkdir()
    (tree / "file").write_bytes(b"content")
    mounts.run("tar", "cf", tar, "-C", tree, ".")
    mounts.run(augurpack, "adopt", "--quiet", tar, store)
    for path in store.iterdir():
        bucket.put(path.name, path.read_bytes())
    said = refusal(f"s3://{bucket.bucket}", point, f"endpoint-url={s3_server.endpoint}")
    assert "lies outside the store's bucket" in said


# ---- while there is no daemon that serves ----


@pytest.mark.parametrize("how", ["signal", "umount"])
def test_its_next_daemon_is_ended_while_it_waits_for_the_server(remote_store, point, proxy, folder, how):
    """SEMANTICS.md, L10"""
    program, hold = mounts.program("augurfs"), faults.Hold()
    with mounts.no_memories() as environment:
        options = [f"endpoint-url={proxy.endpoint}", f"log={folder}/log"]
        try:
            mounts.run(*mounts.augurfs_words(program, remote_store.url, point, options), env=environment)
            (holder,), pid = mounts.holders(point), daemon_of(point)
            with proxy.playing(hold):
                os.kill(pid, signal.SIGSTOP)  # so that it writes nothing there any more
                # The copy of the index, without which the next one has to ask.
                shutil.rmtree(environment["XDG_CACHE_HOME"])
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda: hold.count)
                if how == "signal":
                    os.kill(holder, signal.SIGTERM)
                else:
                    # Not by umount(8), which looks at the mount before, and so waits for the next daemon.
                    assert ctypes.CDLL(None, use_errno=True).umount2(os.fsencode(point), 0) == 0, os.strerror(ctypes.get_errno())
                wait_until(lambda: not mounts.is_running(holder) and mounts.daemons(program, point) == [])
                assert mounts.mount_rows(point) == []
        finally:
            hold.release()
            mounts.unmount(point, patience_s=0)
            mounts.end_daemons(program, point)
