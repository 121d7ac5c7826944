# SPDX-License-Identifier: Apache-2.0
"""A mount shows another generation of its store without being unmounted (augurctl reload): SEMANTICS.md, L17 and L18."""

import io
import json
import mmap
import os
import pathlib
import random
import signal
import struct
import subprocess

import pytest

from conftest import NOBODY, as_user, daemons, drop_caches, errno_of, holders, kill_all, needs_root, run, wait_until
from prefetching import Prediction, log_of
from reload_fixtures import Store, bytes_of, changes, grown, reload  # noqa: F401
from restart_fixtures import assert_goes_on, assert_served_again, restart, script, shared_state

pytestmark = needs_root

ENOENT, EIO = 2, 5


def indexes_of(pid):
    """The indexes of stores that a process has open."""
    names = {os.path.basename(target) for target in open_files(pid).values()}
    return {name for name in names if name.startswith("index-")}


def reads(point):
    return Prediction(None, point).counters()["reads"]


def test_names_and_bytes(room, mounts, point, ctl, grown):
    """L17: from the return of the command on, every look-up and listing is that of the new generation."""
    pid = mounts.mount(grown.path, point, f"log={room}/log")
    (holder,) = holders(point)
    assert indexes_of(holder) == {"index-00000001"}
    grown.check(point)
    for missing in ("new", "f0/new", "g", "g/h"):  # the kernel remembers it
        assert errno_of(os.stat, point / missing) == ENOENT
    inodes = {path: (point / path).stat().st_ino for path in grown.files}
    changed = {path: bytes_of(path, 1, 30_000) for path in ("f0/000", "f1/001", "f1/118")}
    grown.add({**changed, "f0/new": b"new", "g/h/deep": b"deep", "000": b"first of all"})
    told = reload(ctl, point)
    assert (told["from_generation"], told["generation"], told["unchanged"]) == (1, 2, False)
    assert told["from_process"] == pid
    wait_until(lambda: daemons(mounts.program, point) == [told["process"]], "the one before is gone")
    assert (point / "f0" / "new").read_bytes() == b"new"
    assert sorted(os.listdir(point)) == ["000", "f0", "f1", "f2", "g"]
    grown.check(point)
    now = {path: (point / path).stat().st_ino for path in inodes}
    assert {path for path in inodes if now[path] != inodes[path]} == set(changed)
    assert len(set(now.values()) | set(inodes.values())) == len(inodes) + len(changed)
    wait_until(lambda: "from now on generation 2 is shown" in log_of(room), "the log says so")
    # The holder keeps it from 'augurpack gc' while a daemon is missing.
    wait_until(lambda: indexes_of(holder) == {"index-00000002"}, lambda: indexes_of(holder))
    # And back again: what was added is gone.
    told = reload(ctl, point, "-o", "generation=1")
    assert told["generation"] == 1
    assert errno_of(os.stat, point / "f0" / "new") == ENOENT and errno_of(os.stat, point / "g" / "h") == ENOENT
    assert (point / "f0" / "000").read_bytes() == bytes_of("f0/000", 0)
    # A restart is none: it keeps what is shown.
    restart(ctl, point)
    assert errno_of(os.stat, point / "f0" / "new") == ENOENT
    assert reload(ctl, point)["generation"] == 2
    grown.check(point)


