# SPDX-License-Identifier: Apache-2.0
"""FORMAT.md holds: the Python reader and the C++ program, written apart, accept the same good stores, read the same
from them, and refuse the same bad ones by name; and each reads what the other side's writer wrote."""

import ast
import os
import random
import re
import stat
import subprocess
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import bad  # noqa: E402
import golden  # noqa: E402
import reader  # noqa: E402
from make_store import MIB, File, Folder, Generation, Link, Section, in_path_order, write_store  # noqa: E402
from patch import Index, OwnShard  # noqa: E402

GOOD_NAMES = sorted(golden.GOLDEN)
BY_NAME = {case.name: case for case in bad.BAD}


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="augur-format-") as path:
        yield path


# ---------------------------------------------------------------------- expectations


def expected(tree):
    """[(path, mode, mtime, content)] in path order, the root first; content is bytes, a link's target or None."""
    listing = []
    for path, node in in_path_order(tree):
        if isinstance(node, File):
            listing.append((path, stat.S_IFREG | node.mode, node.mtime, node.data))
        elif isinstance(node, Link):
            listing.append((path, stat.S_IFLNK | node.mode, node.mtime, node.target))
        else:
            listing.append((path, stat.S_IFDIR | node.mode, node.mtime, None))
    return listing


def read_by_reader(path):
    listing = []
    with reader.Store(path) as store:
        for name, entry in store.walk():
            content = None
            if entry.is_file:
                content = store.read(entry)
            elif entry.is_symlink:
                content = store.link_target(entry)
            listing.append((name, entry.mode, entry.mtime, content))
    return listing


def read_by_rebuild(path):
    """What the catalogues of the own shards say, in path order: paths compared as bytes, '/' below every other byte."""
    rebuilt = reader.rebuild(path)
    listing = []
    for name, item in sorted(rebuilt.items.items(), key=lambda pair: pair[0].split(b"/")):
        content = None
        if stat.S_ISREG(item.mode):
            content = rebuilt.read(item)
        elif stat.S_ISLNK(item.mode):
            content = item.target
        listing.append((name, item.mode, item.mtime, content))
    return listing


def read_folder(path):
    """A folder of the file system in the same form."""
    top = os.fsencode(path)

    def one(full, name):
        status = os.lstat(full)
        content = None
        if stat.S_ISREG(status.st_mode):
            with open(full, "rb") as file:
                content = file.read()
        elif stat.S_ISLNK(status.st_mode):
            content = os.readlink(full)
        listing.append((name, status.st_mode, divmod(status.st_mtime_ns, 10**9), content))
        if stat.S_ISDIR(status.st_mode):
            for child in sorted(os.listdir(full)):
                one(os.path.join(full, child), name + b"/" + child if name else child)

    listing = []
    one(top, b"")
    return listing


def assert_same(left, right):
    """Lists as above, compared without printing megabytes."""

    def brief(listing):
        return [
            (path, oct(mode), mtime, None if content is None else len(content))
            for path, mode, mtime, content in listing
        ]

    assert brief(left) == brief(right)
    for one, other in zip(left, right):
        if one[3] != other[3]:
            pytest.fail(f"{one[0]!r}: the bytes differ")


def run(*arguments):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def text_of(raw):
    return raw.decode("utf-8", "backslashreplace")


# ---------------------------------------------------------------------- good stores, second reader


def test_every_golden_store_is_kept():
    assert sorted(name.removesuffix(".tar.xz") for name in os.listdir(golden.GOOD)) == GOOD_NAMES


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_reader_accepts_golden(name, folder):
    store = golden.unpack(name, folder)
    report = reader.full_check(store)
    assert report.warnings == []
    wanted = expected(golden.GOLDEN[name].tree)
    assert_same(read_by_reader(store), wanted)
    assert report.entries == len(wanted)


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_reader_finds_every_path_by_lookup(name, folder):
    path = golden.unpack(name, folder)
    with reader.Store(path) as store:
        for wanted, mode, *_ in expected(golden.GOLDEN[name].tree):
            assert store.lookup(wanted).mode == mode
            assert store.lookup(wanted + b"\x01" if wanted else b"\x00") is None
            assert store.lookup(wanted + b"/no") is None


