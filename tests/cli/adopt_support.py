# SPDX-License-Identifier: Apache-2.0
"""What the tests of augurpack adopt share."""

import json
import os
import pathlib
import subprocess

from pack_support import PATIENCE_S, reader, run, store_entries, store_tree


def files_of(store):
    reader.full_check(store)
    return store_tree(store)[1]


def refused(augurpack, path, *options, command="adopt"):
    """What is said of a file that cannot be adopted, or copied: its name and the cause, and there is no store."""
    store = path.parent / f"refused by {command}"
    done = run(augurpack, command, *options, path, store, ok=(2,))
    assert done.error.startswith(f"augurpack: {path}: "), done.error
    assert not (store / "manifest").exists()
    return done.error


def written_by_stock(python, name, folder, **environment):
    """What a script of this folder, run by that Python, says in wanted.json that a store must have of the files that it wrote."""
    script = pathlib.Path(__file__).with_name(name)
    done = subprocess.run([python, script, folder], capture_output=True, timeout=4 * PATIENCE_S, check=False, env=os.environ | environment)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((folder / "wanted.json").read_text())


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


def cause_of(value):
    """Names a case of a bad file by the cause that it is refused for. Its bytes may have the time of day."""
    return value if isinstance(value, str) else "file"
