# SPDX-License-Identifier: Apache-2.0
"""-o writable=: an overlay over the mount, and what becomes of both: SEMANTICS.md, L19 to L21."""

import errno
import os
import pathlib
import shutil
import signal
import stat
import subprocess

import pytest
from mounts import daemons, holders, is_running, mount_rows, statistics
from patience import wait_until
from program_runs import NOBODY, as_user, assert_refused, complaint_of, run
from skips import needs_root, no_error_at_a_crash, passes_signals_on, skip_without_overlay
from stores import pack
from system_calls import errno_of
from test_overlay import contents, source, train  # noqa: F401

pytestmark = needs_root


@pytest.fixture
def scratch(room):
    """A folder on a file system that can be an upper layer."""
    folder = room / "scratch"
    folder.mkdir()
    assert run(["mount", "-t", "tmpfs", "none", folder]).returncode == 0
    try:
        skip_without_overlay(folder)
        yield folder
    finally:
        # A test that failed may have left a mount below.
        for row in reversed(mounted_below(folder)):
            subprocess.run(["umount", "-l", row], check=False)
        wait_until(lambda: run(["umount", folder]).returncode == 0, "the folder is let go")


def mounted_below(folder):
    """Mount points below a folder, without itself."""
    lines = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [point for point in (line.split(" ")[4] for line in lines) if point.startswith(f"{folder}/")]