@pytest.mark.parametrize("command", ["restart", "reload"])
def test_interrupted(room, mounts, point, ctl, grown, command):
    """L12: Ctrl-C while the command waits for the next daemon ends the command alone. The mount is served all the time."""
    begun, gate, log = room / "begun", room / "gate", room / "log"
    gate.touch()
    program = script(room / "slow", f'touch {begun}; until [ -e {gate} ]; do sleep 0.01; done; word=$1; shift; exec {mounts.program} "$word" "$@"')
    pid = mounts.mount(grown.path, point, f"log={log}")
    restart(ctl, point, "--binary", program)  # each later daemon is started by it
    assert_served_again(log, 1)
    if command == "reload":
        old = dict(grown.files)
        grown.add({"f0/000": bytes_of("f0/000", 1), "f1/new": b"new"})
    begun.unlink()
    gate.unlink()
    process = subprocess.Popen([ctl, command, point], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(begun.exists, "the next daemon is begun")
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=60)
        assert (process.returncode, said) == (2, "") and complaint.count("\n") == 1, complaint
        assert complaint.startswith(f"augurctl: stopped by SIGINT: the daemon of {point} goes on with what it was asked for; 'augurctl status' says"), complaint
        new, grown.files = grown.files, old if command == "reload" else grown.files
        grown.check(point)
        done = run([ctl, command, point])
        assert done.returncode == 2 and "is under way: wait for it" in done.stderr, done
    finally:
        gate.touch()
        process.kill()
        process.communicate()
    assert_served_again(log, 2)
    grown.files = new
    wait_until(lambda: len(daemons(mounts.program, point)) == 1, "the one before is gone")
    assert daemons(mounts.program, point) != [pid]
    if command == "reload":
        # The names of a reload change one after the other, until a command that waits would return.
        wait_until(lambda: (point / "f1" / "new").exists() and (point / "f0" / "000").read_bytes() == new["f0/000"], "the new generation")
    grown.check(point)
    told = restart(ctl, point)
    wait_until(lambda: daemons(mounts.program, point) == [told["process"]], "the one before is gone")
    grown.check(point)


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
        assert errno_of(lambda: os.stat("added", dir_fd=kept)) == ENOENT
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
        assert errno_of(lambda: os.stat("file", dir_fd=removed)) == ENOENT
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


@pytest.mark.parametrize("how", ["append", "create"])
def test_what_is_the_same_stays_in_the_page_cache(room, mounts, point, ctl, grown, how):
    """L17: no READ of it, also where the store was packed anew. Now and then the kernel takes a page by itself (kdamond, which reclaims
    what is cold, was seen at it), so this has five attempts. What a reload drops, each of them drops."""
    mounts.mount(grown.path, point, "push=off", f"log={room}/log")
    made = []
    for attempt in range(1, 6):
        grown.check(point)
        fresh = {"f1/001": bytes_of("f1/001", attempt), f"f0/new{attempt}": b"zero"}
        if how == "append":
            grown.add(fresh)
        else:
            files = {**grown.files, **fresh}
            del files[f"f2/{2 + 3 * attempt:03}"]
            grown.add(files, "create", "--force")
        reload(ctl, point)
        before = reads(point)
        grown.check(point)
        made.append(reads(point) - before)
        if made[-1] == len(fresh):
            return
    pytest.fail(f"READs after each reload: {made}, and two files were new")


def test_other_times_and_modes(room, mounts, point, ctl, grown):
    """L17: of a file whose bytes are the same; open descriptors see them, too, and its pages stay."""
    mounts.mount(grown.path, point, "push=off", f"log={room}/log")
    path, times = "f1/001", itertools.count(1_500_000_000)

    def change():
        time = next(times)
        with open(point / path, "rb") as file:
            data = file.read()
            source = room / "again"
            (source / "f1").mkdir(parents=True, exist_ok=True)
            (source / path).write_bytes(data)
            (source / path).chmod(0o600)
            os.utime(source / path, (time, time))
            done = run([grown.augurpack, "append", "--quiet", "--replace", source, grown.path])
            assert done.returncode == 0, done.stderr
            inode = os.fstat(file.fileno()).st_ino
            reload(ctl, point)
            before = reads(point)
            now = (point / path).stat()
            assert (now.st_mtime, now.st_mode & 0o777, now.st_ino) == (time, 0o600, inode)
            assert os.fstat(file.fileno()).st_mtime == time
            assert (point / path).read_bytes() == data
            assert reads(point) == before

    unless_caches_are_dropped(change)