@pytest.mark.parametrize("name", [name for name in GOOD_NAMES if golden.GOLDEN[name].rebuildable])
def test_own_shards_are_understood_alone(name, folder):
    """A lost index can be rebuilt from the shards; a lost manifest is no obstacle either."""
    store = golden.unpack(name, folder)
    os.remove(os.path.join(store, Index(store).name))
    assert_same(read_by_rebuild(store), expected(golden.GOLDEN[name].tree))
    if name != "unknown_section":  # which holds the debris of a killed writer
        os.remove(os.path.join(store, "manifest"))
        assert_same(read_by_rebuild(store), expected(golden.GOLDEN[name].tree))


def test_images_are_recorded(folder):
    with reader.Store(golden.unpack("images", folder)) as store:
        for path, node in in_path_order(golden.images()):
            got = store.lookup(path).image
            if isinstance(node, File) and node.image:
                wanted = node.image
                assert (got.kind, got.width, got.height, got.channels) == (
                    wanted.kind,
                    wanted.width,
                    wanted.height,
                    wanted.channels,
                )
                assert (got.bit_depth, got.orientation, got.exif_bytes) == (
                    wanted.bit_depth,
                    wanted.orientation,
                    wanted.exif_bytes,
                )
            else:
                assert got == reader.NO_IMAGE


def test_parts_of_a_large_record(folder):
    data = golden.large().children[b"big"].data
    with reader.Store(golden.unpack("large", folder)) as store:
        entry = store.lookup(b"big-again")
        for offset, size in (
            (0, 1),
            (MIB - 1, 2),
            (MIB, MIB),
            (2 * MIB + 12_344, 100),
            (0, 1 << 40),
            (len(data), 1),
            (5, 2 * MIB),
        ):
            assert store.read(entry, offset, size) == data[offset : offset + size]


def test_files_with_the_same_bytes_may_share_a_record(folder):
    with reader.Store(golden.unpack("plain", folder)) as store:
        one, other = store.lookup(b"a/cat"), store.lookup(b"copy-of-cat")
        assert (one.shard, one.offset, one.hash) == (other.shard, other.offset, other.hash)
        assert one.mode != other.mode


def test_the_generation_before_stays_whole(folder):
    path = golden.unpack("two_generations", folder)
    index = Index(path)
    with open(os.path.join(path, "index-00000001"), "rb") as file:
        header = file.read(8192)
        size = os.fstat(file.fileno()).st_size
    index.set_line("generation", "generation 1")
    index.set_line("index", "index index-00000001")
    index.set_line("index-bytes", f"index-bytes {size}")
    index.set_line("index-id", f"index-id {reader.xxhash.xxh3_128_hexdigest(header)}")
    index.save_manifest("".join(line + "\n" for line in index.lines).encode())
    reader.full_check(path)
    assert_same(read_by_reader(path), expected(golden.first_tree()))


def write_foreign_absolute(folder):
    golden.adopted(golden.tree_of_tar(), absolute=True)(folder)
    return os.path.join(folder, "store")


def test_reader_follows_an_absolute_locator(folder):
    store = write_foreign_absolute(folder)
    assert reader.full_check(store).warnings == []
    assert_same(read_by_reader(store), expected(golden.tree_of_tar()))


def touch_tar(folder):
    store = golden.unpack("foreign_relative", folder)
    os.utime(os.path.join(folder, "images.tar"), (1, 1))
    return store


def test_reader_warns_of_another_mtime(folder):
    (warning,) = reader.full_check(touch_tar(folder)).warnings
    assert "images.tar" in warning and "mtime" in warning


def write_two_root_pieces(folder):
    """A body of over 8,192 blocks, most of it a hole in an ignorable section."""
    store = os.path.join(folder, "store")
    hole = Section(500, b"first", 1, hole_bytes=8192 * 65536)
    write_store(store, [Generation(golden.plain(), sections=(hole,), reversed_layout=True)])
    assert Index(store).section(5)["bytes"] > 65536
    return store


