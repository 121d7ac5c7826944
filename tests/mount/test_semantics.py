# SPDX-License-Identifier: Apache-2.0
"""The promises of src/fs/SEMANTICS.md on a real mount. A test names the promises that it holds; those of Life are in test_lifecycle.py."""

import ctypes
import errno
import fcntl
import hashlib
import mmap
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import stat
import subprocess
import threading

import pytest

from conftest import NOBODY, as_user, libc, make_room, measures_memory, mount_rows, needs_root, pack, run, wait_until

pytestmark = needs_root

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


@pytest.fixture(scope="module")
def tree():
    """A folder with everything that a tree can have."""
    room = make_room()
    try:
        folder = room / "tree"
        folder.mkdir()
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
        yield folder
    finally:
        shutil.rmtree(room)


@pytest.fixture(scope="module")
def store(augurpack, tree):
    room = make_room()
    try:
        yield pack(augurpack, tree, room / "store")
    finally:
        shutil.rmtree(room)


@pytest.fixture(scope="module", params=["uring", "pread"])
def mounted(request, store, tree, module_mounts):
    """The store mounted for all, by each engine (R7)."""
    room = make_room()
    try:
        (room / "mount").mkdir()
        module_mounts.mount(store, room / "mount", f"io={request.param}", "allow_other")
        yield room / "mount"
    finally:
        subprocess.run(["umount", "-l", room / "mount"], check=True)
        shutil.rmtree(room)


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


def errno_of(call, *arguments):
    with pytest.raises(OSError) as failure:
        call(*arguments)
    return failure.value.errno


# ---- Tree


def test_same_tree(tree, mounted):
    """T1, T2, T4, T8, R1"""
    expected, found = walk(tree), walk(mounted)
    assert sorted(found) == sorted(expected)
    assert len({one.st_ino for one in found.values()}) == len(found)
    for path, want in expected.items():
        got = found[path]
        assert got.st_mode == want.st_mode, path
        assert got.st_mtime_ns == got.st_atime_ns == got.st_ctime_ns == want.st_mtime_ns, path
        assert got.st_nlink == 1, path
        whole, original = (os.path.join(os.fsencode(top), path) for top in (mounted, tree))
        if stat.S_ISREG(want.st_mode):
            assert got.st_size == want.st_size and got.st_blocks == -(-want.st_size // 512), path
            with open(whole, "rb") as left, open(original, "rb") as right:
                assert left.read() == right.read(), path
        elif stat.S_ISLNK(want.st_mode):
            assert os.readlink(whole) == os.readlink(original), path
            assert got.st_size == want.st_size, path


def test_links_lead_somewhere(tree, mounted):
    assert (mounted / "link").read_bytes() == (tree / "plain.JPEG").read_bytes()
    assert sorted(os.listdir(os.fsencode(mounted / "folder-link"))) == sorted(os.listdir(os.fsencode(tree / "raw")))
    assert errno_of(os.stat, mounted / "dangling") == errno.ENOENT


@pytest.mark.parametrize("options, owner, mask", [
    ([], (0, 0), 0), (["uid=12", "gid=34"], (12, 34), 0), (["umask=027"], (0, 0), 0o027), (["uid=5", "umask=0777"], (5, 0), 0o777)])
def test_owner_and_umask(room, mounts, point, tree, store, options, owner, mask):
    """T2, T3"""
    mounts.mount(store, point, *options)
    for path, want in walk(tree).items():
        got = os.lstat(os.path.join(os.fsencode(point), path))
        assert (got.st_uid, got.st_gid) == owner
        assert got.st_mode == (want.st_mode if stat.S_ISLNK(want.st_mode) else want.st_mode & ~mask), path


def test_inode_numbers_stay(room, mounts, point, store, mounted):
    """T5"""
    numbers = {path: one.st_ino for path, one in walk(mounted).items()}
    for options in ([], ["threads=1", "io=pread"]):
        mounts.start(store, point, *options)
        assert {path: one.st_ino for path, one in walk(point).items()} == numbers
        assert run(["umount", point]).returncode == 0


def test_listings_have_order_types_and_numbers(tree, mounted):
    """T6"""
    for folder in (".", "many", "raw", "modes"):
        items = list(os.scandir(os.fsencode(mounted / folder)))
        names = [item.name for item in items]
        assert names == sorted(names) and sorted(os.listdir(os.fsencode(tree / folder))) == names
        for item in items:
            want = os.lstat(item.path)
            assert item.inode() == want.st_ino
            assert (item.is_dir(follow_symlinks=False), item.is_file(follow_symlinks=False), item.is_symlink()) == (
                stat.S_ISDIR(want.st_mode), stat.S_ISREG(want.st_mode), stat.S_ISLNK(want.st_mode))


class Dirent(ctypes.Structure):
    _fields_ = [("d_ino", ctypes.c_uint64), ("d_off", ctypes.c_int64), ("d_reclen", ctypes.c_uint16), ("d_type", ctypes.c_uint8),
                ("d_name", ctypes.c_char * 256)]


libc.opendir.restype = ctypes.c_void_p
libc.opendir.argtypes = [ctypes.c_char_p]
libc.readdir.restype = ctypes.POINTER(Dirent)
libc.telldir.restype = ctypes.c_long
for function in (libc.readdir, libc.telldir, libc.rewinddir, libc.closedir):
    function.argtypes = [ctypes.c_void_p]
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]


