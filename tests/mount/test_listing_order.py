# SPDX-License-Identifier: Apache-2.0
"""augurpack create --order=listing: folders of the mount list as those of the source do. SEMANTICS.md, T6."""

import errno
import glob
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from program_runs import run
from skips import needs_root
from stores import pack
from system_calls import errno_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "format"))
import bad  # noqa: E402
import golden  # noqa: E402

pytestmark = needs_root

CLASSES = ["rose", "aster", "lily", "violet", "daisy"]
ATTEMPTS = 20
MANY = 6_000  # entries: more than one reply to READDIRPLUS holds


def fill(folder, names, seed):
    """Makes files of these names in an order that is not theirs."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(names)
    random.Random(seed).shuffle(names)
    for name in names:
        (folder / name).write_bytes(f"{folder.name}/{name}".encode())


@pytest.fixture
def source(room):
    """Classes of images, as fastai takes them, with other things between."""
    top = room / "source"
    for seed, one in enumerate(CLASSES):
        fill(top / "train" / one, [f"{one}_{i}.jpg" for i in range(60)] + ["note.txt", ".hidden.jpg"], seed)
    fill(top / "train" / "lily" / "deep", [f"{i}.JPEG" for i in range(30)], 7)
    fill(top / "flat", [f"{i:05d}.png" for i in range(MANY)], 8)
    (top / "train" / "empty").mkdir()
    (top / "train" / "link").symlink_to("rose")
    (top / "train" / "dangling").symlink_to("nowhere")
    listed = os.listdir(top / "flat")
    assert listed != sorted(listed), "this file system lists by name: the test tests nothing"
    return top


def walked(top):
    """What os.walk gives of a folder, as it gives it."""
    return [(os.path.relpath(folder, top), folders, files) for folder, folders, files in os.walk(top)]


def image_files(top):
    """A list of samples in the way of fastai's get_image_files: the order of os.walk, hidden folders and files left out."""
    found = []
    for folder, folders, files in os.walk(top, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(folder, name) for name in files if not name.startswith(".") and name.lower().endswith((".jpg", ".jpeg", ".png"))]
    return [os.path.relpath(path, top) for path in found]


def test_every_listing_is_that_of_the_source(room, mounts, point, augurpack, source):
    """os.listdir, os.scandir, os.walk, glob and pathlib, in order."""
    mounts.mount(pack(augurpack, source, room / "store", "--order=listing"), point)
    assert walked(point) == walked(source)
    for folder, _, _ in os.walk(source):
        shown = point / os.path.relpath(folder, source)
        assert os.listdir(shown) == os.listdir(folder)
        assert [item.name for item in os.scandir(shown)] == [item.name for item in os.scandir(folder)]
    for pattern in ("train/*/*.jpg", "flat/*", "train/**"):
        ours, theirs = (glob.glob(pattern, root_dir=top, recursive=True) for top in (point, source))
        assert ours == theirs and theirs
    ours, theirs = ([path.relative_to(top) for path in top.rglob("*.jpg")] for top in (point, source))
    assert ours == theirs and theirs


def test_samples_and_their_seeded_split_are_those_of_the_source(room, mounts, point, augurpack, source):
    """What makes a script give the same results: the list, the split and the shuffle of it, and the bytes."""
    mounts.mount(pack(augurpack, source, room / "store", "--order=listing"), point)
    ours, theirs = image_files(point / "train"), image_files(source / "train")
    assert ours == theirs and len(theirs) == 60 * (len(CLASSES) + 1) + 30  # rose twice, by the link
    lists = [random.Random(42).sample(files, len(files)) for files in (ours, theirs)]
    assert lists[0] == lists[1]
    assert [(point / "train" / name).read_bytes() for name in ours] == [(source / "train" / name).read_bytes() for name in theirs]


def test_fastai_itself_finds_the_same_files(room, mounts, point, augurpack, source):
    data = pytest.importorskip("fastai.data.transforms")
    mounts.mount(pack(augurpack, source, room / "store", "--order=listing"), point)
    ours, theirs = ([path.relative_to(top) for path in data.get_image_files(top)] for top in (point, source))
    assert ours == theirs
    splits = [data.RandomSplitter(valid_pct=0.2, seed=42)(files) for files in (ours, theirs)]
    assert splits[0] == splits[1]


def test_without_the_option_folders_list_by_name(room, mounts, point, augurpack, source):
    store = pack(augurpack, source, room / "store")
    named = pack(augurpack, source, room / "named", "--order=name")
    assert (store / "index-00000001").read_bytes() == (named / "index-00000001").read_bytes()
    mounts.mount(store, point)
    for folder, _, _ in os.walk(source):
        names = os.listdir(os.fsencode(point / os.path.relpath(folder, source)))
        assert names == sorted(names)
    assert [json.loads(run([augurpack, "info", "--json", one]).stdout)["order"] for one in (store, named)] == ["name", "name"]