def test_reader_with_two_root_pieces(folder):
    store = write_two_root_pieces(folder)
    reader.full_check(store)
    assert_same(read_by_reader(store), expected(golden.plain()))


def write_longest_path(folder):
    store = os.path.join(folder, "store")
    write_store(store, [Generation(golden.with_path_of(4095))])
    return store


def write_empty_section_within_another(folder):
    store = golden.unpack("plain", folder)
    index = Index(store)
    assert index.section(4)["bytes"] == 0
    index.section(4)["offset"] = index.section(1)["offset"] + 64
    index.save()
    return store


def test_reader_accepts_the_longest_path(folder):
    store = write_longest_path(folder)
    reader.full_check(store)
    assert_same(read_by_reader(store), expected(golden.with_path_of(4095)))


def test_reader_accepts_an_empty_section_within_another(folder):
    store = write_empty_section_within_another(folder)
    reader.full_check(store)
    assert_same(read_by_reader(store), expected(golden.plain()))


def test_a_broken_block_fails_what_needs_it_and_nothing_else(folder):
    path = golden.unpack("many", folder)
    index = Index(path)
    index.unsealed.add("body")
    index.data[index.entries_at + 96 * 900] ^= 1  # block 1, of entries alone
    index.save()
    with reader.Store(path) as store:
        assert store.read(store.entry(1)) == b"one"
        with pytest.raises(reader.StoreError, match=r"^index-00000001: block 1: checksum mismatch$"):
            store.entry(900)
        with pytest.raises(reader.StoreError, match="block 1"):
            list(store.walk())


def test_a_lost_shard_fails_its_records_and_nothing_else(folder):
    path = golden.unpack("three_shards", folder)
    with reader.Store(path) as store:
        shards = {name: entry.shard for name, entry in store.walk() if entry.is_file and entry.size}
    assert len(set(shards.values())) > 1
    os.remove(os.path.join(path, "shard-00000001-00000"))
    with reader.Store(path) as store:
        for name, shard in shards.items():
            if shard == 0:
                with pytest.raises(reader.StoreError, match="shard-00000001-00000"):
                    store.read(store.lookup(name))
            else:
                store.read(store.lookup(name))


def test_reader_from_the_command_line(folder):
    store = golden.unpack("plain", folder)
    script = os.path.join(HERE, "reader.py")
    done = run(sys.executable, script, "check", store)
    assert (done.returncode, done.stderr) == (0, b"") and b"14 entries" in done.stdout
    assert run(sys.executable, script, "cat", store, "a/dog").stdout == b"woof\n"
    listing = run(sys.executable, script, "ls", store).stdout.decode().splitlines()
    assert len(listing) == 14 and listing[-2].endswith("link -> a/cat")
    os.truncate(os.path.join(store, "shard-00000001-00000"), 70)
    done = run(sys.executable, script, "check", store)
    assert done.returncode == 1 and b"shard-00000001-00000" in done.stderr


# ---------------------------------------------------------------------- bad stores, second reader


def test_bad_stores_have_names_of_their_own():
    assert len(BY_NAME) == len(bad.BAD) >= 60


@pytest.mark.parametrize("name", BY_NAME)
def test_reader_refuses(name, folder):
    case = BY_NAME[name]
    with pytest.raises(reader.StoreError) as raised:
        reader.full_check(case.build(folder))
    assert raised.value.defect in case.defect.split("|")
    for words in (case.file, *case.words):
        assert re.search(words, str(raised.value), re.IGNORECASE), f"{raised.value} does not say {words}"


def defects_in_source():
    """Every name of a defect that the reader can refuse by."""
    for name in os.listdir(HERE):
        if not re.fullmatch(r"reader.*\.py", name):
            continue
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                at = {"refuse_if": 1, "check": 1, "StoreError": 0}.get(call.func.id)
                if at is not None and len(call.args) > at and isinstance(call.args[at], ast.Constant):
                    yield call.args[at].value


def test_every_refusal_of_the_reader_has_a_bad_store():
    provoked = {defect for case in bad.BAD for defect in case.defect.split("|")}
    # Rules of the rebuilding alone: see test_rebuild_refuses_a_renamed_shard and …_a_lost_generation.
    assert set(defects_in_source()) - provoked == {"shard_name", "shard_base_missing"}


