# SPDX-License-Identifier: Apache-2.0
"""What programs have open keeps its meaning when a mount shows another generation (augurctl reload): SEMANTICS.md, L17."""

import errno
import mmap
import os
import signal

import pytest

from kernel_caches import drop_caches
from prefetching import log_of
from program_runs import run
from reload_fixtures import Store, bytes_of, grown, reload  # noqa: F401
from skips import needs_root
from system_calls import errno_of

pytestmark = needs_root


def test_what_is_open_keeps_its_bytes(room, mounts, point, ctl, grown):
    """L17: descriptors, O_PATH, mappings, and all that is made of them; over more than one reload."""
    mounts.mount(grown.path, point, f"log={room}/log")
    path = "f1/001"
    old = grown.files[path]
    opened = os.open(point / path, os.O_RDONLY)
    named = os.open(point / path, os.O_PATH)
    mapped = mmap.mmap(opened, 0, prot=mmap.PROT_READ)
    try:
        before = os.fstat(opened)
        for version in range(1, 4):
            grown.add({path: bytes_of(path, version, 50_000 + version)})
            reload(ctl, point)
            drop_caches()
            assert (point / path).read_bytes() == bytes_of(path, version, 50_000 + version)
            assert os.pread(opened, 100_000, 0) == old
            assert mapped[:] == old
            with open(f"/proc/self/fd/{named}", "rb") as again:
                assert again.read() == old
            assert os.fstat(opened) == before
    finally:
        mapped.close()
        os.close(named)
        os.close(opened)


def test_folders_that_programs_are_in(room, mounts, point, ctl, grown):
    """L17: a folder that is still there shows the new names, and one that was removed is empty, as on a local file system."""
    grown.add({"gone/deep/file": b"old"})
    mounts.mount(grown.path, point, f"log={room}/log")
    kept = os.open(point / "f0", os.O_RDONLY | os.O_DIRECTORY)
    removed = os.open(point / "gone" / "deep", os.O_RDONLY | os.O_DIRECTORY)
    file = os.open("file", os.O_RDONLY, dir_fd=removed)
    try:
        assert os.listdir(removed) == ["file"] and "added" not in os.listdir(kept)
        assert errno_of(lambda: os.stat("added", dir_fd=kept)) == errno.ENOENT
        grown.add({"f0/added": b"added"})
        files = {name: data for name, data in grown.files.items() if not name.startswith("gone/")}
        grown.add(files, "create", "--force")
        reload(ctl, point)
        grown.check(point)
        assert "added" in os.listdir(kept)
        fd = os.open("added", os.O_RDONLY, dir_fd=kept)
        assert os.read(fd, 10) == b"added"
        os.close(fd)
        assert os.listdir(removed) == []
        assert errno_of(lambda: os.stat("file", dir_fd=removed)) == errno.ENOENT
        drop_caches()
        assert os.pread(file, 10, 0) == b"old"
    finally:
        for fd in (kept, removed, file):
            os.close(fd)


@pytest.mark.parametrize("listing", [(), ("--order=listing",)])
def test_a_listing_that_has_begun(room, mounts, point, ctl, augurpack, listing):
    """L17, T6: it goes on behind what it has given; what stays is given once, what was removed no more."""
    store = Store(augurpack, room, {f"f/{number:05}": b"" for number in range(4000)}, "create", *listing)
    mounts.mount(store.path, point, f"log={room}/log")
    with os.scandir(point / "f") as items:
        seen = [next(items).name for _ in range(500)]
        store.add({f"f/{number:05}.added": b"" for number in range(0, 4000, 7)})
        reload(ctl, point)
        seen += [next(items).name for _ in range(1500)]
        if listing:  # to remove some would be to pack anew, in another order
            store.add({f"f/{number:05}.more": b"" for number in range(0, 4000, 5)})
        else:
            store.add({path: data for path, data in store.files.items() if not path.endswith("3")}, "create", "--force")
        reload(ctl, point)
        seen += [item.name for item in items]
    assert len(seen) == len(set(seen))
    stays = {name for name in (f"{number:05}" for number in range(4000)) if f"f/{name}" in store.files}
    assert stays <= set(seen), sorted(stays - set(seen))[:5]
    assert len(os.listdir(point / "f")) == len(store.files)


def test_files_of_too_many_generations(room, mounts, point, ctl, grown):
    """L18: refused, with the cure, and the mount goes on."""
    mounts.mount(grown.path, point, f"log={room}/log")
    opened = []
    try:
        for number in range(18):
            opened.append((os.open(point / "f0/000", os.O_RDONLY), grown.files["f0/000"]))
            grown.add({"f0/000": bytes_of("f0/000", number + 1)})
            done = run([ctl, "reload", point])
            if done.returncode != 0:
                break
        assert done.returncode == 2 and "earlier generations are still open" in done.stderr, (number, done)
        assert number == 16
        drop_caches()
        assert all(os.pread(fd, 100_000, 0) == data for fd, data in opened)
    finally:
        for fd, _ in opened:
            os.close(fd)
    reload(ctl, point)
    grown.check(point)


def test_gc_keeps_what_is_open(room, mounts, point, ctl, grown):
    """L17, C1: on this machine. What another one removes costs the open files an EIO, with a line in the log."""
    mounts.mount(grown.path, point, f"log={room}/log")
    opened = os.open(point / "f0" / "000", os.O_RDONLY)
    try:
        old = grown.files["f0/000"]
        for version in range(1, 4):
            grown.add({"f0/000": bytes_of("f0/000", version)})
            reload(ctl, point)
        mounts.pid(point)  # those before, which hold what they have shown, are gone
        assert run([grown.augurpack, "gc", grown.path]).returncode == 0
        assert (grown.path / "index-00000001").exists() and not (grown.path / "index-00000002").exists()
        drop_caches()
        assert os.pread(opened, 100_000, 0) == old
        (grown.path / "index-00000001").unlink()
        drop_caches()
        assert os.pread(opened, 100_000, 0) == old  # the daemon has the index open
        os.kill(mounts.pid(point), signal.SIGKILL)
        drop_caches()
        assert errno_of(os.pread, opened, 100_000, 0) == errno.EIO
        assert "generation 1 is gone" in log_of(room)
        grown.check(point)
    finally:
        os.close(opened)
