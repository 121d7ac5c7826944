# SPDX-License-Identifier: Apache-2.0
"""Views whose files hold the decoded images of a folder, or its files in a folder of their own: h5, zarr and mds. VIEWS.md,
Archives. The samples and labels are those of torchvision, the pixels those of Pillow."""

import errno
import json
import os
import pathlib
import random
import stat

import pytest
from program_runs import run
from skips import needs_root
from stores import pack
from system_calls import errno_of

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

from archive_fixtures import archive_store, archive_tree, ask, mounted, view  # noqa: E402, F401
from archive_readers import Readers  # noqa: E402
from archive_tree import CLASSES, jpeg  # noqa: E402

pytestmark = needs_root

SIZE = "size=40x30+passes=pillow13"  # 3600 bytes: an array has its page, and its own chunk
LARGE = "size=260x200+passes=pillow13"  # above 128 KiB: there is room between arrays


@pytest.fixture(scope="module")
def readers():
    with Readers(apart=True) as process:
        yield process


@pytest.fixture(scope="module")
def samples(readers, archive_tree):
    """(path, label) of a folder in the order of torchvision, by its name."""
    return {name: ask(readers, "image_folder", str(archive_tree / name))[0] for name in ("train", "val")}


def pixels(path, width=40, height=30):
    with Image.open(path) as image:
        return numpy.asarray(image.convert("RGB").resize((width, height), Image.BILINEAR))


def same(found, wanted):
    return len(found) == len(wanted) and all(numpy.array_equal(a, b) for a, b in zip(found, wanted))


@pytest.fixture(scope="module")
def wanted(samples):
    return [pixels(path) for path, _ in samples["train"]]


def test_h5(mounted, archive_tree, readers, samples, wanted):
    """All images, labels, paths and classes."""
    found = ask(readers, "h5", str(view(mounted, f"h5+{SIZE}") / "train.h5"))
    assert set(found) == {"images", "labels", "paths", "classes"}
    assert found["images"].dtype == numpy.uint8 and found["images"].shape == (len(wanted), 30, 40, 3)
    assert same(found["images"], wanted)
    assert found["labels"].dtype == numpy.int64 and found["labels"].tolist() == [label for _, label in samples["train"]]
    assert [name.decode() for name in found["classes"]] == CLASSES
    top = os.fsencode(archive_tree / "train") + b"/"
    assert found["paths"].tolist() == [os.fsencode(path).removeprefix(top) for path, _ in samples["train"]]


def test_h5_of_floats(mounted, readers, samples):
    """torchvision's ToTensor and Normalize, the channels first."""
    spec = f"h5+{SIZE}+layout=chw+dtype=f32+mean=0.5_0.25_0+std=0.5_0.5_1"
    found = ask(readers, "h5", str(view(mounted, spec) / "val.h5"))["images"]
    scaled = [pixels(path).astype(numpy.float32) / numpy.float32(255) for path, _ in samples["val"]]
    mean, std = numpy.array([0.5, 0.25, 0], "f4"), numpy.array([0.5, 0.5, 1], "f4")
    assert found.dtype == numpy.float32 and same(found, [((one - mean) / std).transpose(2, 0, 1) for one in scaled])


def test_h5_with_the_files(mounted, readers, samples):
    """h5+encoded: each file byte for byte, with a size beside the images, without one alone."""
    files = [numpy.frombuffer(pathlib.Path(path).read_bytes(), numpy.uint8) for path, _ in samples["train"]]
    alone = ask(readers, "h5", str(view(mounted, "h5+encoded") / "train.h5"))
    assert set(alone) == {"labels", "paths", "classes", "encoded"} and same(alone["encoded"], files)
    both = ask(readers, "h5", str(view(mounted, f"h5+encoded+{LARGE}") / "train.h5"))
    assert same(both["encoded"], files)
    assert same(both["images"], [pixels(path, 260, 200) for path, _ in samples["train"]])


@pytest.mark.parametrize("early,context,workers", [(True, "fork", 4), (False, "fork", 4), (False, "spawn", 2)])
def test_h5_in_workers(mounted, readers, samples, wanted, early, context, workers):
    """Opened before fork, after fork, and in spawned workers."""
    path = str(view(mounted, f"h5+{SIZE}") / "train.h5")
    found = ask(readers, "load", "h5", path, early, context, workers)
    assert same([image for image, _ in found], wanted)
    assert [label for _, label in found] == [label for _, label in samples["train"]]


