# SPDX-License-Identifier: Apache-2.0
"""augurpack create --decode with the kinds that have archives: real files with the bytes of the view of a mount."""

import json
import os
import subprocess

import pytest
from skips import needs_root
from stores import pack

pytest.importorskip("numpy")
pytest.importorskip("PIL.Image")

from archive_fixtures import archive_store, archive_tree, mounted, view  # noqa: E402, F401

pytestmark = needs_root

SPECS = ["tar+shards=3", "tar+shards=2+shuffle=7", "tfrecord+shards=3", "tfrecord+keys=tfds+name=photos+shards=2"]


def create(augurpack, *words, ok=0):
    done = subprocess.run([augurpack, "create", *words], capture_output=True, timeout=100, check=False, text=True)
    assert done.returncode == ok, done.stderr
    return done


def is_archive(path):
    return path.is_file() and path.suffix not in (".json", ".txt", ".idx")


def is_of_root(path):
    return path.name.startswith("all-") or "-all." in path.name


@pytest.mark.parametrize("spec", SPECS)
def test_files_are_those_of_the_view(augurpack, archive_tree, archive_store, mounted, tmp_path, spec):  # noqa: F811
    """Of a store, and of a folder that is packed first: the archives of train, val and the like, byte for byte, and not those of all."""
    shown = view(mounted, spec)
    wanted = {path.name: path.read_bytes() for path in shown.iterdir() if is_archive(path) and not is_of_root(path)}
    assert len(wanted) >= 6
    for number, source in enumerate((archive_store, archive_tree)):
        target = tmp_path / f"{number}"
        summary = json.loads(create(augurpack, f"--decode={spec}", "--json", source, target).stdout)
        written = {path.name: path.read_bytes() for path in target.iterdir() if is_archive(path)}
        assert written.keys() == wanted.keys() and written == wanted
        assert summary["files"] == len(wanted) and summary["bytes"] == sum(map(len, wanted.values()))
        assert all((path.stat().st_mode & 0o777) == 0o644 for path in target.iterdir() if not path.is_symlink())
        assert not (target / ".augurpack-work").exists()
    for name in ("_info.json", "dataset_info.json"):
        if (target / name).exists():
            splits = json.loads((target / name).read_text())["splits"]
            names = splits if name == "_info.json" else [split["name"] for split in splits]
            assert {"train", "val"} <= set(names) and "all" not in names
    links = {path.name for path in target.iterdir() if path.is_symlink()}
    assert links == {path.name for path in shown.iterdir() if path.is_symlink()}


def test_hdf5_files_of_encoded_images(augurpack, archive_store, mounted, tmp_path):  # noqa: F811
    shown = view(mounted, "h5+encoded")
    create(augurpack, "--decode=h5+encoded", archive_store, tmp_path / "h5")
    written = {path.name: path.read_bytes() for path in (tmp_path / "h5").iterdir()}
    assert {"train.h5", "val.h5"} <= written.keys() and "all.h5" not in written
    assert written == {name: (shown / name).read_bytes() for name in written}


@pytest.mark.parametrize("spec", ["mds+shards=3", "zarr+size=20x10", "zarr+size=20x10+format=2+chunk=8", "zarr+size=260x200+shard=8+dtype=f32",
                                  "h5+size=260x200"])  # fmt: skip
def test_trees_are_those_of_the_view(augurpack, archive_store, mounted, tmp_path, spec):  # noqa: F811
    """Folders of archives, and files with room between images, which is not written."""
    shown, target = view(mounted, spec), tmp_path / "target"
    create(augurpack, f"--decode={spec}", archive_store, target)
    kind = spec.split("+")[0]
    assert {f"train.{kind}", f"val.{kind}"} <= {path.name for path in target.iterdir()} and not (target / f"all.{kind}").exists()
    files = [path for path in target.rglob("*") if path.is_file()]
    assert len(files) >= 2
    for path in files:
        assert path.read_bytes() == (shown / path.relative_to(target)).read_bytes() and path.stat().st_mode & 0o777 == 0o644
    listed = {path.relative_to(target) for path in target.rglob("*")}
    tops = [path for path in target.iterdir() if path.is_dir()]
    assert {top.name / path.relative_to(shown / top.name) for top in tops for path in (shown / top.name).rglob("*")} <= listed
    if "260x200" in spec:
        largest = max(files, key=lambda path: path.stat().st_size).stat()
        assert largest.st_blocks * 512 < largest.st_size


