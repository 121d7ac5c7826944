# SPDX-License-Identifier: Apache-2.0
"""What the tests of packing share: trees, and stores read by the second reader, which knows FORMAT.md and not our code."""

import fcntl
import os
import pathlib
import stat
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "format"))
import reader  # noqa: E402

PATIENCE_S = 110


def run(*words, ok=(0,), **options):
    """Runs a command; its exit status must be one of `ok`."""
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run([os.fspath(w) for w in words], capture_output=True, timeout=PATIENCE_S, **options)
    text = done.stderr.decode(errors="backslashreplace")
    assert done.returncode in ok, f"exit {done.returncode}: {text}"
    done.error = text
    return done


def wait_until_taken(pipe):
    """Until the other end has read all that was written to the pipe."""
    end = time.monotonic() + PATIENCE_S
    left = bytearray(4)
    while fcntl.ioctl(pipe, termios.FIONREAD, left) == 0 and any(left):
        assert time.monotonic() < end, f"{int.from_bytes(left, sys.byteorder)} bytes were not read"
        time.sleep(0.001)


def folder_tree(top, special=False):
    """What is below a folder: path (bytes, "" for itself) -> (type, mode, mtime in ns, size or target). Modes of links are
    those of the file system, as they are in a store. With `special`, also what is no file, folder or link."""
    top = os.fsencode(top)
    tree = {}

    def add(path, relative):
        info = os.lstat(path)
        kind = stat.S_IFMT(info.st_mode)
        detail = 0
        if stat.S_ISREG(info.st_mode):
            detail = info.st_size
        elif stat.S_ISLNK(info.st_mode):
            detail = os.readlink(path)
        elif not stat.S_ISDIR(info.st_mode) and not special:
            return
        mode = 0 if stat.S_ISLNK(info.st_mode) else stat.S_IMODE(info.st_mode)
        tree[relative] = (kind, mode, info.st_mtime_ns, detail)
        if stat.S_ISDIR(info.st_mode):
            for name in os.listdir(path):
                add(os.path.join(path, name), relative + b"/" + name if relative else name)

    add(top, b"")
    return tree


def store_entries(store):
    """path -> entry, of an open reader.Store."""
    entries = {}

    def add(entry, path):
        entries[path] = entry
        if entry.is_directory:
            for child in store.children(entry):
                add(child, path + b"/" + child.name if path else child.name)

    add(store.entry(0), b"")
    return entries


def store_tree(path):
    """A store as folder_tree shows a folder, and path -> bytes of the files up to 64 MiB."""
    with reader.Store(path) as store:
        tree, contents = {}, {}
        for name, entry in store_entries(store).items():
            seconds, nanoseconds = entry.mtime
            detail = 0
            if entry.is_file:
                detail = entry.size
                if entry.size <= 64 << 20:
                    contents[name] = store.read(entry, 0, entry.size)
            elif entry.is_symlink:
                detail = store.link_target(entry)
            mode = 0 if entry.is_symlink else stat.S_IMODE(entry.mode)
            tree[name] = (stat.S_IFMT(entry.mode), mode, seconds * 10**9 + nanoseconds, detail)
        return tree, contents


def assert_store_equals(path, source, ignore_root=False):
    """Every path, type, mode, time, target and byte of the store is that of the folder, and all its rules hold."""
    tree, contents = store_tree(path)
    wanted = folder_tree(source)
    if ignore_root:
        tree.pop(b"")
        wanted.pop(b"")
    assert tree == wanted
    for name, data in contents.items():
        with open(os.path.join(os.fsencode(source), name), "rb") as file:
            assert file.read() == data, name
    reader.full_check(path)


def write(path, data=b"", mtime_ns=None, mode=None):
    """Makes a file and the folders above it."""
    path = pathlib.Path(os.fsdecode(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if mode is not None:
        path.chmod(mode)
    if mtime_ns is not None:
        os.utime(path, ns=(mtime_ns, mtime_ns))
    return path
