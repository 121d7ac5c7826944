# SPDX-License-Identifier: Apache-2.0
"""The Python reader, written from FORMAT.md alone, reads the good stores and refuses the bad ones by name."""

import ast
import os
import re
import sys

import pytest

import bad
import golden
import reader
from format_support import (
    BAD_IN_VERSIONS,
    BY_NAME,
    GOOD_NAMES,
    VERSIONS,
    assert_same,
    expected,
    read_by_reader,
    read_by_rebuild,
    run,
    touch_tar,
    write_empty_section_within_another,
    write_foreign_absolute,
    write_longest_path,
    write_two_root_pieces,
)
from make_store import write_store
from store_content import File, Generation, Section, in_path_order
from store_versions import MIB
from patch import Index

HERE = os.path.dirname(os.path.abspath(__file__))


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
    if not name.startswith("unknown_section"):  # which holds the debris of a killed writer
        os.remove(os.path.join(store, "manifest"))
        assert_same(read_by_rebuild(store), expected(golden.GOLDEN[name].tree))


def test_folders_list_in_their_own_order(folder):
    def listed(store, directory, node):
        entries = store.listed(directory)
        assert [entry.name for entry in entries] == list(node.children)
        for entry in entries:
            if entry.is_directory:
                listed(store, entry, node.children[entry.name])

    with reader.Store(golden.unpack("listing_2", folder)) as store:
        assert [entry.name for entry in store.children(store.entry(0))] == [b"a", b"k", b"m", b"z"]
        listed(store, store.entry(0), golden.listed())


def test_an_index_of_version_1_has_no_listing(folder):
    """There 6 is an unknown id like any other."""
    path = os.path.join(folder, "store")
    write_store(path, [Generation(golden.listed(), sections=(Section(6, b"whatever", 8),))], 1)
    reader.full_check(path)
    with reader.Store(path) as store:
        assert [entry.name for entry in store.listed(store.entry(0))] == [b"a", b"k", b"m", b"z"]


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


@pytest.mark.parametrize("version", VERSIONS)
def test_the_generation_before_stays_whole(version, folder):
    path = golden.unpack(golden.name_of("two_generations", version), folder)
    index = Index(path)
    with open(os.path.join(path, "index-00000001"), "rb") as file:
        header = file.read(65_536)
        size = os.fstat(file.fileno()).st_size
    index.set_line("generation", "generation 1")
    index.set_line("index", "index index-00000001")
    index.set_line("index-bytes", f"index-bytes {size}")
    index.set_line("index-id", "index-id " + index.id_of(header))
    index.save_manifest("".join(line + "\n" for line in index.lines).encode())
    reader.full_check(path)
    assert_same(read_by_reader(path), expected(golden.first_tree()))


@pytest.mark.parametrize("version", VERSIONS)
def test_reader_follows_an_absolute_locator(version, folder):
    store = write_foreign_absolute(folder, version)
    assert reader.full_check(store).warnings == []
    assert_same(read_by_reader(store), expected(golden.tree_of_tar()))


def test_reader_warns_of_another_mtime(folder):
    (warning,) = reader.full_check(touch_tar(folder)).warnings
    assert "images.tar" in warning and "mtime" in warning


@pytest.mark.parametrize("version", VERSIONS)
def test_reader_with_two_root_pieces(version, folder):
    store = write_two_root_pieces(folder, version)
    reader.full_check(store)
    assert_same(read_by_reader(store), expected(golden.plain()))


@pytest.mark.parametrize("version", VERSIONS)
def test_reader_accepts_the_longest_path(version, folder):
    store = write_longest_path(folder, version)
    reader.full_check(store)
    assert_same(read_by_reader(store), expected(golden.with_path_of(4095)))


@pytest.mark.parametrize("version", VERSIONS)
def test_reader_accepts_an_empty_section_within_another(version, folder):
    store = write_empty_section_within_another(folder, version)
    reader.full_check(store)
    assert_same(read_by_reader(store), expected(golden.plain()))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_broken_block_fails_what_needs_it_and_nothing_else(version, folder):
    path = golden.unpack(golden.name_of("many", version), folder)
    index = Index(path)
    index.unsealed.add("body")
    index.data[index.entries_at + index.entry_bytes * 900] ^= 1  # block 1, of entries alone
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


def test_bad_stores_have_names_of_their_own():
    assert len(BY_NAME) == len(bad.BAD) >= 60


@pytest.mark.parametrize("name, version", BAD_IN_VERSIONS)
def test_reader_refuses(name, version, folder):
    case = BY_NAME[name]
    with pytest.raises(reader.StoreError) as raised:
        reader.full_check(case.build(folder, version))
    assert raised.value.defect in case.defect.split("|")
    for words in (case.file, *case.words):
        assert re.search(words, str(raised.value), re.IGNORECASE), f"{raised.value} does not say {words}"


def test_reader_refuses_another_root_hash(folder):
    store = golden.unpack("plain_2", folder)
    root_hash = bytes.fromhex(Index(store).value("index-id"))
    with reader.Store(store, root_hash) as opened:
        assert opened.read(opened.lookup(b"a/dog")) == b"woof\n"
    with pytest.raises(reader.StoreError, match="root hash"):
        reader.Store(store, bytes(32))


def test_reader_refuses_version_1_under_a_root_hash(folder):
    with pytest.raises(reader.StoreError, match="root hash none"):
        reader.Store(golden.unpack("plain", folder), bytes(32))


def test_reader_checks_records_by_sha_256_under_a_root_hash(folder):
    """The index says another XXH3-128 for a record: what a person who makes two files with the same one could reach."""
    store = golden.unpack("plain_2", folder)
    index = Index(store)
    index.entry(b"a/dog")["digest"] = bytes(range(32))
    index.save()
    with reader.Store(store) as opened:
        assert opened.read(opened.lookup(b"a/dog")) == b"woof\n"
    with reader.Store(store, bytes.fromhex(index.value("index-id"))) as opened:
        with pytest.raises(reader.StoreError, match="checksum mismatch"):
            opened.read(opened.lookup(b"a/dog"))


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
    # Rules of the rebuilding alone: see test_rebuild_refuses_a_renamed_shard and …_a_lost_generation. The root hash is
    # given, not in the store: see test_reader_refuses_another_root_hash.
    assert set(defects_in_source()) - provoked == {"shard_name", "shard_base_missing", "root_hash"}


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


@pytest.mark.parametrize("version", VERSIONS)
def test_rebuild_refuses_different_bases_in_a_generation(version, folder):
    case = BY_NAME["shard_base_differs"]
    with pytest.raises(reader.StoreError, match="base generation"):
        reader.rebuild(case.build(folder, version))
