# SPDX-License-Identifier: Apache-2.0
"""Mounts for benchmarks and tests, as context managers: whatever happens inside, nothing stays mounted and no process is left."""

import contextlib
import os
import pathlib
import shutil
import subprocess
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


def is_mounted(point):
    """Whether something is mounted exactly there."""
    wanted = os.path.realpath(point).replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011").replace("\n", "\\012")
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
        return any(line.split(" ")[1] == wanted for line in mounts)


def unmount(point, patience_s=10):
    """Unmounts and waits for those who still read; in the end lazily. Nothing mounted: does nothing."""
    words = ["umount", str(point)] if os.geteuid() == 0 else ["fusermount3", "-u", str(point)]
    end = time.monotonic() + patience_s
    while is_mounted(point):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode == 0:
            continue
        if time.monotonic() > end:
            subprocess.run(["umount", "-l", str(point)] if os.geteuid() == 0 else ["fusermount3", "-uz", str(point)], check=False)
            return
        time.sleep(0.1)


def end(process, patience_s=10):
    """Waits for a process that should end by itself, then ends it."""
    for action in (lambda: None, process.terminate, process.kill):
        action()
        try:
            return process.wait(patience_s)
        except subprocess.TimeoutExpired:
            continue
    return None


@contextlib.contextmanager
def fuse(words, point, patience_s=30):
    """Runs a FUSE server in the foreground, and yields it (a Popen) once its mount is there."""
    os.makedirs(point, exist_ok=True)
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        give_up = time.monotonic() + patience_s
        while not is_mounted(point):
            if process.poll() is not None or time.monotonic() > give_up:
                process.kill()
                raise RuntimeError(f"{words[0]} did not mount {point}: {process.communicate()[0].decode(errors='replace')}")
            time.sleep(0.002)
        os.stat(point)
        yield process
    finally:
        unmount(point)
        end(process)
        process.stdout.close()


def augurfs(store, point, *options, prefix=()):
    """The store, mounted by our daemon; `prefix` are words that run it in a control group, say."""
    words = [*prefix, program("augurfs"), "-f", store, point]
    for option in options:
        words += ["-o", option]
    return fuse(words, point)


def squashfuse(image, point):
    """A squashfs image, mounted by squashfuse (its multithreaded program where there is one)."""
    name = shutil.which("squashfuse_ll") or shutil.which("squashfuse")
    return fuse([name, "-f", image, point], point)


@contextlib.contextmanager
def loop(kind, image, point):
    """An image, mounted by the kernel over a loop device, which the kernel frees with the mount. Needs root."""
    os.makedirs(point, exist_ok=True)
    run("mount", "-t", kind, "-o", "ro,loop", image, point)
    try:
        yield
    finally:
        unmount(point)


def create_store(folder, store, *options):
    """Packs the folder."""
    run(program("augurpack"), "create", "--quiet", *options, folder, store)
