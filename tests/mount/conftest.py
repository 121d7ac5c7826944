# SPDX-License-Identifier: Apache-2.0
"""Mounts for the tests of the mount. Whatever a test does, its mounts, processes and files are gone afterwards."""

import contextlib
import ctypes
import glob
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

import pytest
from odd_tree import make_odd_tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from mounts import (  # noqa: E402, F401
    URING_SWITCH,
    augurfs_words,
    can_switch_uring,
    children,
    daemons,
    end,
    end_daemons,
    holders,
    is_running,
    mount_rows,
    start,
    statistics,
    unmount,
)
from mounts import uring_switched_on as switch_uring_on  # noqa: E402

NOBODY = 65534  # the ordinary user of these tests
PATIENCE_S = 100  # against a hang: what is waited for comes in a second, and on a busy machine in some
HELLO = "hello, world\n"  # hello.txt in the small tree

# AUGUR_TRANSPORT=uring: every mount of these tests is one over io_uring, but for those that say otherwise.
TRANSPORT = os.environ.get("AUGUR_TRANSPORT") or "default"
# Files of tests whose mounts are tried over both transports in any run.
ON_BOTH_TRANSPORTS = {"test_caching", "test_lifecycle", "test_prefetch",
                      "test_views", "test_views_listed", "test_views_names", "test_views_under_load"}

libc = ctypes.CDLL(None, use_errno=True)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def not_over_uring(reason):
    """A test that cannot hold over io_uring, and why."""
    return pytest.mark.skipif(TRANSPORT == "uring", reason=f"over io_uring {reason}")


no_error_at_a_crash = not_over_uring("a crash may cost a reader ECANCELED (SEMANTICS.md, L16)")
measures_memory = pytest.mark.skipif("AUGUR_SANITIZER" in os.environ,
                                     reason="a sanitizer's own memory cannot be told from the daemon's")

looks_at_all_threads = pytest.mark.skipif(os.environ.get("AUGUR_SANITIZER") == "tsan",
                                          reason="a thread of the sanitizer's own is older than what the daemon gives up")


def anonymous_bytes(pid):
    """RssAnon and RssShmem of a process: all that it has allocated."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return sum(int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) for name in ("RssAnon", "RssShmem")) << 10


def wait_until(condition, what):
    """Waits for something that another process does; the test fails when it does not come, with the text or what it returns."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"in {PATIENCE_S} s not: {what() if callable(what) else what}")
        time.sleep(0.01)


def open_files(pid):
    """{a path below /proc: where it leads} of a process's descriptors, without those that it closes meanwhile."""
    found = {}
    with contextlib.suppress(FileNotFoundError):
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found[link] = os.readlink(link)
    return found


def thread_names(pid):
    """Of the threads that have not ended meanwhile."""
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.append(path.read_text(encoding="ascii").strip())
    return found


def lone_daemon(program, point):
    """The one daemon of a mount point. There are more for a moment: one before it may not have ended, and a process that was just forked
    has its parent's command line still."""
    found = []

    def is_alone():
        found[:] = daemons(program, point)
        return len(found) == 1

    wait_until(is_alone, lambda: f"one daemon: {found}")
    return found[0]