def test_links(room, mounts, point, ctl, augurpack):
    """L17, T8: each name of a file with several is one of its own."""
    tree = room / "tree"
    tree.mkdir()
    (tree / "a").write_bytes(b"first")
    os.link(tree / "a", tree / "b")
    (tree / "link").symlink_to("a")
    assert run([augurpack, "create", "--quiet", tree, room / "store"]).returncode == 0
    mounts.mount(room / "store", point, f"log={room}/log")
    assert [(point / name).read_bytes() for name in ("a", "b", "link")] == [b"first"] * 3
    opened = os.open(point / "b", os.O_RDONLY)
    try:
        for name in ("a", "link"):
            (tree / name).unlink()
        (tree / "a").write_bytes(b"second!")
        (tree / "link").symlink_to("b")
        assert run([augurpack, "append", "--quiet", "--replace", tree, room / "store"]).returncode == 0
        reload(ctl, point)
        drop_caches()
        assert [(point / name).read_bytes() for name in ("a", "b", "link")] == [b"second!", b"first", b"first"]
        assert os.readlink(point / "link") == "b"
        assert os.pread(opened, 10, 0) == b"first"
    finally:
        os.close(opened)


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


def test_views(room, mounts, point, ctl, augurpack):
    """L17: files of views follow their images, and so do their names; what is open keeps its pixels."""
    numpy = pytest.importorskip("numpy")
    image = pytest.importorskip("PIL.Image")

    def photo(colour):
        out = io.BytesIO()
        image.new("RGB", (40, 30), colour).save(out, "JPEG", quality=95)
        return out.getvalue()

    def colour_of(array):
        return tuple(int(value) for value in array.reshape(-1, 3).mean(axis=0).round())

    store = Store(augurpack, room, {"c/a.JPEG": photo((200, 10, 10)), "c/b.JPEG": photo((10, 200, 10))})
    mounts.mount(store.path, point, f"log={room}/log")
    views = point / ".augur" / "views"
    for view in ("npy+size=16", "pixels"):
        assert sorted(os.listdir(views / view / "c"))
    folder = views / "npy+size=16" / "c"
    red, green = (numpy.load(folder / name) for name in ("a.npy", "b.npy"))
    assert red.shape == (16, 21, 3) or red.ndim == 3
    opened = numpy.load(folder / "a.npy", mmap_mode="r")
    inode = (folder / "b.npy").stat().st_ino
    assert errno_of(os.stat, folder / "new.npy") == ENOENT
    store.add({"c/a.JPEG": photo((10, 10, 200)), "c/new.JPEG": photo((90, 90, 90)), "c/b.png": png_of(image, (70, 0, 0))})
    reload(ctl, point)
    drop_caches()
    assert colour_of(numpy.load(folder / "a.npy")) == colour_of(numpy.asarray(image.open(io.BytesIO(store.files["c/a.JPEG"]))))
    assert (opened == red).all()
    # b.npy alone would name two files now.
    listed = sorted(os.listdir(folder))
    assert "new.npy" in listed and "a.npy" in listed and len(listed) == 4, listed
    assert {(folder / name).stat().st_ino for name in listed} >= {inode}
    for name in listed:
        numpy.load(folder / name)
    same = [name for name in listed if (numpy.load(folder / name) == green).all()]
    assert len(same) == 1 and (folder / same[0]).stat().st_ino == inode
    if "b.npy" not in listed:
        assert errno_of(os.stat, folder / "b.npy") == ENOENT
    assert (views / "pixels" / "c" / "new.JPEG").stat().st_size > 0


def png_of(image, colour):
    out = io.BytesIO()
    image.new("RGB", (40, 30), colour).save(out, "PNG")
    return out.getvalue()


