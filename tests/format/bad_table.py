# SPDX-License-Identifier: Apache-2.0
"""The table of bad stores, and how a row is added to it: see bad.py."""

import dataclasses
import os

import golden
import make_store
from patch import Index, OwnShard

U64_MAX = 2**64 - 1
INDEX = r"index-00000001"
SHARD = r"shard-00000001-00000"
MANIFEST = r"manifest"


@dataclasses.dataclass(frozen=True)
class Bad:
    name: str
    base: object  # the kind of a golden store, or a list of generations
    make: object  # makes the good store at the given path bad
    defect: str
    file: str
    words: tuple
    versions: tuple

    def build(self, folder, version):
        """The bad store, under `folder`; its path."""
        if isinstance(self.base, str):
            store = golden.unpack(golden.name_of(self.base, version), folder)
        else:
            store = os.path.join(folder, "store")
            make_store.write_store(store, self.base, version)
        self.make(store)
        return store


BAD = []


BOTH = (1, 2)


def add(name, make, defect, file, *words, base="plain", versions=BOTH):
    BAD.append(Bad(name, base, make, defect, file, words, versions))


NAME_OF_SHARD = SHARD


def index(name, change, defect, *words, base="plain", file=INDEX, unsealed=(), versions=BOTH):
    """`change` edits the Index; what is not in `unsealed` is made right above it."""

    def make(store):
        opened = Index(store)
        opened.unsealed.update(unsealed)
        change(opened)
        opened.save()

    add(name, make, defect, file, *words, base=base, versions=versions)


def own_shard(name, change, defect, *words, unsealed=(), base="plain", versions=BOTH):
    """`change` edits the OwnShard of generation 1; what is not in `unsealed` is made right above it."""

    def make(store):
        opened = OwnShard(store, NAME_OF_SHARD)
        opened.unsealed.update(unsealed)
        change(opened)
        opened.save()

    add(name, make, defect, SHARD, *words, base=base, versions=versions)


def set_fields(record, fields):
    """`fields` has '_' where the names of the record have a blank."""
    for field, value in fields.items():
        record[field.replace("_", " ")] = value


def flip(place):
    """Flips one bit at the byte that `place` finds in the index."""

    def change(opened):
        opened.data[place(opened)] ^= 0x10

    return change
