# SPDX-License-Identifier: Apache-2.0
"""The root hash: augurpack prints it, opens no other store under it, and gives one to a store of format version 1."""

import hashlib
import json
import os
import pathlib
import sys

import pytest
from cli_support import describe, make_source, refuse, run, succeed

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "format"))
import golden  # noqa: E402
import reader  # noqa: E402
from patch import Index  # noqa: E402

OTHER = "0123456789abcdef" * 4
READERS = [["info"], ["ls"], ["verify", "--quiet"], ["extract", "--quiet"]]


def arguments(command, store, folder):
    return [*command, store, os.path.join(folder, "out")] if command[0] == "extract" else [*command, store]


@pytest.fixture
def store(folder, augurpack):
    source, path = os.path.join(folder, "source"), os.path.join(folder, "store")
    make_source(source)
    succeed(augurpack, "create", "--quiet", source, path)
    return path


def root_hash_of(augurpack, store):
    return json.loads(succeed(augurpack, "info", "--json", store))["root_hash"]


def test_info_prints_the_sha_256_of_the_header(augurpack, store):
    with open(os.path.join(store, "index-00000001"), "rb") as file:
        header = file.read(65_536)
    root_hash = hashlib.sha256(header[:65_504]).hexdigest()
    assert root_hash_of(augurpack, store) == root_hash
    assert f"root hash   {root_hash}\n" in succeed(augurpack, "info", store)
    assert "format      version 2\n" in succeed(augurpack, "info", store)


@pytest.mark.parametrize("command", READERS)
def test_the_right_root_hash_opens_the_store(command, augurpack, store, folder):
    pin = "--root-hash=" + root_hash_of(augurpack, store)
    assert run(augurpack, command[0], pin, *arguments(command, store, folder)[1:]).returncode == 0


@pytest.mark.parametrize("command", READERS)
def test_another_root_hash_is_refused(command, augurpack, store, folder):
    words = arguments(command, store, folder)
    said = refuse(2, augurpack, words[0], "--root-hash=" + OTHER, *words[1:])
    assert store in said and root_hash_of(augurpack, store) in said and OTHER in said


@pytest.mark.parametrize("text", ["abc", OTHER[1:], OTHER + "0", OTHER.upper(), "g" + OTHER[1:]])
def test_what_is_no_root_hash_is_refused_with_the_form(text, augurpack, store):
    assert "64 lower-case hex digits" in refuse(2, augurpack, "info", "--root-hash", text, store)


def test_an_append_has_another_root_hash(augurpack, store, folder):
    before = root_hash_of(augurpack, store)
    more = os.path.join(folder, "more")
    os.mkdir(more)
    pathlib.Path(more, "new.txt").write_text("new", encoding="ascii")
    succeed(augurpack, "append", "--quiet", more, store)
    assert before in refuse(2, augurpack, "info", "--root-hash", before, store)
    assert root_hash_of(augurpack, store) != before


def test_extract_refuses_a_record_that_only_xxh3_takes(augurpack, folder):
    """As after a forgery: the XXH3-128 of the index is that of the bytes in the shard, the SHA-256 that of others."""
    store = golden.unpack("plain_2", folder)
    index = Index(store)
    index.entry(b"a/dog")["digest"] = bytes(range(32))
    index.save()
    assert run(augurpack, "extract", "--quiet", store, os.path.join(folder, "trusting")).returncode == 0
    pin = "--root-hash=" + index.value("index-id")
    done = run(augurpack, "extract", "--quiet", pin, store, os.path.join(folder, "out"))
    assert done.returncode == 2 and b"checksum mismatch" in done.stderr
    assert b"a/dog" in done.stderr
    assert b"a/dog" in run(augurpack, "verify", store).stderr


# ------------------------------------------------------------------------------------------- stores of format version 1


@pytest.fixture
def old_store(folder):
    return golden.unpack("large", folder)


def test_version_1_has_no_root_hash(augurpack, old_store):
    info = json.loads(succeed(augurpack, "info", "--json", old_store))
    assert (info["format_version"], info["root_hash"]) == (1, None)
    assert "augurpack upgrade" in refuse(2, augurpack, "info", "--root-hash", OTHER, old_store)


def test_upgrade_keeps_tree_and_shards(augurpack, old_store, folder):
    def shards():
        return {name: os.stat(os.path.join(old_store, name)) for name in os.listdir(old_store) if "shard" in name}

    succeed(augurpack, "extract", "--quiet", old_store, os.path.join(folder, "before"))
    before = shards()
    done = run(augurpack, "upgrade", "--quiet", old_store)
    assert done.returncode == 0, done.stderr
    assert {name: info.st_mtime_ns for name, info in shards().items()} == {
        name: info.st_mtime_ns for name, info in before.items()
    }
    report = reader.full_check(old_store)
    assert report.files == 5 and report.warnings == []
    pin = "--root-hash=" + root_hash_of(augurpack, old_store)
    succeed(augurpack, "verify", "--quiet", pin, old_store)
    succeed(augurpack, "extract", "--quiet", pin, old_store, os.path.join(folder, "after"))
    assert describe(os.path.join(folder, "after")) == describe(os.path.join(folder, "before"))
    with reader.Store(old_store) as opened:
        assert (opened.header.version, opened.header.generation) == (2, 2)
    assert "already" in succeed(augurpack, "upgrade", old_store)


def test_append_to_version_1_makes_it_version_2(augurpack, old_store, folder):
    more = os.path.join(folder, "more")
    os.mkdir(more)
    pathlib.Path(more, "new.txt").write_text("new", encoding="ascii")
    done = run(augurpack, "append", "--quiet", more, old_store)
    assert done.returncode == 0 and b"reading its records" in done.stderr
    assert reader.full_check(old_store).files == 6
    succeed(augurpack, "verify", "--quiet", old_store)


def test_upgrade_of_a_new_store_says_what_it_is(augurpack, store):
    """Nothing is to be done: --json tells of the store as after an upgrade."""
    done = run(augurpack, "upgrade", "--json", store)
    told, info = json.loads(done.stdout), json.loads(run(augurpack, "info", "--json", store).stdout)
    assert done.returncode == 0 and done.stderr == b""
    assert (told["generation"], told["files"], told["bytes"]) == (1, info["files"], info["tree_bytes"])
    assert told["stored_bytes"] == 0


def test_upgrade_of_a_damaged_record_fails_and_changes_nothing(augurpack, old_store):
    index = Index(old_store)
    with open(os.path.join(old_store, "shard-00000001-00000"), "r+b") as file:
        file.seek(index.entry(b"big")["offset"] + 5)
        file.write(b"\xff\xfe")
    before = sorted(os.listdir(old_store))
    done = run(augurpack, "upgrade", "--quiet", old_store)
    assert done.returncode == 2
    assert b"version 2" in done.stderr and b"checksum mismatch" in done.stderr
    assert sorted(set(os.listdir(old_store)) - {"lock"}) == sorted(set(before) - {"lock"})
    with reader.Store(old_store) as opened:
        assert opened.header.version == 1