def helpers(scratch):
    """The processes augur-overlay whose mounts are seen here."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            same = os.readlink(path.parent / "ns" / "mnt") == os.readlink("/proc/self/ns/mnt")
            if same and path.read_text(encoding="ascii") == "augur-overlay\n":
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.fixture
def store(augurpack, source, room):  # noqa: F811
    return pack(augurpack, source, room / "store")


def all_gone(point, scratch, pid):
    """After the end nothing is left but the folder."""
    wait_until(lambda: not mounted_below(scratch), lambda: mounted_below(scratch))
    wait_until(lambda: not is_running(pid), "the daemon ends")
    wait_until(lambda: not helpers(scratch), lambda: helpers(scratch))
    assert not os.path.ismount(point) and not holders(point)


def test_what_is_written_is_kept(scratch, mounts, point, store, augurpack, ctl, source):  # noqa: F811
    """L19: a tool writes, renames and removes; the store is as before, and the next mount has it all again."""
    before = contents(source)
    folder = scratch / "train"  # is made
    pid = mounts.mount(store, point, f"writable={folder}")
    expected = train(point)
    assert contents(point) == expected
    assert (folder / "upper" / "labels.cache").read_bytes() == b"second"
    assert not (folder / "upper" / "labels" / "06.txt").exists()
    assert contents(folder / "lower") == before
    # augurctl finds the daemon, which tells of the place that a user knows.
    assert statistics(point)["mount"]["mountpoint"] == str(point)
    status = run([ctl, "status", point])
    assert status.returncode == 0 and f"writable   what programs write is kept in {folder}\n" in status.stdout
    assert run([ctl, "doctor", "--seconds", "1", point]).returncode in (0, 1)
    assert run(["umount", point]).returncode == 0
    all_gone(point, scratch, pid)
    assert run([augurpack, "verify", "--quiet", store]).returncode == 0
    pid = mounts.mount(store, point, f"writable={folder}")
    assert contents(point) == expected
    assert run(["umount", point]).returncode == 0
    all_gone(point, scratch, pid)


@pytest.mark.parametrize("how", ["lower", "term", "kill"])
def test_both_end_together(scratch, how, mounts, point, store):
    """L19: however it ends, one umount of the mount point leaves nothing mounted."""
    pid = mounts.mount(store, point, f"writable={scratch}/w")
    (point / "written").write_bytes(b"x")
    if how == "lower":
        assert run(["umount", scratch / "w" / "lower"]).returncode == 0
    elif how == "term":
        os.kill(pid, signal.SIGTERM)
    else:
        for one in [*holders(point), *holders(scratch / "w" / "lower"), pid]:
            os.kill(one, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), "the daemon ends")
        assert run(["umount", point]).returncode == 0
    all_gone(point, scratch, pid)
    assert (scratch / "w" / "upper" / "written").read_bytes() == b"x"
    pid = mounts.mount(store, point, f"writable={scratch}/w")
    assert (point / "written").read_bytes() == b"x"


@no_error_at_a_crash
def test_a_daemon_that_dies_is_followed(scratch, mounts, point, store, ctl):
    """L19: the overlay is over the mount, which another daemon serves; a restart likewise."""
    pid = mounts.mount(store, point, f"writable={scratch}/w")
    (point / "written").write_bytes(b"x")
    os.kill(pid, signal.SIGKILL)
    assert (point / "images" / "rose" / "00.jpg").read_bytes().startswith(b"rose 0")
    lower = scratch / "w" / "lower"  # .augur of another daemon is there alone
    wait_until(lambda: statistics(lower)["mount"]["process"] != str(pid), "the next daemon")
    assert run([ctl, "restart", point]).returncode == 0
    (point / "again").write_bytes(b"y")
    assert contents(scratch / "w" / "upper") == {"written": b"x", "again": b"y"}
    last = int(statistics(lower)["mount"]["process"])
    assert run([ctl, "status", point]).returncode == 0
    assert run(["umount", point]).returncode == 0
    all_gone(point, scratch, last)


def test_it_belongs_to_one_generation(scratch, mounts, point, store, augurpack, ctl, source):  # noqa: F811
    """L20: files that were written would hide newer ones."""
    folder = scratch / "w"
    mounts.mount(store, point, f"writable={folder}")
    (point / "images" / "rose" / "00.jpg").write_bytes(b"mine")
    (source / "images" / "rose" / "00.jpg").write_bytes(b"theirs")
    more = source.parent / "more"
    (more / "images" / "rose").mkdir(parents=True)
    (more / "images" / "rose" / "99.jpg").write_bytes(b"new")
    assert run([augurpack, "append", "--quiet", more, store]).returncode == 0
    reload = run([ctl, "reload", point])
    assert reload.returncode == 2 and "-o writable=" in reload.stderr and "unmount it" in reload.stderr
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not mounted_below(scratch), "unmounted")
    assert_refused(mounts.start(store, point, f"writable={folder}"), str(folder), "generation 1, and this is generation 2",
                   "empty or new, or, if that was this store, mount with generation=1")
    wait_until(lambda: not mounted_below(scratch), "unmounted")
    assert not os.path.ismount(point)
    assert_refused(mounts.start(store, point, f"writable={folder},generation=1,view=pixels+size=8"), "the original files", "without view=")
    wait_until(lambda: not mounted_below(scratch), "unmounted")
    mounts.mount(store, point, f"writable={folder},generation=1")
    assert (point / "images" / "rose" / "00.jpg").read_bytes() == b"mine" and not (point / "images" / "rose" / "99.jpg").exists()
    assert run(["umount", point]).returncode == 0
    wait_until(lambda: not mounted_below(scratch), "unmounted")
    mounts.mount(store, point, f"writable={scratch}/other")
    assert (point / "images" / "rose" / "99.jpg").read_bytes() == b"new"


def test_users_write_as_the_modes_say(scratch, mounts, point, store):
    """L21: the overlay is for all users; the daemon may be another user's."""
    store.chmod(0o755)
    mounts.mount(store, point, f"writable={scratch}/w,run-as={NOBODY}")
    assert os.stat(point).st_uid == NOBODY
    done = run([*as_user(), "sh", "-c", f"echo hello > {point}/images/rose/note && cat {point}/images/rose/note {point}/labels/00.txt"])
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("hello\n0 0.5")
    other = run([*as_user(1234), "sh", "-c", f"cat {point}/labels/00.txt && touch {point}/labels/x"])
    assert other.returncode != 0 and other.stdout.startswith("0 0.5") and "Permission denied" in other.stderr


def test_what_cannot_be(room, scratch, mounts, point, store):
    """Each is refused with the cure, and leaves nothing mounted."""
    file = room / "file"
    file.write_bytes(b"")
    (scratch / "open").mkdir()
    (scratch / "open").chmod(0o777)
    for folder, *words in [(scratch / "a\\,b", "a comma, a colon or a backslash"), (point / "in", "one lies in the other"),
                           (file, "not a folder"), (scratch / "open", "users other than root may change"), (point, "one lies in the other"), (file / "below", "not a folder")]:
        done = mounts.start(store, point, f"writable={folder}")
        assert_refused(done, *words)
        assert not os.path.ismount(point) and not mounted_below(scratch)
    assert list(point.iterdir()) == [] and list((scratch / "open").iterdir()) == []
    # The log of a plain mount names the option.
    log = room / "log"
    mounts.mount(store, point, f"log={log}")
    assert errno_of((point / "x").write_bytes, b"") == errno.EROFS
    assert "read-only; for tools that write beside their data, mount with -o writable=DIR" in log.read_text(encoding="utf-8")
    # No second one at the same place.
    assert run(["umount", point]).returncode == 0
    mounts.mount(store, point, f"writable={scratch}/w")
    assert_refused(mounts.start(store, point, f"writable={scratch}/other"), str(point), "an AugurFS is mounted here already")
    assert_refused(mounts.start(store, point), str(point), "an AugurFS is mounted here already")
    (room / "second").mkdir()
    assert_refused(mounts.start(store, room / "second", f"writable={scratch}/w"), "an AugurFS is mounted here already")


