# SPDX-License-Identifier: Apache-2.0
"""-o root-hash= : SEMANTICS.md, R1."""

import errno
import json
import os
import pathlib
import subprocess
import sys

import pytest

from program_runs import assert_refused
from skips import needs_root
from stores import HELLO, read_hello
from system_calls import errno_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "format"))
import golden  # noqa: E402
from patch import Index, h128  # noqa: E402

pytestmark = needs_root


def root_hash_of(augurpack, store):
    done = subprocess.run([augurpack, "info", "--json", store], check=True, capture_output=True, timeout=60)
    return json.loads(done.stdout)["root_hash"]


def test_the_right_one_mounts(augurpack, small_store, room, mounts, point):
    mounts.mount(small_store, point, "root-hash=" + root_hash_of(augurpack, small_store))
    assert read_hello(point) == HELLO


def test_another_one_is_refused(small_store, room, mounts, point):
    assert_refused(mounts.start(small_store, point, "root-hash=" + "ab" * 32), str(small_store), "ab" * 32, "root hash")


def test_what_is_none_is_refused(small_store, room, mounts, point):
    assert_refused(mounts.start(small_store, point, "root-hash=sha256"), "64 lower-case hex digits", "augurpack info")


def test_a_store_of_version_1_is_refused_with_the_cure(room, mounts, point):
    store = golden.unpack("plain", os.fspath(room))
    assert_refused(mounts.start(store, point, "root-hash=" + "ab" * 32), "version 1", "augurpack upgrade")


def forge(store):
    """What a person reaches who may write to a shard and makes other bytes with the same XXH3-128: the index is given the
    XXH3-128 of the other bytes, and keeps the SHA-256 of the right ones."""
    index = Index(store)
    entry = index.entry(b"a/dog")
    with open(os.path.join(store, "shard-00000001-00000"), "r+b") as file:
        file.seek(entry["offset"])
        file.write(b"meow\n")
        os.fsync(file.fileno())
    entry["hash"] = h128(b"meow\n")
    index.save()
    return index.value("index-id")


@pytest.mark.parametrize("cache", ["ram", "none"])
def test_other_bytes_with_the_same_xxh3_are_refused(cache, room, mounts, point):
    """R1"""
    store = golden.unpack("plain_2", os.fspath(room))
    root_hash = forge(store)
    mounts.mount(store, point, f"root-hash={root_hash},cache={cache}")
    assert errno_of((point / "a" / "dog").read_bytes) == errno.EIO
    assert (point / "a" / "cat").read_bytes() == b"meow" * 25


def test_without_a_root_hash_only_damage_is_found(room, mounts, point):
    """R1: the words about people are true."""
    store = golden.unpack("plain_2", os.fspath(room))
    forge(store)
    mounts.mount(store, point)
    assert (point / "a" / "dog").read_bytes() == b"meow\n"