def test_rebuild_refuses_a_renamed_shard(folder):
    store = golden.unpack("plain", folder)
    os.rename(os.path.join(store, "shard-00000001-00000"), os.path.join(store, "shard-00000001-00003"))
    with pytest.raises(reader.StoreError, match="shard-00000001-00003: header says generation 1, shard number 0"):
        reader.rebuild(store)


def test_rebuild_refuses_a_lost_generation(folder):
    store = golden.unpack("two_generations", folder)
    os.remove(os.path.join(store, "shard-00000001-00000"))
    with pytest.raises(reader.StoreError, match="generation 1, to which generation 2 was added"):
        reader.rebuild(store)


def test_rebuild_refuses_different_bases_in_a_generation(folder):
    case = BY_NAME["shard_base_differs"]
    with pytest.raises(reader.StoreError, match="base generation"):
        reader.rebuild(case.build(folder))


# ---------------------------------------------------------------------- random damage, sealed

MUTATED = (
    "plain",
    "images",
    "large",
    "many",
    "foreign_relative",
    "mixed",
    "unknown_section",
    "two_generations",
    "started_anew",
)


def mutate_bytes(rng, data, start, end):
    """Damages 1 to 8 bytes from `start` to `end`, in ways that are likely to reach a limit; says what it did."""
    size = rng.choice((1, 1, 2, 4, 8))
    at = start + rng.randrange(max(1, (end - start) // size)) * size
    size = min(size, end - at)
    old = bytes(data[at : at + size])
    kind = rng.randrange(5)
    if kind == 0:
        new = bytes([old[0] ^ (1 << rng.randrange(8))]) + old[1:]
    elif kind == 1:
        new = bytes(size)
    elif kind == 2:
        new = b"\xff" * size
    elif kind == 3:
        new = ((int.from_bytes(old, "little") + rng.choice((-64, -1, 1, 64))) % (1 << 8 * size)).to_bytes(
            size, "little"
        )
    else:
        new = rng.randbytes(size)
    data[at : at + size] = new
    return f"bytes {at} to {at + size - 1}: {old.hex()} became {new.hex()}"


def mutate_store(rng, store):
    """Damages one place of the index or of an own shard, and seals every checksum above it."""
    shards = sorted(name for name in os.listdir(store) if reader.SHARD_NAME.fullmatch(name.encode()))
    shards = [name for name in shards if os.path.getsize(os.path.join(store, name)) > 128]
    if shards and rng.randrange(4) == 0:
        shard = OwnShard(store, rng.choice(shards))
        frame_end = shard.catalogue_at + 24 + shard.first_frame["payload bytes"]
        start, end = rng.choice(((0, 56), (shard.catalogue_at, frame_end), (len(shard.data) - 64, len(shard.data) - 8)))
        what = mutate_bytes(rng, shard.data, start, end)
        shard.save()
        return f"{os.path.basename(shard.path)}: {what}"
    index = Index(store)
    places = [(0, 128), (128, 128 + 32 * 8), (128, 8176)]
    for id_ in (1, 1, 1, 2, 3, 3, 4):
        section = index.section(id_)
        if section["bytes"]:
            places.append((section["offset"], section["offset"] + section["bytes"]))
    what = mutate_bytes(rng, index.data, *rng.choice(places))
    index.save()
    return f"{index.name}: {what}"


def verdict_of_reader(store):
    """The error text, or None when the store is accepted."""
    try:
        reader.full_check(store)
    except reader.StoreError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(8))
def test_reader_refuses_or_accepts_random_damage(seed):
    """Never another exception, and never more memory than the store is large."""
    rng = random.Random(seed)
    for _ in range(40):
        with tempfile.TemporaryDirectory(prefix="augur-format-") as path:
            store = golden.unpack(rng.choice(MUTATED), path)
            mutate_store(rng, store)
            verdict_of_reader(store)


@pytest.mark.parametrize("seed", range(100, 108))
def test_both_readers_agree_on_random_damage(seed, augurpack):
    """A store that one accepts and the other refuses is a hole in one of them, or in the text."""
    rng = random.Random(seed)
    differences = []
    for round_ in range(25):
        with tempfile.TemporaryDirectory(prefix="augur-format-") as path:
            name = rng.choice(MUTATED)
            store = golden.unpack(name, path)
            what = mutate_store(rng, store)
            mine = verdict_of_reader(store)
            done = run(augurpack, "verify", store)
            said = text_of(done.stderr).strip()
            if done.returncode not in (0, 1, 2) or (mine is None) != (done.returncode == 0):
                differences.append(
                    f"seed {seed}, round {round_}, {name}: {what}: reader.py: {mine}; augurpack: {said or 0}"
                )
    assert not differences, "\n" + "\n".join(differences)


# ---------------------------------------------------------------------- the C++ program


def shown(path):
    """A path as `augurpack ls` shows it: control characters, backslashes, and what is not UTF-8, as \\xHH."""
    out = []
    for character in path.decode("utf-8", "surrogateescape"):
        code = ord(character)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\x{code - 0xDC00:02x}")
        elif code < 0x20 or code == 0x7F or character == "\\":
            out.append(f"\\x{code:02x}")
        else:
            out.append(character)
    return "".join(out)


def check_by_program(augurpack, store, tree, folder):
    """`verify`, `ls` and `extract` of the C++ program agree with the description."""
    wanted = expected(tree)
    done = run(augurpack, "verify", store)
    assert done.returncode == 0, text_of(done.stderr)

    done = run(augurpack, "ls", "-R", store)
    assert done.returncode == 0, text_of(done.stderr)
    listed = [line for line in done.stdout.decode().splitlines() if line]
    assert [line.lower().rstrip("/") for line in listed] == [shown(path).lower() for path, *_ in wanted if path]

    done = run(augurpack, "ls", "-l", "-R", store)
    assert done.returncode == 0, text_of(done.stderr)
    lines = [line for line in done.stdout.decode().splitlines() if line]
    assert len(lines) == len(wanted) - 1
    for line, (path, mode, _, content) in zip(lines, wanted[1:]):
        assert line.startswith(stat.filemode(mode)), line
        assert shown(path).lower() in line.lower()
        if stat.S_ISREG(mode):
            assert str(len(content)) in line.split(), line
        if stat.S_ISLNK(mode):
            assert line.lower().endswith(" -> " + shown(content).lower()), line

    destination = os.path.join(folder, "extracted")
    done = run(augurpack, "extract", store, destination)
    assert done.returncode == 0, text_of(done.stderr)
    assert_same(read_folder(destination), wanted)


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_program_accepts_golden(name, augurpack, folder):
    check_by_program(augurpack, golden.unpack(name, folder), golden.GOLDEN[name].tree, folder)


def test_program_follows_an_absolute_locator(augurpack, folder):
    check_by_program(augurpack, write_foreign_absolute(folder), golden.tree_of_tar(), folder)


def test_program_with_two_root_pieces(augurpack, folder):
    check_by_program(augurpack, write_two_root_pieces(folder), golden.plain(), folder)


def test_program_accepts_the_longest_path(augurpack, folder):
    done = run(augurpack, "verify", write_longest_path(folder))  # longer than a path of the file system, once below it
    assert done.returncode == 0, text_of(done.stderr)


def test_program_accepts_an_empty_section_within_another(augurpack, folder):
    check_by_program(augurpack, write_empty_section_within_another(folder), golden.plain(), folder)


def test_program_warns_of_another_mtime(augurpack, folder):
    done = run(augurpack, "verify", touch_tar(folder))
    assert done.returncode == 0, text_of(done.stderr)
    assert b"images.tar" in done.stderr + done.stdout


@pytest.mark.parametrize("name", BY_NAME)
def test_program_refuses(name, augurpack, folder):
    case = BY_NAME[name]
    done = run(augurpack, "verify", case.build(folder))
    said = text_of(done.stderr)
    assert done.returncode in (1, 2), f"exit status {done.returncode}: {said}"
    for words in (case.file, *case.words):
        assert re.search(words, said, re.IGNORECASE), f"{said!r} does not say {words}"


# ---------------------------------------------------------------------- stores of the C++ program


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