def test_a_root_of_classes(augurpack, archive_tree, mounted, tmp_path):  # noqa: F811
    """Its archives are called all, as those that the view of such a store has."""
    store = pack(augurpack, archive_tree / "train", tmp_path / "store")
    create(augurpack, "--decode=tar+shards=2", store, tmp_path / "tars")
    assert sorted(path.name for path in (tmp_path / "tars").iterdir()) == ["_info.json", "all-000000.tar", "all-000001.tar"]
    listed = subprocess.run(["tar", "-tf", tmp_path / "tars" / "all-000000.tar"], capture_output=True, check=True, timeout=60).stdout
    assert listed.count(b".cls") > 10


def is_of_the_tree(path):
    return path.is_dir() and not path.suffix and not path.is_symlink()


@pytest.mark.parametrize("spec", ["tar+shards=2", "tfrecord+shards=2", "tfrecord+keys=tfds+name=photos+shards=2", "mds+shards=2", "h5+encoded"])
@pytest.mark.parametrize("part", [".", "val"])
def test_the_whole_view(augurpack, archive_tree, room, mounts, point, tmp_path, spec, part):  # noqa: F811
    """--whole-view writes all that the root of the view lists, of data sets and of a root of classes, and --indexes what it does not."""
    store, target = pack(augurpack, archive_tree / part, room / "store"), tmp_path / "target"
    mounts.mount(store, point, f"log={room}/log")
    shown = view(point, spec)
    words = ["--indexes"] if "tfrecord" in spec else []
    create(augurpack, f"--decode={spec}", "--whole-view", *words, store, target)
    listed = {path.name for path in shown.iterdir() if not is_of_the_tree(path)}
    assert any(is_of_root(shown / name) or name.startswith("all.") for name in listed) and len(listed) >= 3
    indexes = {f"{name}.idx" for name in listed if words and "-of-" in name}
    assert {path.name for path in target.iterdir()} == listed | indexes and bool(indexes) == bool(words)
    for name in sorted(listed | indexes):
        if (target / name).is_symlink():
            assert os.readlink(target / name) == os.readlink(shown / name)
            continue
        files = [path for path in (target / name).rglob("*") if path.is_file()] if (target / name).is_dir() else [target / name]
        assert files and all(path.read_bytes() == (shown / path.relative_to(target)).read_bytes() for path in files)
        if (shown / name).is_dir():
            assert sorted(os.listdir(shown / name)) == sorted(os.listdir(target / name))


def test_refusals(augurpack, archive_store, tmp_path):  # noqa: F811
    target = tmp_path / "tars"
    create(augurpack, "--decode=tar+shards=2", archive_store, target)
    assert "--force replaces files" in create(augurpack, "--decode=tar+shards=2", archive_store, target, ok=2).stderr
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    (target / "train-000000.tar").write_bytes(b"?")
    create(augurpack, "--decode=tar+shards=2", "--force", archive_store, target)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before
    for options, cause in ((["--resume"], "leave --resume out"), (["--on-error=skip"], "without one of its images"),
                           (["--include=*.jpg"], "this store is packed already")):  # fmt: skip
        assert cause in create(augurpack, "--decode=tar", *options, archive_store, tmp_path / "none", ok=2).stderr
        assert not (tmp_path / "none").exists()
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "text").write_text("text")
    error = create(augurpack, "--decode=tar", tmp_path / "empty", tmp_path / "none", ok=2).stderr
    assert "has no image for an archive: JPEG and PNG files in folders of their classes are taken" in error


def test_a_damaged_image_leaves_no_archive(augurpack, archive_tree, tmp_path):  # noqa: F811
    store = pack(augurpack, archive_tree / "train", tmp_path / "store")
    shard = max((path for path in store.iterdir() if path.is_file()), key=lambda path: path.stat().st_size)
    os.chmod(shard, 0o644)
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    done = create(augurpack, "--decode=tar+shards=1", store, tmp_path / "tars", ok=2)
    assert "augurpack: " in done.stderr
    assert not (tmp_path / "tars" / "all-000000.tar").exists()