def test_h5_of_many(room, augurpack, mounts, point, readers):
    """Over 1,024 images, whose chunks are found by pages; without classes."""
    (room / "tree").mkdir()
    for i in range(1100):
        (room / "tree" / f"{i:04}.jpg").write_bytes(jpeg(i % 7, 8))
    mounts.mount(pack(augurpack, room / "tree", room / "store"), point, f"log={room}/log", "memory=64M")
    found = ask(readers, "h5", str(view(point, "h5+size=4x4") / "all.h5"))
    seven = [found["images"][i] for i in range(7)]
    assert set(found) == {"images", "labels", "paths"} and found["labels"].tolist() == [-1] * 1100
    assert same(found["images"], [seven[i % 7] for i in range(1100)])
    assert same(seven, [numpy.asarray(Image.open(view(point, "pixels+size=4x4") / f"000{i}.jpg")) for i in range(7)])


def test_h5_any_part_is_the_same(mounted):
    path = view(mounted, f"h5+encoded+{LARGE}") / "train.h5"
    whole = path.read_bytes()
    assert len(whole) == path.stat().st_size and len(whole) % 4096 == 0
    assert path.stat().st_blocks * 512 < len(whole) / 2  # du counts what is there, not the room between
    draw = random.Random(5)
    with open(path, "rb", buffering=0) as file:
        for _ in range(300):
            offset, length = draw.randrange(len(whole)), draw.choice([1, 8, 4096, 9000, 128 << 10, 1 << 20])
            if draw.random() < 0.2:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            assert os.pread(file.fileno(), length, offset) == whole[offset : offset + length]