class Directory:
    """A stream of opendir(3)."""

    def __init__(self, path):
        self.stream = libc.opendir(os.fsencode(path))
        assert self.stream

    def __enter__(self):
        return self

    def __exit__(self, *_):
        libc.closedir(self.stream)

    def next(self):
        item = libc.readdir(self.stream)
        return (item.contents.d_name, item.contents.d_ino, item.contents.d_type) if item else None

    def tell(self):
        return libc.telldir(self.stream)

    def seek(self, place):
        libc.seekdir(self.stream, place)

    def rewind(self):
        libc.rewinddir(self.stream)


def test_seek_and_tell_in_a_large_directory(room, mounts, point, store, mounted):
    """T6: places are good in another stream and another mount too."""
    with Directory(mounted / "many") as stream:
        places = []
        while True:
            place = stream.tell()
            item = stream.next()
            if item is None:
                break
            places.append((place, item))
        assert len(places) == MANY + 2
        assert [item[0] for _, item in places[:2]] == [b".", b".."]
        assert places[0][1][1] == os.stat(mounted / "many").st_ino and places[1][1][1] == os.stat(mounted).st_ino
        assert {item[2] for _, item in places[:2]} == {4} and {item[2] for _, item in places[2:]} == {8}
        for place, item in random.Random(1).sample(places, 300):
            stream.seek(place)
            assert stream.next() == item
        stream.rewind()
        assert stream.next() == places[0][1]
    mounts.mount(store, point)
    with Directory(point / "many") as stream:
        for place, item in random.Random(2).sample(places, 300):
            stream.seek(place)
            assert stream.next() == item


def test_directory_offset_past_the_end(mounted):
    with Directory(mounted / "many") as stream:
        stream.seek(MANY + 2)
        assert stream.next() is None
        stream.seek(2**40)
        assert stream.next() is None


def test_listing_is_the_same_when_it_comes_from_the_kernel(mounted):
    """C2"""
    first = os.listdir(mounted / "many")
    assert len(first) == MANY
    assert [os.listdir(mounted / "many") for _ in range(3)] == [first] * 3


def test_limits_of_names_and_paths(mounted):
    """T7"""
    assert errno_of(os.stat, mounted / ("n" * 256)) == errno.ENAMETOOLONG
    assert errno_of(os.stat, mounted / ("n" * 255)) == errno.ENOENT
    assert errno_of(os.stat, os.fsencode(mounted) + b"/." * 2500) == errno.ENAMETOOLONG
    assert os.pathconf(mounted, "PC_NAME_MAX") == 255
    for _ in range(3):
        assert errno_of(os.stat, mounted / "no such name") == errno.ENOENT
        assert errno_of(os.stat, mounted / "PLAIN.jpeg") == errno.ENOENT
        assert errno_of(os.stat, mounted / "plain.JPEG" / "below") == errno.ENOTDIR
        assert errno_of(os.listdir, mounted / "plain.JPEG") == errno.ENOTDIR
        assert errno_of((mounted / "raw").read_bytes) == errno.EISDIR


