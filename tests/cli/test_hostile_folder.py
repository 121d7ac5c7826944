# SPDX-License-Identifier: Apache-2.0
"""Writers in a store's folder that somebody else has prepared: nothing outside of it is written, removed or waited for."""

import os

import pytest
from cli_support import run

VICTIM = b"mine\n"


@pytest.fixture
def room(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "file").write_bytes(b"text" * 1000)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "other").write_bytes(b"more" * 1000)
    (tmp_path / "victim").write_bytes(VICTIM)
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "recipe").write_bytes(VICTIM)
    return tmp_path


@pytest.fixture
def store(augurpack, room):
    done = run(augurpack, "create", "--quiet", room / "source", room / "store")
    assert done.returncode == 0, done.stderr
    return room / "store"


def plant_link(path, target):
    path.symlink_to(target)


def plant_hard_link(path, target):
    os.link(target, path)


PLANTS = pytest.mark.parametrize("plant", [plant_link, plant_hard_link], ids=["link", "hard link"])
NAMES = pytest.mark.parametrize("name", ["manifest.new", "lock", "entries.tmp", "blocks.tmp", "index-00000002", "shard-00000002-00001",
                                         "shard-00000002-00001.catalogue"])


@PLANTS
@NAMES
@pytest.mark.parametrize("command", ["append", "replace", "gc"])
def test_no_name_leads_a_writer_out_of_the_folder(augurpack, room, store, plant, name, command):
    (store / name).unlink(missing_ok=True)
    plant(store / name, room / "victim")
    words = {"append": ["append", "--quiet", room / "more", store], "replace": ["create", "--quiet", "--force", room / "more", store],
             "gc": ["gc", store]}[command]
    done = run(augurpack, *words)
    assert (room / "victim").read_bytes() == VICTIM
    assert run(augurpack, "verify", "--quiet", store).returncode == 0
    if name == "lock":
        assert done.returncode == 2 and b"lock" in done.stderr, done.stderr
    else:
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["append", "gc", "create --decode"])
def test_a_linked_work_folder_is_no_place_to_work(augurpack, room, store, command):
    (store / ".augurpack-work").symlink_to(room / "place")
    words = {"append": ["append", "--quiet", room / "more", store], "gc": ["gc", store],
             "create --decode": ["create", "--quiet", "--force", "--decode", "npy", room / "source", store]}[command]
    run(augurpack, *words)
    assert sorted(path.name for path in (room / "place").iterdir()) == ["recipe"]
    assert (room / "place" / "recipe").read_bytes() == VICTIM


@pytest.mark.parametrize("command", ["append", "gc"])
def test_a_fifo_for_a_lock_is_no_lock(augurpack, room, store, command):
    (store / "lock").unlink(missing_ok=True)
    os.mkfifo(store / "lock")
    words = ["append", "--quiet", room / "more", store] if command == "append" else ["gc", store]
    done = run(augurpack, *words)
    assert done.returncode == 2 and b"not a regular file" in done.stderr, done


def test_a_fifo_is_no_tar_to_adopt(augurpack, room):
    os.mkfifo(room / "pipe")
    done = run(augurpack, "adopt", "--quiet", room / "pipe", room / "adopted")
    assert done.returncode == 2 and b"not a regular file" in done.stderr, done
