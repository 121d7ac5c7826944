# SPDX-License-Identifier: Apache-2.0
"""What tests do with buckets and with programs that use them."""

import contextlib
import os
import pathlib
import subprocess
import time

import mounts


def put_folder(bucket, folder, prefix):
    """All files of a folder, under keys that begin with the prefix."""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            bucket.put(f"{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes())


def drop_pages(*files):
    """Takes the pages of these paths or descriptors out of the page cache, and no others: the tests of the mount run beside these."""
    for file in files:
        opened = file if isinstance(file, int) else os.open(file, os.O_RDONLY)
        os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
        if opened is not file:
            os.close(opened)


def wait_until(is_so, patience_s=60):
    end = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def daemon_of(point):
    """The one daemon of a mount. What was just forked has a daemon's command line, too, for a moment."""
    program = mounts.program("augurfs")
    wait_until(lambda: len(mounts.daemons(program, point)) == 1)
    return mounts.daemons(program, point)[0]


def asked_for(requests):
    """Paths and ranges of requests. One that is sent again because its answer is late, as on a busy machine, counts once."""
    return {(request.path, request.range) for request in requests}


def run(words):
    """A program to its end, whatever that is."""
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)


def must_run(words):
    """The same, and it must do what it was told. What it has written."""
    done = run(words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextlib.contextmanager
def while_held(proxy, held, words):
    """A program, once it waits for the request that `held` holds; ended afterwards, whatever happens."""
    with proxy.playing(held), subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until(lambda: held.count)
            yield process
        finally:
            held.release()
            process.kill()