def test_statfs(tree, mounted):
    """T9"""
    numbers = os.statvfs(mounted)
    files = walk(tree)
    used = sum(one.st_size for one in files.values() if stat.S_ISREG(one.st_mode))
    assert numbers.f_blocks * numbers.f_frsize == -(-used // numbers.f_frsize) * numbers.f_frsize
    assert (numbers.f_bfree, numbers.f_bavail, numbers.f_ffree) == (0, 0, 0)
    assert numbers.f_files == len(files)
    assert numbers.f_namemax == 255
    assert numbers.f_flag & os.ST_RDONLY


# ---- Reading


SIZES = [0, 1, 4095, 4096, 4097, 110_000, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 7]


def content_of_size(size):
    """Name and content of a file of this size."""
    return next((os.fsdecode(name), data) for name, data in odd_files().items() if len(data) == size)


def drop_caches():
    """So that what is read next comes from the daemon."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("1\n")


@pytest.mark.parametrize("size", SIZES)
def test_reads_at_any_place(mounted, size):
    """R1, R4: short only at the end, nothing past it; warm, cold and past the page cache (R5, O_DIRECT)."""
    name, data = content_of_size(size)
    choice = random.Random(size)
    places = [(0, size), (0, size + 1), (size, 1), (size + 1, 10), (max(size - 1, 0), 10), (size + 10 * MIB, 5), (2**62, 5)]
    places += [(choice.randrange(size + 2), choice.randrange(2 * MIB)) for _ in range(20)]
    for flags in (os.O_RDONLY, os.O_RDONLY | os.O_DIRECT):
        fd = os.open(mounted / name, flags)
        try:
            drop_caches()
            buffer = mmap.mmap(-1, 4 * MIB)  # page-aligned
            for offset, count in places:
                if flags & os.O_DIRECT:
                    got = os.preadv(fd, [memoryview(buffer)[:count]], offset) if count else 0
                    assert buffer[:got] == data[offset:offset + count], (offset, count)
                else:
                    assert os.pread(fd, count, offset) == data[offset:offset + count], (offset, count)
        finally:
            os.close(fd)


def test_whole_files_through_python(mounted):
    for name, data in odd_files().items():
        drop_caches()
        with open(os.path.join(os.fsencode(mounted), name), "rb") as file:
            assert file.read() == data
            file.seek(-min(10, len(data)), os.SEEK_END)
            assert file.read() == data[-10:]
            assert file.read() == b""


def test_mmap(mounted):
    """R5"""
    for size in (4097, 2 * MIB, 3 * MIB + 7):
        name, data = content_of_size(size)
        drop_caches()
        fd = os.open(mounted / name, os.O_RDONLY)
        try:
            for flags, protection in ((mmap.MAP_SHARED, mmap.PROT_READ), (mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)):
                with mmap.mmap(fd, 0, flags, protection) as mapping:
                    assert mapping[:] == data
                    if protection & mmap.PROT_WRITE:
                        mapping[0:4] = b"mine"
            assert os.pread(fd, 10, 0) == data[:10]
        finally:
            os.close(fd)


def test_sendfile_splice_and_copy(room, mounted):
    """R5"""
    name, data = content_of_size(3 * MIB + 7)
    fd = os.open(mounted / name, os.O_RDONLY)
    out = os.open(room / "copy", os.O_RDWR | os.O_CREAT)
    try:
        drop_caches()
        sent = 0
        while sent < len(data):
            sent += os.sendfile(out, fd, sent, len(data) - sent)
        assert os.pread(out, len(data) + 1, 0) == data
        drop_caches()
        reader, writer = os.pipe()
        try:
            assert os.splice(fd, writer, 40_000, offset_src=MIB - 100) == 40_000
            assert os.read(reader, 40_000) == data[MIB - 100:][:40_000]
        finally:
            os.close(reader)
            os.close(writer)
        try:
            assert os.copy_file_range(fd, out, 1000, 5, 0) > 0
            assert os.pread(out, 1000, 0) == data[5:1005]
        except OSError as failure:
            assert failure.errno in (errno.EXDEV, errno.EOPNOTSUPP)
    finally:
        os.close(fd)
        os.close(out)
    shutil.copy(mounted / name, room / "copy")
    assert (room / "copy").read_bytes() == data
    assert run(["cp", "-a", mounted / name, room / "copy2"]).returncode == 0
    assert (room / "copy2").read_bytes() == data


def test_holes_and_data(mounted):
    name, data = content_of_size(MIB + 1)
    fd = os.open(mounted / name, os.O_RDONLY)
    try:
        assert os.lseek(fd, 5, os.SEEK_DATA) == 5
        assert os.lseek(fd, 5, os.SEEK_HOLE) == len(data)
        assert errno_of(os.lseek, fd, len(data), os.SEEK_DATA) == errno.ENXIO
    finally:
        os.close(fd)


def test_unknown_ioctl(mounted):
    with open(mounted / "plain.JPEG", "rb") as file:
        assert errno_of(fcntl.ioctl, file, 0x5401) == errno.ENOTTY  # TCGETS


@pytest.mark.parametrize("same_file", [True, False])
def test_many_readers_at_once(mounted, same_file):
    """R6"""
    contents = {name: data for name, data in odd_files().items() if len(data) > 4000}
    digests = {name: hashlib.sha256(data).digest() for name, data in contents.items()}
    wrong = []

    def read(seed):
        choice = random.Random(seed)
        names = [b"size-%d" % (3 * MIB + 7)] if same_file else list(contents)
        for _ in range(30):
            name = choice.choice(names)
            with open(os.path.join(os.fsencode(mounted), name), "rb", buffering=0) as file:
                if choice.random() < 0.3:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                digest = hashlib.sha256()
                while piece := file.read(choice.randrange(1, 300_000)):
                    digest.update(piece)
            if digest.digest() != digests[name]:
                wrong.append(name)

    drop_caches()
    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_block_wanted_by_many_is_read_once(room, mounts, point, store):
    """R6"""
    process = mounts.foreground(store, point)
    drop_caches()
    readers = [subprocess.Popen(["cat", point / "plain.JPEG"], stdout=subprocess.DEVNULL) for _ in range(16)]
    assert [reader.wait(30) for reader in readers] == [0] * 16
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert re.search(rb"statistics: disk_reads 1 ", errors), errors


def test_engine_is_named_in_the_log(room, mounts, point, store):
    """R7"""
    for engine, words in (("uring", "io_uring"), ("pread", "pread")):
        mounts.start(store, point, f"io={engine}", f"log={room}/{engine}")
        assert f"reading by {words}" in (room / engine).read_text()
        assert run(["umount", point]).returncode == 0


# ---- R2, R3: damage


def shard_of(store):
    (shard,) = [path for path in store.glob("shard-*") if not path.name.endswith(".catalogue")]
    return shard


def damage(store, data, at):
    """Flips a bit of the record that has these bytes."""
    shard = shard_of(store)
    content = shard.read_bytes()
    begin = content.index(data)
    with open(shard, "r+b") as file:
        file.seek(begin + at)
        byte = file.read(1)[0]
        file.seek(begin + at)
        file.write(bytes([byte ^ 1]))
        os.fsync(file.fileno())


@pytest.mark.parametrize("engine", ["uring", "pread"])
def test_damaged_record(room, mounts, point, tree, store, engine):
    """R2"""
    copy = pathlib.Path(shutil.copytree(store, room / "copy"))
    contents = odd_files()
    damage(copy, contents[b"size-4097"], 4000)
    process = mounts.foreground(copy, point, f"io={engine}")
    for _ in range(2):
        assert errno_of((point / "size-4097").read_bytes) == errno.EIO
        assert (point / "size-4097").stat().st_size == 4097
    for name, data in contents.items():
        if name != b"size-4097":
            with open(os.path.join(os.fsencode(point), name), "rb") as file:
                assert file.read() == data, name
    damage(copy, contents[b"size-4097"][:4000], 4000)  # the same bit back
    assert (point / "size-4097").read_bytes() == contents[b"size-4097"]
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    text = errors.decode(errors="replace")
    line = next(line for line in text.splitlines() if "checksum" in line)
    for word in (str(copy), shard_of(copy).name, "size-4097"):
        assert word in line, line
    (count,) = re.findall(r"statistics: corrupt_blocks (\d+) ", text)
    assert int(count) >= 2
    assert int(re.search(r"statistics: read_failures (\d+) ", text)[1]) >= 2


def test_damaged_block_of_a_large_file(room, mounts, point, store):
    """R2: the other blocks of the file stay readable."""
    copy = pathlib.Path(shutil.copytree(store, room / "copy"))
    name, data = content_of_size(3 * MIB + 7)
    damage(copy, data, MIB + 500_000)
    mounts.mount(copy, point, "read-ahead=128K")
    fd = os.open(point / name, os.O_RDONLY | os.O_DIRECT)
    try:
        buffer = mmap.mmap(-1, MIB)
        for block in (0, 2, 3):
            got = os.preadv(fd, [buffer], block * MIB)
            assert buffer[:got] == data[block * MIB:][:MIB]
        assert errno_of(os.preadv, fd, [buffer], MIB) == errno.EIO
    finally:
        os.close(fd)
    assert os.stat(point / name).st_size == len(data)


@pytest.mark.parametrize("wrong", ["missing", "shorter", "longer"])
def test_shard_that_is_not_as_it_was(room, mounts, point, store, wrong):
    """R3: the files of the shard fail, by name in the log; the tree stays."""
    copy = pathlib.Path(shutil.copytree(store, room / "copy"))
    shard = shard_of(copy)
    if wrong == "missing":
        shard.unlink()
    else:
        os.truncate(shard, shard.stat().st_size + (1 if wrong == "longer" else -1))
    process = mounts.foreground(copy, point)
    assert errno_of((point / "plain.JPEG").read_bytes) == errno.EIO
    assert (point / "empty").read_bytes() == b""
    assert os.readlink(point / "link") == "plain.JPEG"
    assert len(os.listdir(point / "many")) == MANY
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert shard.name.encode() in errors


# ---- R8 to R10: nothing can be changed


def write_attempts(top):
    """Every way to change something: a name and a call that must fail."""
    file, folder = top / "plain.JPEG", top / "raw"
    attempts = {
        "create": lambda: os.open(top / "new", os.O_WRONLY | os.O_CREAT),
        "open to write": lambda: os.write(os.open(file, os.O_WRONLY), b"x"),
        "truncating open": lambda: os.open(file, os.O_WRONLY | os.O_TRUNC),
        "append": lambda: os.write(os.open(file, os.O_WRONLY | os.O_APPEND), b"x"),
        "truncate": lambda: os.truncate(file, 5),
        "mkdir": lambda: os.mkdir(top / "new"),
        "rmdir": lambda: os.rmdir(top / "empty-folder"),
        "unlink": lambda: os.unlink(file),
        "rename": lambda: os.rename(file, top / "new"),
        "rename over": lambda: os.rename(file, top / "one"),
        "link": lambda: os.link(file, top / "new"),
        "symlink": lambda: os.symlink("x", top / "new"),
        "mknod": lambda: os.mknod(top / "new", stat.S_IFREG | 0o600),
        "mkfifo": lambda: os.mkfifo(top / "new"),
        "chmod": lambda: os.chmod(file, 0o600),
        "chown": lambda: os.chown(folder, 1, 1),
        "utime": lambda: os.utime(file, (1, 1)),
        "fallocate": lambda: os.posix_fallocate(os.open(file, os.O_WRONLY), 0, 10),
    }
    return attempts


def open_descriptors():
    return set(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("writable", [False, True])
def test_nothing_can_be_changed(room, mounts, point, tree, store, writable):
    """R8: also after a remount that takes the kernel's own refusal away."""
    mounts.mount(store, point)
    before = walk(point)
    if writable:
        # -i: past the helper, which has no remount
        assert run(["mount", "-i", "-o", "remount,rw", point]).returncode == 0
        assert "rw" in mount_rows(point)[0]["super_options"]
    for name, attempt in write_attempts(point).items():
        known = open_descriptors()
        assert errno_of(attempt) == errno.EROFS, name
        for fd in open_descriptors() - known:
            try:
                os.close(int(fd))
            except OSError:
                pass
    assert walk(point) == before
    assert (point / "plain.JPEG").read_bytes() == (tree / "plain.JPEG").read_bytes()


def test_no_extended_attributes(mounted):
    """R9"""
    assert errno_of(os.getxattr, mounted / "plain.JPEG", "user.x") == errno.EOPNOTSUPP
    assert errno_of(os.listxattr, mounted / "plain.JPEG") == errno.EOPNOTSUPP
    assert errno_of(os.setxattr, mounted / "plain.JPEG", "user.x", b"1") in (errno.EOPNOTSUPP, errno.EROFS)


def test_locks_are_local(mounted):
    """R10"""
    with open(mounted / "plain.JPEG", "rb") as one, open(mounted / "plain.JPEG", "rb") as other:
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert errno_of(fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB) == errno.EWOULDBLOCK
        fcntl.flock(one, fcntl.LOCK_UN)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(one, fcntl.LOCK_SH | fcntl.LOCK_NB)


# ---- Caching


def read_whole(path):
    """As C programs do. Python's open() asks whether the file is a terminal, until Python 3.13, which is a request."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, os.fstat(fd).st_size + 1)
    finally:
        os.close(fd)


def test_hot_files_make_no_request(room, mounts, point, store):
    """C2, C3: with the daemon stopped, everything that was seen once can be had again."""
    process = mounts.foreground(store, point)
    name, data = content_of_size(110_000)

    def look():
        missing = not os.path.exists(point / "no such name")
        return read_whole(point / name), missing, os.listdir(point), os.readlink(point / "link"), os.stat(point / "raw").st_mode

    first = look()
    assert first[0] == data
    os.kill(process.pid, signal.SIGSTOP)
    try:
        # In a process of its own, which can be killed should it wait for the daemon.
        child = multiprocessing.get_context("fork").Process(target=lambda: os._exit(0 if look() == first else 1))
        child.start()
        child.join(30)
        assert child.exitcode == 0
    finally:
        os.kill(process.pid, signal.SIGCONT)
        child.kill()
        child.join()


def test_observed_opens(room, mounts, point, tree, store):
    """C3: with observe=open an open is a request, and the pages are kept all the same."""
    process = mounts.foreground(store, point, "observe=open")
    for _ in range(3):
        assert (point / "plain.JPEG").read_bytes() == (tree / "plain.JPEG").read_bytes()
    os.kill(process.pid, signal.SIGSTOP)
    try:
        reader = subprocess.Popen(["cat", point / "plain.JPEG"], stdout=subprocess.DEVNULL)
        wchan = pathlib.Path(f"/proc/{reader.pid}/wchan")
        wait_until(lambda: wchan.read_text() == "request_wait_answer", "the open asks the daemon")
    finally:
        os.kill(process.pid, signal.SIGCONT)
    assert reader.wait(30) == 0
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert re.search(rb"statistics: reads 1 ", errors), errors


def test_generation_stays(room, mounts, point, augurpack, own_store):
    """C1, L4: the store grows under the mount; the next mount sees it, or an older generation on demand."""
    mounts.mount(own_store, point)
    more = room / "more"
    more.mkdir()
    (more / "new.txt").write_text("new")
    before = sorted(os.listdir(point))
    done = run([augurpack, "append", "--quiet", more, own_store])
    assert done.returncode == 0, done.stderr
    drop_caches()
    assert sorted(os.listdir(point)) == before and not (point / "new.txt").exists()
    assert (point / "hello.txt").read_text() == "hello, world\n"
    for name, options, expected in (("newest", [], True), ("first", ["generation=1"], False)):
        (room / name).mkdir()
        mounts.mount(own_store, room / name, *options)
        assert (room / name / "new.txt").exists() == expected
        assert (room / name / "hello.txt").read_text() == "hello, world\n"
    done = run([augurpack, "gc", own_store])
    assert done.returncode == 0, done.stderr
    drop_caches()
    assert (point / "folder" / "image.JPEG").read_bytes() == bytes(range(256)) * 500


@measures_memory
def test_memory_stays_within_the_budget(room, mounts, point, tree, store):
    """C4: RssAnon and RssShmem, after reads of everything by many."""
    pid = mounts.mount(store, point, "memory=32M")
    readers = [subprocess.Popen(["sh", "-c", f"for i in 1 2 3; do find {point} -type f -exec cat {{}} + >/dev/null; done"]) for _ in range(4)]
    while any(reader.poll() is None for reader in readers):
        drop_caches()
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        used = sum(int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) for name in ("RssAnon", "RssShmem"))
        assert used <= 32 * 1024
    assert [reader.wait() for reader in readers] == [0] * 4


# ---- Access


def test_permissions_are_checked(tree, mounted):
    """A1: another user gets what the mode gives to others."""
    assert run([*as_user(), "cat", mounted / "modes" / "0444"]).stdout == "444"
    for closed in ("modes/0600", "modes/0640", "modes/0000", "closed/inside"):
        done = run([*as_user(), "cat", mounted / closed])
        assert done.returncode != 0 and "Permission denied" in done.stderr, closed
    assert run([*as_user(), "ls", mounted / "closed"]).returncode != 0
    # root reads them, as it does on any file system
    assert (mounted / "modes" / "0600").read_bytes() == b"600"


def test_only_the_mounting_user_without_allow_other(room, mounts, point, store):
    """A2"""
    mounts.mount(store, point)
    assert (point / "one").read_bytes() == b"x"
    done = run([*as_user(), "cat", point / "one"])
    assert done.returncode != 0 and "Permission denied" in done.stderr


# ---- Sharing


def test_read_only_file_system(room, mounts, point, tree, store):
    """L4: the store on a file system where nothing can be written."""
    (room / "read-only").mkdir()
    assert run(["mount", "--bind", store, room / "read-only"]).returncode == 0
    try:
        assert run(["mount", "-o", "remount,bind,ro", room / "read-only"]).returncode == 0
        assert errno_of((room / "read-only" / "x").touch) == errno.EROFS
        mounts.mount(room / "read-only", point)
        assert (point / "plain.JPEG").read_bytes() == (tree / "plain.JPEG").read_bytes()
        assert run(["umount", point]).returncode == 0
        wait_until(lambda: run(["umount", room / "read-only"]).returncode == 0, "the store is let go")
    finally:
        if mount_rows(room / "read-only"):
            subprocess.run(["umount", "-l", room / "read-only"], check=True)


def test_several_users_mount_one_store(room, mounts, store, users_may_mount):
    """L4"""
    for uid in (NOBODY, 1):  # fusermount3 wants users that have a name
        folder = room / str(uid)
        folder.mkdir()
        os.chown(folder, uid, uid)
        mounts.mount(store, folder, prefix=as_user(uid))
    for uid in (NOBODY, 1):  # fusermount3 wants users that have a name
        assert run([*as_user(uid), "cat", room / str(uid) / "one"]).stdout == "x"


def test_bound_into_another_namespace(room, mounts, point, tree, store):
    """L4: as a container does with a volume."""
    mounts.mount(store, point)
    (room / "inside").mkdir()
    script = f"mount --bind {point} {room}/inside && cat {room}/inside/plain.JPEG && grep -c {room}/inside /proc/self/mountinfo >&2"
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, b"1\n")
    assert done.stdout == (tree / "plain.JPEG").read_bytes()
    assert list((room / "inside").iterdir()) == []


def test_lives_on_in_another_namespace(room, mounts, point, store):
    """A bind in another namespace keeps the mount alive when it is unmounted here."""
    pid = mounts.mount(store, point)
    holder = subprocess.Popen(["unshare", "-m", "sh", "-c", f"echo ready; read line; drop=1; cat {point}/one"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"ready\n"
        assert run(["umount", point]).returncode == 0
        out, _ = holder.communicate(b"go\n", timeout=30)
        assert out == b"x"
        wait_until(lambda: not pathlib.Path(f"/proc/{pid}/task").exists() or not run(["pgrep", "-g", str(pid)]).stdout, "ended")
    finally:
        if holder.poll() is None:
            holder.kill()
            holder.communicate()
