# SPDX-License-Identifier: Apache-2.0
"""Mounts for benchmarks and tests, as context managers: whatever happens inside, nothing stays mounted and no process is left."""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def build_dir():
    """The build to use: $AUGUR_BUILD, or build/release of this clone."""
    return pathlib.Path(os.environ.get("AUGUR_BUILD") or ROOT / "build" / "release").resolve()


def program(name):
    """The path of one of our programs in the build; what a user would install is in tools/, helpers are in bench/."""
    for folder in ("tools", "bench"):
        path = build_dir() / folder / name
        if path.exists():
            return str(path)
    raise FileNotFoundError(f"{build_dir()}: {name} is not built: cmake --preset release && cmake --build build/release")


def run(*words, **options):
    """A command that must succeed; its output is shown when it does not."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def mount_rows(point):
    """The mounts at this very path, the topmost last: dictionaries of /proc/self/mountinfo."""
    rows = []
    wanted = os.fsencode(point)
    with open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            left, _, right = line.rstrip(b"\n").partition(b" - ")
            fields, rest = left.split(b" "), right.split(b" ")
            path = fields[4]
            for escape in (b"\\040", b"\\011", b"\\012", b"\\134"):
                path = path.replace(escape, bytes([int(escape[1:], 8)]))
            if path == wanted:
                rows.append({"device": fields[2].decode(), "options": fields[5].decode().split(","), "type": rest[0].decode(),
                             "source": os.fsdecode(rest[1]), "super_options": rest[2].decode().split(",")})
    return rows


def mounted_times(point):
    """How many mounts are exactly there."""
    # The last name is not looked at: whoever serves it may hang.
    folder, name = os.path.split(os.path.abspath(point))
    return len(mount_rows(os.path.join(os.path.realpath(folder), name)))


def unmount(point, patience_s=10):
    """Takes all mounts away that are there, and waits for those who still read; in the end lazily. Nothing mounted: does nothing."""
    root = os.geteuid() == 0
    words = ["umount", os.fspath(point)] if root else ["fusermount3", "-u", os.fspath(point)]
    lazily = ["umount", "-l", os.fspath(point)] if root else ["fusermount3", "-u", "-z", os.fspath(point)]
    end_s = time.monotonic() + patience_s
    while mounted_times(point):
        if time.monotonic() >= end_s:
            done = subprocess.run(lazily, capture_output=True, text=True)
            if done.returncode != 0 and mounted_times(point):
                raise RuntimeError(f"{point}: cannot be unmounted: {done.stderr}")
        elif subprocess.run(words, capture_output=True).returncode != 0:
            time.sleep(0.1)


def is_running(pid):
    """Whether the process does anything still; one that nobody has waited for does not. A process that was killed is there until its
    last thread has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    state, threads = fields[0], int(fields[17])
    return state not in "ZX" or threads > 1


