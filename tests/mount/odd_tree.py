# SPDX-License-Identifier: Apache-2.0
"""A folder with everything that a tree can have, for the tests of what a mount shows of it."""

import os
import pathlib
import random
import stat

MIB = 1 << 20
MANY = 5_000  # entries of the large directory: more than one reply to READDIRPLUS holds


def noise(size, seed):
    return random.Random(seed).randbytes(size)


def odd_files():
    """Path to content: sizes around the block of 1 MiB and around the page, names of any bytes."""
    files = {b"plain.JPEG": noise(110_000, 1), b"empty": b"", b"one": b"x"}
    for size in (4095, 4096, 4097, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 7):
        files[b"size-%d" % size] = noise(size, size)
    files[b"twin-a"] = files[b"twin-b"] = noise(70_000, 2)
    files["unicode/\u732b \u00e9t\u00e9.png".encode()] = noise(500, 3)
    files[b"raw/\xff\xfe\x80.bin"] = noise(501, 4)
    files[b"raw/new\nline\tand \\ back"] = noise(502, 5)
    files[b"raw/-rf *?[a]$HOME;'\""] = noise(503, 6)
    files[b"long/" + b"n" * 255] = noise(504, 7)
    files[b"deep/" + b"/".join([b"d" * 200] * 15) + b"/leaf"] = noise(505, 8)
    return files


def content_of_size(size):
    """Name and content of a file of this size."""
    return next((os.fsdecode(name), data) for name, data in odd_files().items() if len(data) == size)


def make_odd_tree(folder):
    """Fills a folder with everything that a tree can have."""
    for path, data in odd_files().items():
        whole = pathlib.Path(os.fsdecode(os.path.join(os.fsencode(folder), path)))
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(data)
    os.link(folder / "plain.JPEG", folder / "hard-link")
    (folder / "empty-folder").mkdir()
    (folder / "link").symlink_to("plain.JPEG")
    (folder / "dangling").symlink_to(os.fsdecode(b"nowhere/\xff"))
    (folder / "long-link").symlink_to("t" * 4000)
    (folder / "folder-link").symlink_to("raw")
    many = folder / "many"
    many.mkdir()
    for number in range(MANY):
        (many / f"{number * 7919 % MANY:05d}-{'x' * (number % 60)}").touch()
    modes = folder / "modes"
    modes.mkdir()
    for mode in (0o000, 0o400, 0o444, 0o600, 0o640, 0o755, 0o777):
        (modes / f"{mode:04o}").write_bytes(b"%o" % mode)
        (modes / f"{mode:04o}").chmod(mode)
    (folder / "closed").mkdir()
    (folder / "closed" / "inside").write_bytes(b"inside")
    (folder / "closed").chmod(0o700)
    times = folder / "times"
    times.mkdir()
    for name, nanoseconds in {"old": -86_400 * 10**9 + 1, "epoch": 0, "now": 1_700_000_000_123_456_789,
                              "future": 7_000_000_000 * 10**9 + 999_999_999}.items():
        (times / name).write_bytes(b"")
        os.utime(times / name, ns=(5, nanoseconds))
    os.utime(folder / "link", ns=(5, 1_600_000_000_000_000_001), follow_symlinks=False)
    os.utime(folder / "empty-folder", ns=(5, 1_500_000_000_000_000_002))


def walk(top):
    """Path below `top` to its lstat, as bytes."""
    found = {}
    waiting = [b""]
    while waiting:
        below = waiting.pop()
        whole = os.path.join(os.fsencode(top), below)
        found[below] = os.lstat(whole)
        if stat.S_ISDIR(found[below].st_mode):
            waiting += [os.path.join(below, name) for name in os.listdir(whole)]
    return found