def test_a_mistyped_folder(scratch, mounts, point, store):
    """L19: no folder above it is made."""
    for folder in (scratch / "mistyped" / "w", scratch / "mistyped" / "more" / "w/"):
        assert_refused(mounts.start(store, point, f"writable={folder}"), f"-o writable: {folder}: the folder above it, {folder.parent}, does not exist",
                       "correct the path, or make that folder first (mkdir -p)")
    (scratch / "link").symlink_to(scratch / "nowhere")
    assert_refused(mounts.start(store, point, f"writable={scratch}/link"), "the symbolic link leads nowhere: make its target, or remove it")
    assert {path.name for path in scratch.iterdir()} == {"trial", "link"} and not os.path.ismount(point)


@pytest.mark.parametrize("words", [[], ["-f"]])
def test_a_mount_that_fails_leaves_nothing(room, scratch, mounts, point, store, words):
    """L19: what it has made it removes, and a folder that was there is as it was."""
    damaged = room / "damaged"
    shutil.copytree(store, damaged)
    for index in damaged.glob("index-*"):
        index.write_bytes(b"x" * index.stat().st_size)
    (scratch / "there").mkdir()
    (scratch / "there" / "mine").write_bytes(b"mine")
    for folder in (scratch / "there", scratch / "new"):
        for bad, *options in [(damaged,), (store, "generation=9"), (store, f"root-hash={'0' * 64}"), (store, "cache=shm,cache-group=no-such-group")]:
            done = run([*mounts.words(bad, point, [f"writable={folder}", *options]), *words])
            assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("augurfs: "), done
            assert contents(scratch) == {"there/mine": b"mine"} and not (scratch / "new").exists(), done
            assert list((scratch / "there").iterdir()) == [scratch / "there" / "mine"], done
            assert not os.path.ismount(point) and not mounted_below(scratch)


@passes_signals_on
def test_a_mount_that_is_stopped_leaves_nothing(scratch, mounts, point):
    """Ctrl-C while it waits for a server; nothing listens at port 1."""
    command = mounts.words("http://127.0.0.1:1/store", point, ["no-sign-request", "io-timeout=600", f"writable={scratch}/w"])
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert "no answer to 3 requests" in process.stderr.readline()
        assert (scratch / "w" / "upper").is_dir()
    finally:
        complaint = complaint_of(process, signal.SIGINT, lambda: (*holders(scratch / "w" / "lower"), *daemons(mounts.program, point)))
    assert process.returncode == 2 and "nothing is left" in complaint
    wait_until(lambda: not (scratch / "w").exists() and not helpers(scratch), lambda: list(scratch.rglob("*")))


@pytest.mark.parametrize("typed", ["w/", "here/../w", "link"])
def test_a_path_with_a_slash_or_a_link(scratch, mounts, point, store, ctl, typed):
    """L19: however it is typed."""
    (scratch / "here").mkdir()
    if typed == "link":
        (scratch / "w").mkdir()
        (scratch / "link").symlink_to("w")
    mounts.mount(store, point, f"writable={scratch}/{typed}")
    (point / "written").write_bytes(b"x")
    assert run([ctl, "restart", point]).returncode == 0
    last = int(statistics(scratch / "w" / "lower")["mount"]["process"])
    assert (scratch / "w" / "upper" / "written").read_bytes() == b"x"
    assert run(["umount", point]).returncode == 0
    all_gone(point, scratch, last)


