# SPDX-License-Identifier: Apache-2.0
"""Runs a program and looks at all that it says, and describes trees, for the tests of this folder."""

import os
import stat
import subprocess


def run(*arguments, **kwargs):
    kwargs.setdefault("stdout", subprocess.PIPE)
    kwargs.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([os.fspath(argument) for argument in arguments], timeout=120, check=False, **kwargs)


def succeed(*arguments, **kwargs):
    done = run(*arguments, **kwargs)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout.decode()


def refuse(status, *arguments, **kwargs):
    """The one line on stderr of a run that ends with this status and prints nothing else."""
    done = run(*arguments, **kwargs)
    text = done.stderr.decode()
    assert done.returncode == status, text
    assert done.stdout == b""
    assert text.count("\n") == 1 and text.endswith("\n"), text
    return text[:-1]


def describe(top):
    """Everything about a tree that extract must bring back, by lstat(2) and the bytes."""
    seen = {}
    for parent, folders, files in os.walk(os.fsencode(top)):
        for path in [os.path.join(parent, name) for name in folders + files] + [parent]:
            status = os.lstat(path)
            content = None
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            seen[os.path.relpath(path, os.fsencode(top))] = (status.st_mode, status.st_mtime_ns, content)
    return seen


def make_source(path):
    """A small tree with something of everything: modes, times, links, empty ones, names in raw bytes, several blocks."""
    os.makedirs(os.path.join(path, "a", "b"))
    os.makedirs(os.path.join(path, "empty"))
    os.makedirs(os.path.join(path, "shut"))
    with open(os.path.join(path, "a", "b", "large"), "wb") as file:
        file.write(bytes(range(256)) * 4096 * 3 + b"tail")
    with open(os.path.join(path, "a", "run"), "wb") as file:
        file.write(b"#!/bin/sh\n")
    with open(os.path.join(path, "shut", "read-only"), "wb") as file:
        file.write(b"x")
    with open(os.path.join(path, "nothing"), "wb"):
        pass
    with open(os.path.join(os.fsencode(path), b"raw-\xff\n\\"), "wb") as file:
        file.write(b"raw")
    os.symlink("../run", os.path.join(path, "a", "b", "link"))
    os.symlink("/nowhere", os.path.join(path, "dangling"))
    os.chmod(os.path.join(path, "a", "run"), 0o4711)
    os.chmod(os.path.join(path, "shut", "read-only"), 0o444)
    os.utime(os.path.join(path, "a", "b", "link"), ns=(5, 1_000_000_000_500_000_001), follow_symlinks=False)
    os.utime(os.path.join(path, "a", "run"), ns=(5, -86_400_000_000_000), follow_symlinks=False)
    os.utime(os.path.join(path, "empty"), ns=(5, 981_173_106_789_000_000))
    os.chmod(os.path.join(path, "shut"), 0o555)