def test_a_view_as_the_root(room, mounts, point, ctl, augurpack):
    """L17, W12"""
    numpy = pytest.importorskip("numpy")
    image = pytest.importorskip("PIL.Image")
    store = Store(augurpack, room, {"c/a.png": png_of(image, (200, 10, 10))})
    mounts.mount(store.path, point, "view=npy", f"log={room}/log")
    assert (numpy.load(point / "c" / "a.npy") == (200, 10, 10)).all()
    assert errno_of(os.stat, point / "c" / "b.npy") == ENOENT
    store.add({"c/b.png": png_of(image, (1, 2, 3)), "c/a.png": png_of(image, (4, 5, 6))})
    reload(ctl, point)
    assert os.listdir(point / "c") == ["a.npy", "b.npy"]
    assert (numpy.load(point / "c" / "a.npy") == (4, 5, 6)).all()
    assert (numpy.load(point / "c" / "b.npy") == (1, 2, 3)).all()


def test_an_order_is_followed_in_the_new_generation(room, mounts, point, ctl, grown):
    """L17: what is read ahead and pushed goes to the right nodes."""
    mounts.mount(grown.path, point, "memory=64M", f"log={room}/log")
    grown.check(point)
    grown.add({"000": b"first", **{path: bytes_of(path, 1) for path in grown.files if changes(path)}})
    reload(ctl, point)
    drop_caches()
    order = [path for path in grown.files if path != "000"]
    random.Random(3).shuffle(order)
    (room / "order").write_text("".join(f"{path}\n" for path in order), encoding="ascii")
    ahead = Prediction(ctl, point)
    before = ahead.counters()
    assert run([ctl, "hint", point, "--order", room / "order"]).returncode == 0
    wait_until(lambda: ahead.counters()["pushes"] > before["pushes"], lambda: f"files are pushed: {ahead.status()}")
    for path in order:
        assert (point / path).read_bytes() == grown.files[path], path


def test_nothing_to_do(room, mounts, point, ctl, grown):
    """L18: exit status 0, and the same daemon."""
    pid = mounts.mount(grown.path, point, f"log={room}/log")
    done = run([ctl, "reload", point])
    assert (done.returncode, done.stdout, done.stderr) == (0, "generation 1 is shown already: nothing to do\n", "")
    assert mounts.pid(point) == pid
    # With an option it is a restart.
    told = reload(ctl, point, "-o", "memory=96M")
    assert (told["from_process"], told["generation"], told["unchanged"]) == (pid, 1, False)
    assert Prediction(ctl, point).gauges()["memory_bytes_max"] == 96 << 20


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
        assert errno_of(os.pread, opened, 100_000, 0) == EIO
        assert "generation 1 is gone" in log_of(room)
        grown.check(point)
    finally:
        os.close(opened)


def test_an_ordinary_user(room, mounts, point, ctl, grown, users_may_mount):
    """L17, K2"""
    os.chown(point, NOBODY, NOBODY)
    (room / "own").mkdir()
    os.chown(room / "own", NOBODY, NOBODY)
    mounts.mount(grown.path, point, f"log={room}/own/log", prefix=as_user())
    path = "f0/000"
    reader = subprocess.Popen([*as_user(), "sh", "-c", f"exec 3< {point}/{path}; echo; read go; cat <&3"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert reader.stdout.readline() == b"\n"
        old = grown.files[path]
        grown.add({path: bytes_of(path, 1), "new": b"new"})
        done = run([*as_user(1234), ctl, "reload", point])
        assert done.returncode == 2 and "run augurctl as the user who mounted" in done.stderr, done
        assert reload(ctl, point, prefix=as_user())["generation"] == 2
        drop_caches()
        assert run([*as_user(), "cat", point / "new"]).stdout == "new"
        assert subprocess.run([*as_user(), "cat", point / path], stdout=subprocess.PIPE).stdout == bytes_of(path, 1)
        assert reader.communicate(b"go\n", timeout=PATIENCE_S)[0] == old
    finally:
        reader.kill()
        reader.communicate()