def daemons(server, point):
    """Process ids of the running daemons of this program whose command line names this mount point."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words[0].endswith(os.fsencode(os.path.basename(server))) and os.fsencode(point) in words and is_running(folder.name):
            found.append(int(folder.name))
    return found


def holders(point):
    """Process ids of what starts the daemons of this mount point when one has died."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "cmdline").read_bytes().rstrip(b"\0") == b"augur-holder " + os.fsencode(point):
                found.append(int(folder.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def children(pid):
    """{name: process id} of the processes that this one has forked, also of those that it has not waited for."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and f"\nPPid:\t{pid}\n" in (folder / "status").read_text(encoding="utf-8", errors="replace"):
                found[(folder / "comm").read_text(encoding="utf-8", errors="replace").strip()] = int(folder.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def statistics(point):
    """What `augurctl status --json` says, by the file of the mount: "mount", "counters", "gauges", ..."""
    return json.loads((pathlib.Path(point) / ".augur" / "stats.json").read_text(encoding="utf-8"))


def end_daemons(server, point, patience_s=5):
    """Ends the daemons of a mount point that are nobody's child: asks them to, then kills, and what would start others."""
    for pid in daemons(server, point):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            end_s = time.monotonic() + patience_s
            while is_running(pid) and time.monotonic() < end_s:
                time.sleep(0.01)
            if number == signal.SIGTERM and is_running(pid):
                for holder in holders(point):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(holder, signal.SIGKILL)


def end(process, patience_s=10):
    """Waits for a process of ours that should end by itself, then ends it. Returns what it wrote to its pipes."""
    for action in (lambda: None, process.terminate):
        action()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=patience_s)
    process.kill()
    return process.communicate()


def start(words, point, patience_s=30, **popen_options):
    """Runs a FUSE server in the foreground; returns it (a Popen, its streams are pipes) once its mount is there. One that ends
    before, or is not there in time, is a RuntimeError with what the server wrote."""
    before = mounted_times(point)
    process = subprocess.Popen([os.fspath(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, **popen_options)
    give_up_s = time.monotonic() + patience_s
    while mounted_times(point) <= before:
        if process.poll() is not None or time.monotonic() > give_up_s:
            process.kill()
            raise RuntimeError(f"{words[0]} did not mount {point}: {b''.join(process.communicate()).decode(errors='replace')}")
        time.sleep(0.002)
    return process


def augurfs_words(server, store, point, options):
    """The command that mounts the store: options are those of -o, one each."""
    return [server, store, point, *(word for option in options for word in ("-o", option))]


@contextlib.contextmanager
def fuse(words, point, **popen_options):
    """Runs a FUSE server in the foreground, and yields it (a Popen) once its mount is there."""
    os.makedirs(point, exist_ok=True)
    process = None
    try:
        process = start(words, point, **popen_options)
        os.stat(point)
        yield process
    finally:
        unmount(point)
        if process is not None:
            end(process)


URING_SWITCH = pathlib.Path("/sys/module/fuse/parameters/enable_uring")
uring_users = 0  # of this process


def can_switch_uring():
    """Whether this kernel has FUSE over io_uring, and this user may switch it on."""
    return os.geteuid() == 0 and URING_SWITCH.exists()


@contextlib.contextmanager
def uring_switched_on():
    """FUSE over io_uring, as root switches it on; put back afterwards. One program at a time: others wait. May be nested."""
    global uring_users
    if not can_switch_uring():
        raise RuntimeError("FUSE over io_uring needs root, and Linux 6.14 built with it")
    with open(URING_SWITCH, encoding="ascii") as switch:
        if uring_users == 0:
            fcntl.flock(switch, fcntl.LOCK_EX)
        uring_users += 1
        before = switch.read()
        try:
            URING_SWITCH.write_text("Y\n", encoding="ascii")
            yield
        finally:
            URING_SWITCH.write_text(before, encoding="ascii")
            uring_users -= 1


@contextlib.contextmanager
def no_memories():
    """The environment of daemons that know nothing of what others have read, in earlier runs or for the user, and leave nothing to them."""
    with tempfile.TemporaryDirectory(prefix="augur-cache.") as folder:
        yield dict(os.environ, XDG_CACHE_HOME=folder)


@contextlib.contextmanager
def augurfs(store, point, *options, prefix=()):
    """The store, mounted by our daemon, which has no memories; `prefix` are words that run it in a control group, say, or with memories.
    Without a holder: the process is the daemon, whose time and memory can be measured."""
    words = [*prefix, *augurfs_words(program("augurfs"), store, point, [*options, "restart=no"]), "-f"]
    with no_memories() as environment, fuse(words, point, env=environment) as process:
        yield process


def squashfuse(image, point):
    """A squashfs image, mounted by squashfuse (its multithreaded program where there is one)."""
    name = shutil.which("squashfuse_ll") or shutil.which("squashfuse")
    return fuse([name, "-f", image, point], point)


@contextlib.contextmanager
def loop(kind, image, point, direct=False):
    """An image, mounted by the kernel over a loop device, which the kernel frees with the mount. Needs root. `direct`: the device reads
    past the page cache, where with control groups v1 its pages are on nobody's account; the mount's own pages are its reader's."""
    os.makedirs(point, exist_ok=True)
    try:
        if direct:
            _mount_past_the_cache(kind, image, point)
        else:
            run("mount", "-t", kind, "-o", "ro,loop", image, point)
        yield
    finally:
        unmount(point)


def _mount_past_the_cache(kind, image, point):
    device = run("losetup", "--find", "--show", "--read-only", "--direct-io=on", image).strip()
    try:
        # A file system that cannot do it is read through the cache all the same.
        if run("losetup", "--noheadings", "--output", "DIO", device).strip() != "1":
            raise RuntimeError(f"{image}: its file system cannot be read past the page cache: work on another one (ext4)")
        run("mount", "-t", kind, "-o", "ro", device, point)
    finally:
        run("losetup", "--detach", device)  # it goes when the last mount of it has gone


def create_store(folder, store, *options):
    """Packs the folder."""
    run(program("augurpack"), "create", "--quiet", *options, folder, store)
