# SPDX-License-Identifier: Apache-2.0
"""The link to the server is cut, as when a router is off: packets are lost, and no connection learns of it. netlag makes the link."""

import concurrent.futures
import errno
import os
import pathlib
import random
import time

import mounts
import object_servers
import pytest
from conftest import put_folder
from line import slow_line

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: network namespaces")
CONTENTS = {f"class-{number % 3}/{number:02}.jpg": random.Random(number).randbytes(20_000 + 1000 * number) for number in range(60)}
URL = "s3://augur-cut/train.augur"


@pytest.fixture
def far(folder, augurpack, monkeypatch):
    """A Line to a server that has the store, and the options that mount it."""
    folder = pathlib.Path(folder)
    for name, content in CONTENTS.items():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_bytes(content)
    mounts.run(augurpack, "create", "--quiet", folder / "tree", folder / "store")
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    (folder / "server").mkdir()
    with slow_line(delay_ms=15) as line:
        with line.server.entered(), object_servers.default_server()(folder / "server", line.server.address) as server:
            bucket = server.client("augur-cut")
            bucket.create_bucket()
            put_folder(bucket, folder / "store", "train.augur")
            bucket.close()
            for name, value in server.environment().items():
                monkeypatch.setenv(name, value)
            yield line, [f"endpoint-url={server.endpoint}", "predict=off"]


def check(point, name):
    assert (point / name).read_bytes() == CONTENTS[name], name


def check_all(point):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: check(point, name), CONTENTS))


def test_readers_wait_while_the_link_is_cut_for_20_seconds(far, folder):
    line, options = far
    point = pathlib.Path(folder) / "mount"
    with mounts.augurfs(URL, point, *options, prefix=line.clients[0].prefix), concurrent.futures.ThreadPoolExecutor(8) as pool:
        check(point, "class-0/00.jpg")
        line.cut()
        readers = [pool.submit(check, point, name) for name in list(CONTENTS)[1:9]]
        try:
            done, _ = concurrent.futures.wait(readers, timeout=20)
        finally:
            line.mend()
        assert not done, [one.exception() for one in done]
        for reader in readers:
            reader.result()
        check_all(point)


@pytest.mark.skipif("AUGUR_TEST_LONG" not in os.environ, reason="takes two minutes: set AUGUR_TEST_LONG")
def test_reads_fail_while_the_link_is_cut_for_2_minutes_and_work_again(far, folder):
    line, options = far
    point, log = pathlib.Path(folder) / "mount", pathlib.Path(folder) / "log"
    with mounts.augurfs(URL, point, *options, "io-timeout=20", f"log={log}", prefix=line.clients[0].prefix) as daemon:
        check(point, "class-0/00.jpg")
        names = iter(list(CONTENTS)[1:])
        mended_s = time.monotonic() + 120
        line.cut()
        try:
            failures = 0
            while time.monotonic() < mended_s:
                with pytest.raises(OSError) as failed:
                    check(point, next(names))
                assert failed.value.errno == errno.EIO
                failures += 1
            # The first waits for io-timeout, the later ones for two attempts.
            assert failures >= 3
        finally:
            line.mend()
        assert "reads wait up to 20 s for the server" in log.read_text()
        check_all(point)
        assert daemon.poll() is None
        assert "the server answers again" in log.read_text()
