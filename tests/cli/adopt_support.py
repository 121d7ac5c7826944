# SPDX-License-Identifier: Apache-2.0
"""What the tests of augurpack adopt share."""

from pack_support import reader, run, store_tree


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
