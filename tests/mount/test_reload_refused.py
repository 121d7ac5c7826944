# SPDX-License-Identifier: Apache-2.0
"""A mount that cannot be reloaded (augurctl reload), and goes on as it is: SEMANTICS.md, L18."""

import json
import os
import signal
import struct

from daemon_deaths import kill_all
from kernel_caches import drop_caches
from mounts import daemons
from patience import wait_until
from prefetching import Prediction, log_of
from program_runs import run
from reload_fixtures import bytes_of, grown, reload  # noqa: F401
from restart_fixtures import assert_goes_on, restart, script, shared_state
from skips import needs_root

pytestmark = needs_root


def assert_refused(mounts, ctl, pid, point, options, *words):
    done = run([ctl, "reload", point, *options])
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1, done
    for word in words:
        assert word in done.stderr, done.stderr
    wait_until(lambda: daemons(mounts.program, point) == [pid], "no other daemon is there")


def test_what_is_refused(room, mounts, point, ctl, grown):
    """L18: with the cause, and the generation before is served on."""
    pid = mounts.mount(grown.path, point, f"log={room}/log")
    files = dict(grown.files)
    grown.add({"f0/000": bytes_of("f0/000", 1)})
    assert_refused(mounts, ctl, pid, point, ["-o", "uid=3"], "-o uid: cannot change", "generation and root-hash can")
    assert_refused(mounts, ctl, pid, point, ["-o", "generation=7"], "generation 7")
    assert_refused(mounts, ctl, pid, point, ["-o", "generation=x"], "-o generation", "'x'")
    assert_goes_on(mounts, ctl, pid, point, ["-o", "generation=2"], "use 'augurctl reload'")
    manifest = grown.path / "manifest"
    text = manifest.read_bytes()
    manifest.write_bytes(text.replace(b"generation 2", b"generation 3"))
    assert_refused(mounts, ctl, pid, point, [], str(grown.path), "manifest")
    manifest.unlink()
    assert_refused(mounts, ctl, pid, point, [], str(grown.path), "manifest")
    manifest.write_bytes(text)
    index = grown.path / "index-00000002"
    good = index.read_bytes()
    index.write_bytes(good[:1000] + b"x" + good[1001:])
    assert_refused(mounts, ctl, pid, point, [], "index-00000002", f"process {pid} of version")
    index.write_bytes(good)
    drop_caches()
    assert {path: (point / path).read_bytes() for path in files} == files
    reload(ctl, point)
    grown.check(point)


def spoils_the_answer_to_init(room, point, program):
    """A program that cannot serve the mount when the file `spoil` is there, which it learns at its turn: what the first daemon has
    answered to FUSE_INIT is another thing then. The next start has the answer as it was."""
    state = shared_state(point)
    with open(state, "rb") as file:
        data = file.read(4096)
    # struct fuse_out_header: its length with struct fuse_init_out, and no error.
    place = data.index(struct.pack("<II", 80, 0)) + 79

    def write(value):
        return f'printf "\\{value:03o}" | dd of={state} bs=1 seek={place} conv=notrunc status=none'

    return script(room / "spoils", f'''if [ -e "{room}/spoil" ]; then
  mv "{room}/spoil" "{room}/spoilt"
  {write(data[place] ^ 1)}
elif [ -e "{room}/spoilt" ]; then
  rm "{room}/spoilt"
  {write(data[place])}
fi
exec "{program}" "$@"''')


def test_the_new_daemon_fails_at_its_turn(room, mounts, point, ctl, grown):
    """L18: nothing has changed then, also for the daemons that follow; and the upgrade before is still the last one."""
    mounts.mount(grown.path, point, f"log={room}/log")
    restart(ctl, point, "--binary", spoils_the_answer_to_init(room, point, mounts.program))
    before = Prediction(None, point).status()["mount"]
    assert before["generation"] == "1" and "handed over to process" in before["last_upgrade"], before
    old = dict(grown.files)
    grown.add({"f0/000": bytes_of("f0/000", 1), "f0/new": b"new"})

    def check(files):
        drop_caches()
        assert {path: (point / path).read_bytes() for path in files} == files, log_of(room)
        assert (point / "f0/new").exists() == ("f0/new" in files)

    (room / "spoil").touch()
    done = run([ctl, "reload", point])
    assert done.returncode == 2 and ": no reload: the new daemon has ended before it served, and process" in done.stderr, done
    assert "speaks otherwise to the kernel" in log_of(room)
    check(old)
    now = Prediction(None, point).status()["mount"]
    assert (now["generation"], now["last_upgrade"]) == ("1", before["last_upgrade"])
    kill_all(daemons(mounts.program, point))
    check(old)
    restart(ctl, point)
    check(old)
    reload(ctl, point)
    check(grown.files)


def test_without_a_holder(room, mounts, point, ctl, grown):
    """L18"""
    pid = mounts.mount(grown.path, point, "restart=no")
    grown.add({"new": b"new"})
    assert_refused(mounts, ctl, pid, point, [], "-o restart=no", "mount again without that option")


def test_a_root_hash(room, mounts, point, ctl, grown):
    """L18: a mount that has one needs that of the new generation."""
    def root_hash():
        return json.loads(run([grown.augurpack, "info", "--json", grown.path]).stdout)["root_hash"]

    pid = mounts.mount(grown.path, point, f"root-hash={root_hash()}", f"log={room}/log")
    opened = os.open(point / "f0" / "000", os.O_RDONLY)
    try:
        old = grown.files["f0/000"]
        grown.add({"f0/000": bytes_of("f0/000", 1)})
        assert_refused(mounts, ctl, pid, point, [], "root hash")
        told = reload(ctl, point, "-o", f"root-hash={root_hash()}")
        grown.check(point)
        os.kill(told["process"], signal.SIGKILL)
        drop_caches()
        grown.check(point)
        assert os.pread(opened, 100_000, 0) == old
    finally:
        os.close(opened)