def as_user(uid=NOBODY):
    """The words that run a command as an ordinary user."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]


def run(words, **options):
    """A command's outcome: returncode, stdout, stderr as text."""
    return subprocess.run([os.fspath(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="surrogateescape", **{"timeout": PATIENCE_S, **options})


def drop_caches():
    """So that what is read next comes from the daemon."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("1\n")


def unless_caches_are_dropped(attempt):
    """Calls it, and again if it fails while somebody else drops the kernel's caches, as other tests do. It drops none itself."""
    def drops():
        return re.findall(r"^drop_\w+ \d+$", pathlib.Path("/proc/vmstat").read_text(encoding="ascii"), re.MULTILINE)

    for _ in range(10):
        before = drops()
        try:
            return attempt()
        except AssertionError:
            if drops() == before:
                raise
    pytest.skip("the kernel's caches are dropped all the time")


def errno_of(call, *arguments):
    """The errno that a call must fail with."""
    with pytest.raises(OSError) as failure:
        call(*arguments)
    return failure.value.errno


def read_hello(point):
    return (pathlib.Path(point) / "hello.txt").read_text(encoding="ascii")


def assert_refused(done, *words):
    """Exit 2, nothing on stdout, and one line on stderr that has these words."""
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.startswith("augurfs: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def without_notice(done):
    """The outcome without the line that says where the log is: only a machine without a system log has it (test_log.py)."""
    done.stderr = re.sub("augurfs: warning: there is no system log here.*\n", "", done.stderr)
    return done


def remove_logs(folder):
    """The logs of mounts below a folder, which outlive them where there is no system log."""
    name = str(folder).strip("/").replace("/", "-")
    for path in [*glob.glob(f"/run/augurfs/{name}*"), *glob.glob(f"/tmp/augurfs-*/{name}*")]:
        os.unlink(path)


@contextlib.contextmanager
def uring_switched_on():
    """FUSE over io_uring, as root switches it on; put back afterwards. Skips where this kernel or this user cannot."""
    if not can_switch_uring():
        pytest.skip("needs root, and Linux 6.14 with FUSE over io_uring")
    with switch_uring_on():
        yield


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__ in ON_BOTH_TRANSPORTS and "mounts" in metafunc.fixturenames and TRANSPORT == "default":
        metafunc.parametrize("transport", ["default", "uring"], indirect=True)


@pytest.fixture
def transport(request):
    """What the mounts of this test use: "default" or "uring"."""
    name = getattr(request, "param", TRANSPORT)
    with uring_switched_on() if name == "uring" else contextlib.nullcontext():
        yield name


class Mounts:
    """Starts augurfs and remembers what has to be ended."""

    def __init__(self, program, transport):
        self.program = program
        self.options = ["transport=uring"] if transport == "uring" else []
        self.points = []
        self.processes = []

    def start(self, store, point, *options, prefix=(), **popen_options):
        """augurfs in the background; returns the outcome of the command that the caller waits for."""
        self.points.append(point)
        return without_notice(run([*prefix, *self.words(store, point, options)], **popen_options))

    def words(self, store, point, options):
        """The command line; what the test says about the transport holds."""
        return augurfs_words(self.program, store, point, [*self.options, *options])

    def mount(self, store, point, *options, says="", **start_options):
        """The same, and it must succeed, with one warning that matches `says`, or without a word. Returns the process id of the daemon."""
        done = self.start(store, point, *options, **start_options)
        assert (done.returncode, done.stdout) == (0, ""), done
        assert re.fullmatch(f"augurfs: warning: .*(?:{says}).*\n" if says else "", done.stderr), done.stderr
        return self.pid(point)

    def foreground(self, store, point, *options, prefix=(), **popen_options):
        """augurfs -f, once its mount is there; stderr is a pipe."""
        self.points.append(point)
        words = [*prefix, *self.words(store, point, options), "-f"]
        self.processes.append(start(words, point, PATIENCE_S, **popen_options))
        return self.processes[-1]

    def pid(self, point):
        """The one daemon of this mount point."""
        return lone_daemon(self.program, point)

    def clear(self):
        for point in self.points:
            unmount(point, patience_s=0)
            end_daemons(self.program, point)
        for process in self.processes:
            end(process)
        for point in self.points:
            remove_logs(pathlib.Path(point).resolve())


@pytest.fixture(scope="session")
def augurfs(augurfs, session_room):
    """A copy that every user can run: the build may lie in a home that is closed to others."""
    copy = session_room / "augurfs"
    shutil.copy(augurfs, copy)
    return str(copy)


@pytest.fixture
def mounts(augurfs, transport):
    """Mounts of one test."""
    all_mounts = Mounts(augurfs, transport)
    try:
        yield all_mounts
    finally:
        all_mounts.clear()


@pytest.fixture(scope="module")
def module_mounts(augurfs):
    """Mounts that the tests of a file share."""
    with uring_switched_on() if TRANSPORT == "uring" else contextlib.nullcontext():
        all_mounts = Mounts(augurfs, TRANSPORT)
        try:
            yield all_mounts
        finally:
            all_mounts.clear()


def make_room():
    """A new folder that other users can reach."""
    folder = tempfile.mkdtemp(prefix="augurfs-mount-")
    os.chmod(folder, 0o755)
    return pathlib.Path(folder).resolve()


# Asked for before the mounts, so that it is removed after they are gone.
@pytest.fixture
def room():
    folder = make_room()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def private_room(room):
    """The room as a mount of its own, of which no other namespace hears. (The root of a chroot is no mount and cannot be private.)"""
    assert run(["mount", "--bind", room, room]).returncode == 0
    try:
        assert run(["mount", "--make-private", room]).returncode == 0
        yield room
    finally:
        subprocess.run(["umount", "-l", room], check=True)


@pytest.fixture(scope="session")
def session_room():
    folder = make_room()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def point(room):
    """An empty folder to mount on."""
    folder = room / "mount"
    folder.mkdir()
    return folder


def skip_without_overlay(folder):
    """Skips the test where this system lays no overlay on the file system of the folder."""
    trial = folder / "trial"
    for name in ("a", "b", "c", "over"):
        (trial / name).mkdir(parents=True)
    layers = f"lowerdir={trial}/a,upperdir={trial}/b,workdir={trial}/c"
    done = run(["mount", "-t", "overlay", "none", "-o", layers, trial / "over"])
    if done.returncode != 0:
        pytest.skip(f"this system has no overlay, not even of plain folders: {done.stderr}")
    assert run(["umount", trial / "over"]).returncode == 0


@pytest.fixture
def ctl(augurctl, room):
    """augurctl where ordinary users can run it, too."""
    program = room / "augurctl"
    program.write_bytes(pathlib.Path(augurctl).read_bytes())
    program.chmod(0o755)
    return program


ROOT_SHARED = pathlib.Path("/run/augurfs-shm")  # where root's files are; those of users and groups are in /dev/shm


def shared_files():
    return glob.glob("/dev/shm/augurfs-*") + glob.glob(f"{ROOT_SHARED}/augurfs-*")


@pytest.fixture
def shared_memory():
    """Shared memory without files of ours, before and after; and without a mount of ours where there was none."""
    if shared_files():
        pytest.skip("somebody's retained cache is in shared memory")
    # A new machine has none: the daemon must be able to make it.
    was_mounted = os.path.ismount(ROOT_SHARED) and run(["umount", ROOT_SHARED]).returncode != 0
    try:
        yield shared_files
    finally:
        for path in shared_files():
            os.unlink(path)
        # Another test run may have come to use it: then it is busy, and stays.
        if not was_mounted and os.path.ismount(ROOT_SHARED) and run(["umount", ROOT_SHARED]).returncode == 0:
            ROOT_SHARED.rmdir()


def end_mount(pid, point, how):
    """Ends a mount as an operator does ("umount"), or as a crash ("kill")."""
    if how == "umount":
        assert run(["umount", point]).returncode == 0
    else:
        for holder in holders(point):
            os.kill(holder, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), "the daemon ends")
    if how == "kill":
        assert run(["umount", "-l", point]).returncode == 0


def kill_all(processes):
    """Those that have not ended by themselves meanwhile."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def crash_until(has_ended, victims):
    """Crashes the daemons that `victims()` names until the holder gives up. Fewer deaths in ten seconds are not too many, so it
    takes more of them on a slow machine."""
    for _ in range(30):
        wait_until(lambda: has_ended() or victims(), lambda: f"the next daemon, or the end: {processes_of_ours()}")
        for pid in victims():
            with contextlib.suppress(ProcessLookupError):  # it was dying already
                os.kill(pid, signal.SIGSEGV)
            wait_until(lambda pid=pid: not is_running(pid), "the daemon is dead")
        if has_ended():
            return


def processes_of_ours():
    """What each process of ours on this machine waits for: for the text of a failure."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and (folder / "comm").read_text(encoding="ascii", errors="replace").startswith("augur"):
                found.append(" ".join((folder / file).read_text(encoding="ascii", errors="replace").strip() for file in ("stat", "wchan")))
    return found


def pack(augurpack, tree, store, *options):
    """Packs a folder; the store can be read by all."""
    done = run([augurpack, "create", "--quiet", *options, tree, store])
    assert done.returncode == 0, done.stderr
    return store


@pytest.fixture(scope="session")
def small_tree(session_room):
    """A few files, a link and a folder: for tests that are not about the tree."""
    tree = session_room / "small-tree"
    (tree / "folder").mkdir(parents=True)
    (tree / "hello.txt").write_text(HELLO, encoding="ascii")
    (tree / "folder" / "image.JPEG").write_bytes(bytes(range(256)) * 500)
    (tree / "link").symlink_to("hello.txt")
    return tree


@pytest.fixture(scope="session")
def small_store(augurpack, small_tree, session_room):
    return pack(augurpack, small_tree, session_room / "small-store")


@pytest.fixture
def own_store(small_store, room):
    """A copy of the small store that a test may damage."""
    return pathlib.Path(shutil.copytree(small_store, room / "store"))


@pytest.fixture(scope="session")
def tree(session_room):
    """A folder with everything that a tree can have. Not to be changed."""
    folder = session_room / "odd-tree"
    folder.mkdir()
    make_odd_tree(folder)
    return folder


@pytest.fixture(scope="session")
def store(augurpack, tree, session_room):
    """The odd tree, packed. Not to be changed."""
    return pack(augurpack, tree, session_room / "odd-store")


@pytest.fixture(scope="module", params=["io=uring", "io=pread", "transport=uring"])
def mounted(request, store, tree, module_mounts):
    """The store mounted for all, by each engine and over each transport (R7)."""
    room = make_room()
    try:
        (room / "mount").mkdir()
        with uring_switched_on() if request.param == "transport=uring" else contextlib.nullcontext():
            module_mounts.mount(store, room / "mount", request.param, "allow_other")
        yield room / "mount"
    finally:
        subprocess.run(["umount", "-l", room / "mount"], check=True)
        shutil.rmtree(room)


@pytest.fixture
def users_may_mount():
    """Opens /dev/fuse to ordinary users, and gives the path of /etc/fuse.conf, which the test may change. Both are put back.
    So is /etc/mtab, without which fusermount3 unmounts nothing: a fresh debootstrap has none."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if shutil.which("fusermount3") is None or shutil.which("setpriv") is None:
        pytest.skip("needs fusermount3 and setpriv")
    conf = pathlib.Path("/etc/fuse.conf")
    mode = stat.S_IMODE(os.stat("/dev/fuse").st_mode)
    text = conf.read_bytes() if conf.exists() else None
    mtab = pathlib.Path("/etc/mtab")
    has_mtab = os.path.lexists(mtab)
    try:
        if not has_mtab:
            mtab.symlink_to("/proc/self/mounts")
        os.chmod("/dev/fuse", 0o666)
        conf.write_text("", encoding="ascii")
        yield conf
    finally:
        os.chmod("/dev/fuse", mode)
        if text is None:
            conf.unlink(missing_ok=True)
        else:
            conf.write_bytes(text)
        if not has_mtab:
            mtab.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def view_images():
    """Photographs of a data set, by path."""
    pytest.importorskip("PIL")
    from view_data import make_images
    return make_images()


@pytest.fixture(scope="session")
def view_images_store(augurpack, view_images, session_room):
    tree = session_room / "view-images"
    for name, data in view_images.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
    store = pack(augurpack, tree, session_room / "view-images-store")
    shutil.rmtree(tree)
    return store


@pytest.fixture(scope="session")
def data(augurpack, session_room):
    """A prefetching.DataSet of 600 files, 18 MB: about twice what prefetching.SMALL pushes ahead. Not to be changed."""
    from prefetching import DataSet  # which imports this file

    folder = session_room / "prefetch"
    folder.mkdir()
    return DataSet(augurpack, folder, 600, 60_000)


@pytest.fixture
def own_data(augurpack, room):
    """A prefetching.DataSet that a test may change or remove."""
    from prefetching import DataSet

    folder = room / "own"
    folder.mkdir()
    return DataSet(augurpack, folder, 300, 40_000, seed=2)


@pytest.fixture
def ahead(ctl, point):
    """What the mount at `point` predicts, and a reader that it is told of: prefetching.Prediction."""
    from prefetching import Prediction

    return Prediction(ctl, point)