def test_records_and_paths_do_not_depend_on_the_order(room, augurpack, source):
    """Only the index differs: shards, `ls` and `extract` are the same."""
    store, listed = pack(augurpack, source, room / "store"), pack(augurpack, source, room / "listed", "--order=listing")
    shard = "shard-00000001-00000"
    assert (store / shard).read_bytes() == (listed / shard).read_bytes()
    assert run([augurpack, "ls", "-lR", store]).stdout == run([augurpack, "ls", "-lR", listed]).stdout
    assert run([augurpack, "verify", "--quiet", listed]).returncode == 0
    assert "folders list as the source did" in run([augurpack, "info", listed]).stdout
    assert run([augurpack, "extract", "--quiet", listed, room / "out"]).returncode == 0
    assert {name: os.lstat(room / "out" / name).st_mtime_ns for name in image_files(room / "out")} == {
        name: os.lstat(source / name).st_mtime_ns for name in image_files(source)}


def test_include_keeps_the_order_of_what_is_left(room, mounts, point, augurpack, source):
    mounts.mount(pack(augurpack, source, room / "store", "--order=listing", "--include=*_1*.jpg"), point)
    wanted = [name for name in os.listdir(source / "train" / "rose") if name.startswith("rose_1") and name.endswith(".jpg")]
    assert os.listdir(point / "train" / "rose") == wanted != sorted(wanted)


def test_what_is_appended_comes_behind(room, mounts, point, augurpack, source):
    store = pack(augurpack, source, room / "store", "--order=listing")
    fill(room / "more" / "flat", [f"{i:05d}.again" for i in range(40)], 9)
    assert run([augurpack, "append", "--quiet", room / "more", store]).returncode == 0
    assert run([augurpack, "verify", "--quiet", store]).returncode == 0
    mounts.mount(store, point)
    assert os.listdir(point / "flat") == os.listdir(source / "flat") + os.listdir(room / "more" / "flat")
    assert os.listdir(point / "train") == os.listdir(source / "train")
    assert run([augurpack, "upgrade", store]).returncode == 0
    assert json.loads(run([augurpack, "info", "--json", store]).stdout)["order"] == "listing"


def test_a_resumed_run_has_the_order_too(room, mounts, point, augurpack, source):
    """Killed with shards that are done, so that it has something to go on with."""
    fill(source / "large", [f"{i}" for i in range(200)], 10)
    for path in (source / "large").iterdir():
        path.write_bytes(random.Random(path.name).randbytes(100_000))
    store = room / "store"
    words = [augurpack, "create", "--quiet", "--order=listing", "--shard-size=1M", source, store]
    for _ in range(ATTEMPTS):
        with subprocess.Popen(words, stdin=subprocess.DEVNULL) as packer:
            while packer.poll() is None and not list(store.glob("shard-*-00003")):
                time.sleep(0.001)
            packer.send_signal(signal.SIGKILL)
        if not (store / "manifest").exists():
            break
        shutil.rmtree(store)  # it was done before it was killed
    done = run([*words[:2], "--resume", "--json", *words[3:]])
    assert done.returncode == 0 and (json.loads(done.stdout)["resumed"] > 0), done
    mounts.mount(store, point)
    assert walked(point) == walked(source)


def view_listing(point, folder):
    return os.listdir(point / ".augur" / "views" / "pixels" / folder)


def test_views_keep_the_order(room, mounts, point, augurpack):
    image = pytest.importorskip("PIL.Image")
    source = room / "source"
    fill(source, [f"{i}.txt" for i in range(20)], 1)
    for path in list(source.iterdir()):
        image.new("RGB", (8, 8), (int(path.stem), 2, 3)).save(path.with_suffix(".png"))
    store = pack(augurpack, source, room / "store", "--order=listing")
    listed = os.listdir(source)
    arrays = [name.replace(".png", ".npy") for name in listed if name.endswith(".png")]
    assert listed != sorted(listed) and arrays != sorted(arrays)
    mounts.mount(store, point)
    assert view_listing(point, ".") == listed
    assert os.listdir(point / ".augur" / "views" / "npy") == arrays
    # Packed, from the store and from the folder.
    for number, (words, origin) in enumerate(((["--decode=npy"], store), (["--decode=npy", "--order=listing"], source))):
        packed, other = pack(augurpack, origin, room / f"packed{number}", *words), room / f"point{number}"
        other.mkdir()
        mounts.mount(packed, other)
        assert os.listdir(other) == arrays


@pytest.mark.parametrize("words, origin", [([], "tar"), ([], "-"), (["--decode=npy"], "tar"), (["--decode=npy"], "store")])
def test_what_has_no_listing_is_refused(room, augurpack, words, origin):
    fill(room / "source", ["b", "a"], 1)
    tar = shutil.make_archive(str(room / "images"), "tar", room / "source")
    source = {"tar": tar, "-": "-", "store": pack(augurpack, room / "source", room / "unlisted")}[origin]
    done = run([augurpack, "create", "--order=listing", *words, source, room / "store"])
    assert done.returncode == 2 and "has no listing that --order=listing could keep" in done.stderr, done
    assert not (room / "store").exists()


def test_a_listing_that_is_no_permutation_fails_and_nothing_else(room, mounts, point):
    """A child that stands at two places: the folder cannot be listed, and what is in it is found by name all the same."""
    case = next(one for one in bad.BAD if one.name == "listing_names_a_child_twice")
    mounts.mount(case.build(room, 2), point)
    assert errno_of(os.listdir, point) == errno.EIO
    assert os.listdir(point / "z") == [os.fsdecode(name) for name in golden.listed().children[b"z"].children]
    for name, node in golden.listed().children.items():
        if hasattr(node, "data"):
            assert (point / os.fsdecode(name)).read_bytes() == node.data
