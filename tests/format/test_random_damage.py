# SPDX-License-Identifier: Apache-2.0
"""Stores with random bytes changed and the checksums made right again: both readers refuse them or read them alike."""

import os
import random
import tempfile

import pytest

import golden
import reader
from format_support import run, text_of
from patch import Index, OwnShard

KINDS = (
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
MUTATED = (*KINDS, *(kind + "_2" for kind in KINDS))


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
    places = [(0, 128), (128, 128 + 32 * 8), (128, index.roots_at + 64), (128, index.hash_at)]
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
