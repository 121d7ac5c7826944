# SPDX-License-Identifier: Apache-2.0
"""What the tests of augurpack adopt share."""

import json

from pack_support import reader, run, store_entries, store_tree


def files_of(store):
    reader.full_check(store)
    return store_tree(store)[1]


def refused(augurpack, path, *options):
    """What is said of a file that cannot be adopted: its name and the cause, and there is no store."""
    store = path.parent / "refused"
    done = run(augurpack, "adopt", *options, path, store, ok=(2,))
    assert done.error.startswith(f"augurpack: {path}: "), done.error
    assert not (store / "manifest").exists()
    return done.error


def adopted(augurpack, path, *options):
    """The files of a store that copies nothing, each of which lies in the file."""
    store = path.parent / (path.name + ".adopted")
    summary = json.loads(run(augurpack, "adopt", "--json", *options, path, store).stdout)
    assert summary["stored_bytes"] == 0
    files, data = files_of(store), path.read_bytes()
    with reader.Store(store) as opened:
        entries = store_entries(opened)
        assert all(data[entries[name].offset :].startswith(image) for name, image in files.items())
    run(augurpack, "verify", store)
    return files


def copied(augurpack, path, *options):
    store = path.parent / (path.name + ".copied")
    run(augurpack, "create", *options, path, store)
    return files_of(store)