def test_an_image_that_cannot_be_decoded(room, augurpack, mounts, point, readers):
    """It alone is an error in h5; a chunk of zarr fails by name, and is not zeros."""
    broken = jpeg(1, 64)[:700]
    for name, data in {"a/0.jpg": jpeg(2), "a/1.jpg": broken, "a/2.jpg": jpeg(3)}.items():
        (room / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (room / "tree" / name).write_bytes(data)
    mounts.mount(pack(augurpack, room / "tree", room / "store"), point, f"log={room}/log", "memory=64M")
    path = view(point, "h5+size=40x30") / "all.h5"
    first = path.stat().st_size - 3 * 4096
    with open(path, "rb", buffering=0) as file:
        assert errno_of(os.pread, file.fileno(), 3600, first + 4096) == errno.EIO
        for i in (0, 2):
            assert len(os.pread(file.fileno(), 3600, first + i * 4096)) == 3600
    group = view(point, "zarr+size=40x30") / "all.zarr" / "images"
    assert errno_of((group / "c.1.0.0.0").read_bytes) == errno.EIO
    assert len((group / "c.0.0.0.0").read_bytes()) == 3600
    whole = view(point, "zarr+size=40x30+chunk=2") / "all.zarr" / "images"
    assert errno_of((whole / "c.0.0.0.0").read_bytes) == errno.EIO
    assert len((whole / "c.1.0.0.0").read_bytes()) == 7200


@pytest.mark.parametrize("words,version", [("", 3), ("+format=2", 2), ("+chunk=16", 3), ("+format=2+chunk=7+layout=chw+dtype=f32", 2),
                                           ("+shard=16", 3), ("+shard=1000", 3), ("+shard=24+chunk=8+layout=chw+dtype=f32", 3)])  # fmt: skip
def test_zarr(mounted, readers, samples, wanted, words, version):
    """By id, by chunk and by shard; the last chunk is as large as the others, the last shard may have fewer."""
    path = view(mounted, f"zarr+{SIZE}{words}") / "train.zarr"
    found_version, images, labels, classes, part = ask(readers, "zarr_arrays", str(path), (20, 50))
    assert found_version == version
    shown = wanted
    if "f32" in words:
        shown = [(one.astype(numpy.float32) / numpy.float32(255)).transpose(2, 0, 1) for one in wanted]
    assert same(images, shown) and same(part, shown[20:50]) and images.dtype == shown[0].dtype
    assert labels.tolist() == [label for _, label in samples["train"]] and classes == CLASSES


@pytest.mark.parametrize("words,early", [("", True), ("", False), ("+chunk=16", True), ("+shard=16", False)])
def test_zarr_in_workers(mounted, readers, samples, wanted, words, early):
    found = ask(readers, "load", "zarr", str(view(mounted, f"zarr+{SIZE}{words}") / "train.zarr"), early, "fork", 4)
    assert same([image for image, _ in found], wanted)
    assert [label for _, label in found] == [label for _, label in samples["train"]]


def test_zarr_files(mounted, samples):
    """What lies in the folders of a group, and that an image is the same file in each group that has it."""
    group = view(mounted, f"zarr+{SIZE}") / "train.zarr"
    count = len(samples["train"])
    assert sorted(os.listdir(group)) == ["images", "labels", "zarr.json"]
    assert sorted(os.listdir(group / "images")) == sorted(["zarr.json", *(f"c.{i}.0.0.0" for i in range(count))])
    assert sorted(os.listdir(group / "labels")) == ["c.0", "zarr.json"]
    assert stat.S_IMODE((group / "images").stat().st_mode) == 0o555
    assert (group / "labels" / "c.0").stat().st_size == 8 * count
    for missing in (f"images/c.{count}.0.0.0", "images/c.01.0.0.0", "images/c.1.0.0", "images/1.0.0.0", "labels/c.1", "none"):
        assert errno_of(os.stat, group / missing) == errno.ENOENT
    assert (group / "..").stat().st_ino == view(mounted, f"zarr+{SIZE}").stat().st_ino
    assert (group / "images" / "..").stat().st_ino == group.stat().st_ino
    val = view(mounted, f"zarr+{SIZE}") / "val"
    names = {path.name for path in val.iterdir()}
    assert names == {"a", "c", "a.zarr", "c.zarr"} and os.listdir(val / "a") == []
    ours = [group.parent / "val.zarr" / "images" / "c.1.0.0.0", val / "c.zarr" / "images" / "c.0.0.0.0"]
    assert os.path.samefile(*ours)
    with open(ours[0], "rb") as file:
        assert file.read() == pixels(samples["val"][1][0]).tobytes()


def test_zarr_shards(room, augurpack, mounts, point, readers):
    """Large arrays have room between them; any part is the same at each read; an image that cannot be decoded is an error for itself."""
    broken = 5
    for i in range(9):
        (room / "tree" / "a" / f"{i}.jpg").parent.mkdir(parents=True, exist_ok=True)
        (room / "tree" / "a" / f"{i}.jpg").write_bytes(jpeg(i, 300)[: 900 if i == broken else None])
    mounts.mount(pack(augurpack, room / "tree", room / "store"), point, f"log={room}/log", "memory=64M")
    group = view(point, f"zarr+{LARGE}+shard=4") / "all.zarr"
    shards = [group / "images" / f"c.{i}.0.0.0" for i in range(3)]
    assert sorted(os.listdir(group / "images")) == sorted([*(shard.name for shard in shards), "zarr.json"])
    data = [shards[0].read_bytes(), None, shards[2].read_bytes()]
    for number, images in ((0, 4), (2, 1)):
        found = shards[number].stat()
        assert len(data[number]) == found.st_size and found.st_size % 4096 == 0
        assert found.st_blocks * 512 - 512 < images * 200 * 260 * 3 and found.st_blksize == 4096
    index = numpy.frombuffer(data[2], "<u8", 8).reshape(4, 2)
    assert index[0].tolist() == [4096, 200 * 260 * 3] and (index[1:] == 2**64 - 1).all()
    draw = random.Random(6)
    with open(shards[0], "rb", buffering=0) as file:
        for _ in range(100):
            offset, length = draw.randrange(len(data[0])), draw.choice([1, 68, 4096, 9000, 128 << 10, 1 << 20])
            assert os.pread(file.fileno(), length, offset) == data[0][offset : offset + length]
    for i in range(9):
        if i == broken:
            with pytest.raises(Exception, match="Input/output error"):
                ask(readers, "zarr_image", str(group), i)
        else:
            assert numpy.array_equal(ask(readers, "zarr_image", str(group), i), pixels(room / "tree" / "a" / f"{i}.jpg", 260, 200))


def test_mds(mounted, readers, samples):
    """StreamingDataset, all samples, with one shard and several."""
    wanted = [(pathlib.Path(path).read_bytes(), label, os.path.basename(path)) for path, label in samples["train"]]
    for words in ("", "+shards=7"):
        found, labels = ask(readers, "streaming", str(view(mounted, f"mds{words}") / "train.mds"))
        assert [one[:2] for one in found] == [one[:2] for one in wanted]
        assert [one[2] for one in found] == [one[2].replace("\udcff", "?") for one in wanted]
        assert labels == sorted(label for _, label, _ in wanted)


def test_mds_files(mounted):
    """What index.json says of the shards is so; no shard is empty."""
    folder = view(mounted, "mds+shards=5") / "val.mds"
    index = json.loads((folder / "index.json").read_text(encoding="ascii"))
    names = [shard["raw_data"]["basename"] for shard in index["shards"]]
    assert names == ["shard.00000.mds", "shard.00001.mds"] and sorted(os.listdir(folder)) == ["index.json", *names]
    for shard in index["shards"]:
        data = (folder / shard["raw_data"]["basename"]).read_bytes()
        assert len(data) == shard["raw_data"]["bytes"] == (folder / shard["raw_data"]["basename"]).stat().st_size
        count = int.from_bytes(data[:4], "little")
        places = numpy.frombuffer(data, "<u4", count + 1, 4).tolist()
        assert count == shard["samples"] == 1 and places[-1] == len(data) and data[places[0] + 8 :][:3] == b"\xff\xd8\xff"
        assert json.loads(data[4 + 4 * (count + 1) : places[0]])["column_names"] == ["image", "label", "name"]
    assert errno_of(os.stat, folder / "shard.00002.mds") == errno.ENOENT


def test_a_word_that_is_missing(mounted, ctl):
    """The view is refused, and augurctl says which word it needs."""
    for spec in ("h5", "zarr", "h5+size=256", "zarr+size=64x64+chunk=0", "zarr+size=8x8+shard=4+format=2", "h5+encoded+dtype=f32"):
        assert errno_of(os.stat, view(mounted, spec)) == errno.ENOENT
    done = run([ctl, "views", mounted, "h5"])
    assert done.returncode == 2 and "size is missing" in done.stderr and "size=WxH" in done.stderr


def test_as_the_root(room, archive_store, readers, samples, wanted, mounts, point):
    """-o view=zarr: the images' own nodes are those of the root's view."""
    mounts.mount(archive_store, point, f"log={room}/log", f"view=zarr+{SIZE}", "memory=64M")
    assert "train.zarr" in os.listdir(point)
    with open(point / "train.zarr" / "images" / "c.3.0.0.0", "rb") as file:
        assert file.read() == wanted[3].tobytes()


def test_reload_and_restart(room, augurpack, archive_tree, mounts, point, ctl, readers):
    """W21, L8: what is open keeps the bytes of its generation, the name has the next one, also for the daemon after that."""
    store = pack(augurpack, archive_tree / "val", room / "store")
    mounts.mount(store, point, f"log={room}/log", "memory=64M")
    folders = [view(point, f"{kind}+{SIZE}") for kind in ("h5", "zarr")]
    images = folders[1] / "all.zarr" / "images"
    moves = images / "c.1.0.0.0"
    more = room / "more"
    (more / "b").mkdir(parents=True)
    (more / "b" / "new.jpg").write_bytes(jpeg(500))
    with open(folders[0] / "all.h5", "rb") as file, open(moves, "rb") as chunk:
        before, chunk_before, inode = file.read(), chunk.read(), os.stat(images).st_ino
        assert run([augurpack, "append", "--quiet", more, store]).returncode == 0
        for command in ("reload", "restart"):
            done = run([ctl, command, point])
            assert done.returncode == 0, done.stderr
            for opened, wanted in ((file, before), (chunk, chunk_before)):
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                opened.seek(0)
                assert opened.read() == wanted
            assert ask(readers, "h5", str(folders[0] / "all.h5"))["labels"].tolist() == [0, 1, 2]
            _, shown, labels, classes, _ = ask(readers, "zarr_arrays", str(folders[1] / "all.zarr"), (0, 3))
            assert labels.tolist() == [0, 1, 2] and classes == ["a", "b", "c"]
            assert numpy.array_equal(shown[1], pixels(more / "b" / "new.jpg"))
            assert shown[2].tobytes() == chunk_before
            assert os.stat(images).st_ino != inode and os.fstat(chunk.fileno()).st_ino != os.stat(moves).st_ino
