# SPDX-License-Identifier: Apache-2.0
"""The Python reader reads what the C++ program writes."""

import os
import random
import stat

import pytest

import golden
import reader
from format_support import assert_same, expected, read_by_reader, read_by_rebuild, read_folder, run, text_of
from store_content import File, Folder
from store_versions import MIB


def random_name(rng):
    kind = rng.randrange(4)
    if kind == 0:
        return b"%d" % rng.randrange(10**6)
    if kind == 1:
        return bytes(rng.choice([b for b in range(1, 256) if b != 0x2F]) for _ in range(rng.randint(1, 30)))
    if kind == 2:
        return bytes([rng.choice(b"ab-./"[:4])]) * rng.randint(1, 6) + b"x"
    return bytes(rng.choice(b"abcdefgh") for _ in range(rng.randint(1, 255)))


def random_file(rng, made):
    kind = rng.randrange(10)
    if kind == 0:
        return b""
    if kind <= 2 and made:
        return rng.choice(made)
    size = (
        rng.choice((1, 100, 65_535, 65_536, MIB - 1, MIB, MIB + 1, 2 * MIB + 777))
        if kind == 3
        else rng.randint(1, 20_000)
    )
    return rng.randbytes(size)


def random_tree(rng, top, entries):
    """Makes a folder with about so many entries of all kinds, modes and times."""
    folders = [os.fsencode(top)]
    os.makedirs(top)
    made = []
    paths = []
    for _ in range(entries):
        path = os.path.join(rng.choice(folders), random_name(rng))
        if os.path.lexists(path):
            continue
        paths.append(path)
        kind = rng.randrange(8)
        if kind == 0:
            os.mkdir(path)
            folders.append(path)
        elif kind == 1:
            os.symlink(rng.choice((b"x", b"../y/z", b"/absolute", bytes(rng.choices(range(1, 256), k=300)))), path)
        else:
            made.append(random_file(rng, made))
            with open(path, "wb") as file:
                file.write(made[-1])
            os.chmod(path, rng.choice((0o644, 0o600, 0o755, 0o444, 0o4711)))
    for path in [*reversed(paths), os.fsencode(top)]:  # times of folders after what is in them
        when = rng.choice(
            (rng.randrange(-(10**9), 10**9), rng.randrange(10**9, 4 * 10**9))
        ) * 10**9 + rng.randrange(10**9)
        os.utime(path, ns=(when, when), follow_symlinks=False)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_reader_reads_what_the_program_creates(seed, augurpack, folder):
    rng = random.Random(seed)
    source, store = os.path.join(folder, "source"), os.path.join(folder, "store")
    random_tree(rng, source, 300)
    done = run(augurpack, "create", "--quiet", "--shard-size", "4M", source, store)
    assert done.returncode == 0, text_of(done.stderr)
    wanted = read_folder(source)
    report = reader.full_check(store)
    assert report.entries == len(wanted)
    assert_same(read_by_reader(store), wanted)
    assert_same(read_by_rebuild(store), wanted)


def test_reader_reads_what_the_program_creates_of_nothing(augurpack, folder):
    source, store = os.path.join(folder, "source"), os.path.join(folder, "store")
    os.mkdir(source)
    done = run(augurpack, "create", "--quiet", source, store)
    assert done.returncode == 0, text_of(done.stderr)
    reader.full_check(store)
    assert_same(read_by_reader(store), read_folder(source))


def test_reader_reads_what_the_program_appends(augurpack, folder):
    rng = random.Random(4)
    first, second, store = (os.path.join(folder, name) for name in ("first", "second", "store"))
    random_tree(rng, first, 60)
    random_tree(rng, second, 60)
    for name in os.listdir(os.fsencode(second)):  # so that no path comes twice
        os.rename(os.path.join(os.fsencode(second), name), os.path.join(os.fsencode(second), b"2" + name[:250]))
    for command, source in (("create", first), ("append", second)):
        done = run(augurpack, command, "--quiet", source, store)
        assert done.returncode == 0, text_of(done.stderr)
    reader.full_check(store)
    both = read_folder(first)[1:] + read_folder(second)[1:]
    assert_same(read_by_reader(store)[1:], sorted(both, key=lambda item: item[0].split(b"/")))
    assert_same(read_by_rebuild(store), read_by_reader(store))


def test_rebuild_leaves_out_what_the_program_replaced(augurpack, folder):
    """create, append, create --force with a smaller tree, append: only what came since then is in the tree."""
    rng = random.Random(5)
    store = os.path.join(folder, "store")
    steps = (("create", 40), ("append", 30), ("create --force", 10), ("append", 20))
    sources = []
    for number, (command, entries) in enumerate(steps):
        source = os.path.join(folder, str(number))
        random_tree(rng, source, entries)
        for name in os.listdir(os.fsencode(source)):  # so that no path comes twice
            os.rename(
                os.path.join(os.fsencode(source), name), os.path.join(os.fsencode(source), b"%d" % number + name[:250])
            )
        sources.append(read_folder(source))
        done = run(augurpack, *command.split(), "--quiet", source, store)
        assert done.returncode == 0, text_of(done.stderr)
        reader.full_check(store)
        assert_same(read_by_rebuild(store), read_by_reader(store))
        if number == 2:
            assert_same(read_by_rebuild(store), sources[2])
    wanted = {path for listing in sources[2:] for path, *_ in listing}
    assert {path for path, *_ in read_by_rebuild(store)} == wanted


@pytest.mark.parametrize("kind", ["folders", "tar"])
def test_rebuild_leaves_out_what_was_replaced_by_no_records_of_our_own(kind, augurpack, folder):
    """Such a generation needs no shard for its records, and yet has one that tells that the tree started anew."""
    store = golden.unpack("plain", folder)
    source = os.path.join(folder, "source")
    if kind == "tar":
        golden.write_tar(source, golden.tree_of_tar())
        done = run(augurpack, "adopt", "--force", "--quiet", source, store)
    else:
        os.makedirs(os.path.join(source, "a", "b"))
        done = run(augurpack, "create", "--force", "--quiet", source, store)
    assert done.returncode == 0, text_of(done.stderr)
    reader.full_check(store)
    done = run(augurpack, "verify", store)
    assert done.returncode == 0, text_of(done.stderr)
    if kind == "tar":
        assert read_by_rebuild(store) == []
    else:
        assert_same(read_by_rebuild(store), read_folder(source))


def test_reader_reads_what_the_program_adopts(augurpack, folder):
    tree = Folder({**golden.tree_of_tar().children, b"same-as-cat.bin": File(b"cat" * 700)})
    tar, store = os.path.join(folder, "images.tar"), os.path.join(folder, "store")
    golden.write_tar(tar, tree)
    done = run(augurpack, "adopt", "--quiet", tar, store)
    assert done.returncode == 0, text_of(done.stderr)
    assert reader.full_check(store).warnings == []
    files = {path: content for path, mode, _, content in expected(tree) if stat.S_ISREG(mode)}
    assert {path: content for path, mode, _, content in read_by_reader(store) if stat.S_ISREG(mode)} == files