def test_the_folder_must_be_able_to_be_an_upper_layer(scratch, mounts, point, store):
    """An overlay takes none that is an overlay."""
    for name in ("l", "u", "w", "over"):
        (scratch / name).mkdir()
    layers = f"lowerdir={scratch}/l,upperdir={scratch}/u,workdir={scratch}/w"
    assert run(["mount", "-t", "overlay", "none", "-o", layers, scratch / "over"]).returncode == 0
    try:
        (scratch / "over" / "d").mkdir()
        done = mounts.start(store, point, f"writable={scratch}/over/d")
        assert_refused(done, f"{scratch}/over/d", "choose a folder on a local file system")
        assert mounted_below(scratch) == [str(scratch / "over")] and not os.path.ismount(point)
        assert list((scratch / "over" / "d").iterdir()) == []
        assert_refused(mounts.start(store, point, f"writable={scratch}/over/new"), "choose a folder on a local file system")
        assert not (scratch / "over" / "new").exists()
    finally:
        assert run(["umount", scratch / "over"]).returncode == 0


def test_reads_are_foreseen_through_it(room, scratch, mounts, point, augurpack):
    """Files in path order are pushed ahead of the reader, though opens are not seen through an overlay."""
    tree = room / "many"
    tree.mkdir()
    for number in range(400):
        (tree / f"{number:04}").write_bytes(os.urandom(20_000))
    store = pack(augurpack, tree, room / "many.augur")
    mounts.mount(store, point, f"writable={scratch}/w")
    paths = sorted(path for path in point.iterdir() if path.name != ".augur")
    lower = scratch / "w" / "lower"  # an overlay shows a file of .augur once
    for number, path in enumerate(paths):
        if number == 200:  # the daemon has seen enough, and may not have had a processor yet
            wait_until(lambda: statistics(lower)["counters"]["pushes"] > 0, lambda: statistics(lower))
        assert path.read_bytes() == (tree / path.name).read_bytes()
    counters = statistics(lower)["counters"]
    assert counters["reads"] < 400 and counters["read_failures"] == 0, counters


def test_an_ordinary_user(room, mounts, users_may_mount, store, ctl):
    """fuse-overlayfs lays it; without that the recipe is in the refusal."""
    store.chmod(0o755)
    home = room / "home"
    (home / "mount").mkdir(parents=True)
    for path in (home, home / "mount"):
        os.chown(path, NOBODY, NOBODY)
    bare = room / "bin"
    bare.mkdir()
    (bare / "fusermount3").symlink_to(shutil.which("fusermount3"))
    done = mounts.start(store, home / "mount", f"writable={home}/w", prefix=[*as_user(), "env", f"PATH={bare}"])
    assert_refused(done, "fuse-overlayfs, which is not installed: apt-get install fuse-overlayfs", "or mount as root")
    assert not mounted_below(home) and not (home / "w").exists()
    if shutil.which("fuse-overlayfs") is None:
        pytest.skip("fuse-overlayfs is not installed; the refusal was tested")
    mounts.mount(store, home / "mount", f"writable={home}/w", prefix=as_user())
    done = run([*as_user(), "sh", "-c", f"echo hello > {home}/mount/note && cat {home}/mount/note {home}/mount/labels/00.txt"])
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("hello\n0 0.5")
    asked_by_its_user(ctl, home)
    assert run([*as_user(), "fusermount3", "-u", home / "mount"]).returncode == 0
    wait_until(lambda: not mounted_below(home), lambda: mounted_below(home))
    assert (home / "w" / "upper" / "note").read_text(encoding="ascii") == "hello\n"
    assert stat.S_ISREG((home / "w" / "upper" / "note").stat().st_mode) and not mount_rows(home / "mount")


def asked_by_its_user(ctl, home):
    """augurctl takes the path that the user has mounted, a path in it, and that of the mount below; also when another daemon goes on."""
    point, order = home / "mount", home / "order.txt"
    order.write_text("labels/00.txt\n", encoding="ascii")
    order.chmod(0o644)
    for path in (point, point / "labels", point / "labels" / "00.txt", home / "w" / "lower"):
        done = run([*as_user(), ctl, "status", path])
        assert (done.returncode, done.stderr) == (0, "") and f"kept in {home}/w\n" in done.stdout, done
    for words in (["doctor", "--seconds", "1"], ["top", "--once"], ["views"], ["warm"], ["hint", "--order", order],
                  ["report", "--seconds", "1", "-o", home / "page.html"], ["status", "--json"], ["restart"], ["status"]):
        done = run([*as_user(), ctl, words[0], point, *words[1:]])
        assert done.returncode in ((0, 1) if words[0] == "doctor" else (0,)), done
    # To another user it says whom to ask.
    done = run([*as_user(1234), ctl, "status", point])
    assert done.returncode == 2 and "run augurctl as the user who mounted it" in done.stderr, done
