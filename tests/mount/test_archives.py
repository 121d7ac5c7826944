# SPDX-License-Identifier: Apache-2.0
"""Views whose files are archives of many images: VIEWS.md, Archives, and SEMANTICS.md, V and W. The order, the labels and
the bytes are those that torchvision, tarfile, webdataset and timm find."""

import concurrent.futures
import errno
import io
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tarfile

import pytest
from patience import wait_until
from program_runs import run
from skips import needs_root, no_error_at_a_crash
from stores import pack
from system_calls import errno_of

pytest.importorskip("numpy")
pytest.importorskip("PIL.Image")

from archive_fixtures import archive_store, archive_tree, ask, mounted, readers, view  # noqa: E402, F401
from archive_tree import CLASSES, TIME, jpeg  # noqa: E402

pytestmark = needs_root

TRAIN = 172  # samples of `train`


@pytest.fixture(scope="module")
def samples(readers, archive_tree):
    """(bytes, label) of a folder in the order of torchvision, by the folder's name."""
    found = {}
    for name, folder in (("all", archive_tree), ("train", archive_tree / "train"), ("val", archive_tree / "val")):
        pairs, classes = ask(readers, "image_folder", str(folder))
        found[name] = [(pathlib.Path(path).read_bytes(), label) for path, label in pairs]
        assert name != "train" or classes == CLASSES
    return found


def shards_of(folder, name):
    """In the order of their numbers."""
    return sorted(path for path in folder.iterdir() if path.name.rpartition("-")[0] == name and path.suffix == ".tar")


def members(path):
    """[(name, bytes)] by the tarfile module, which checks the headers."""
    with tarfile.open(path, "r:") as archive:
        return [(one.name, archive.extractfile(one).read()) for one in archive]


def tar_samples(paths):
    """(bytes, label) in their order."""
    samples = []
    for path in paths:
        found = members(path)
        assert len(found) % 2 == 0
        for (name, data), (label_name, label) in zip(found[::2], found[1::2]):
            key, ending = os.path.splitext(name)
            assert "." not in os.path.basename(key) and label_name == key + ".cls"
            assert ending == (".png" if data[:4] == b"\x89PNG" else ".jpg")
            samples.append((data, int(label)))
    return samples


def test_samples_and_labels_are_torchvisions(mounted, samples):
    """Every sample and label, in order; a class without images keeps its number."""
    for name in ("train", "val"):
        wanted = samples[name]
        assert tar_samples([view(mounted, "tar") / f"{name}-000000.tar"]) == wanted
        assert len(wanted) == (TRAIN if name == "train" else 2)
    assert tar_samples([view(mounted, "tar") / "all-000000.tar"]) == samples["all"]


def test_an_image_outside_of_classes(mounted, archive_tree):
    """It counts where there is no class at all, with the label -1."""
    flat = [(archive_tree / "flat" / name).read_bytes() for name in ("1.jpg", "2.png")]
    assert tar_samples([view(mounted, "tar") / "flat-000000.tar"]) == [(data, -1) for data in flat]
    assert [name for name, _ in members(view(mounted, "tar") / "flat-000000.tar")] == ["1.jpg", "1.cls", "2.png", "2.cls"]


def test_keys(mounted):
    """Unique, without a dot, and the path of the file where that has none."""
    names = [name for name, _ in members(view(mounted, "tar") / "train-000000.tar")]
    keys = [os.path.splitext(name)[0] for name in names[::2]]
    assert len(set(keys)) == len(keys) == TRAIN
    for key in ("a/x/1", "a/x-y/1", "a/large", "n01/n01_149", "d_link/1", "d_link/below/2", "c/ümläut", "c/odd \udcff",
                "c/no ending", "c/" + "n" * 240, "c/_hidden", "c/__jpg", f"c/{'odd ' * 40}\udcff"):
        assert key in keys
    numbered = {key.rpartition("~")[0]: int(key.rpartition("~")[2]) for key in keys if "~" in key}
    assert set(numbered) == {"c/with_many_dots", "c/same", "c/til~de"}
    assert sorted(key.rpartition("~")[0] for key in keys if "~" in key) == ["c/same", "c/same", "c/til~de", "c/with_many_dots",
                                                                          "c/with_many_dots"]
    assert all(keys[number].startswith(key) for key, number in numbered.items())


def test_webdataset(mounted, readers, samples):
    """The pipeline of its documentation finds all samples of all shards."""
    folder = view(mounted, "tar+shards=5")
    urls = [str(path) for path in shards_of(folder, "train")]
    assert [os.path.basename(url) for url in urls] == [f"train-{i:06}.tar" for i in range(5)]
    assert ask(readers, "web_dataset", urls) == samples["train"]


def test_timm(mounted, readers, samples):
    """`wds/` of timm finds shards and counts in _info.json."""
    for split in ("train", "val"):
        count, labels = ask(readers, "timm_labels", "wds/", str(view(mounted, "tar+shards=2")), split)
        assert count == len(samples[split])
        assert labels == [label for _, label in samples[split]]


def test_info(mounted):
    folder = view(mounted, "tar+shards=3")
    info = json.loads((folder / "_info.json").read_text(encoding="utf-8"))
    assert set(info["splits"]) == {"all", "train", "val", "flat", "linked"}
    for name, split in info["splits"].items():
        assert split["filenames"] == [path.name for path in shards_of(folder, name)]
        assert split["shard_lengths"] == [len(members(folder / file)) // 2 for file in split["filenames"]]
        assert split["num_samples"] == sum(split["shard_lengths"])


def test_gnu_tar(mounted, room):
    """It lists and extracts what tarfile reads, and finds no fault."""
    archive = view(mounted, "tar") / "train-000000.tar"
    found = subprocess.run(["tar", "--quoting-style=literal", "-tf", archive], capture_output=True, check=True)
    assert found.stderr == b""
    assert found.stdout.split(b"\n")[:-1] == [os.fsencode(name) for name, _ in members(archive)]
    done = subprocess.run(["tar", "-xf", archive, "-C", room], capture_output=True, check=True)
    assert done.stderr == b""
    for name, data in members(archive):
        assert (room / name).read_bytes() == data
        assert (room / name).stat().st_mtime == TIME


def test_libarchive(mounted, augurpack, room):
    """An archive can be packed again: libarchive reads it, too."""
    archive = view(mounted, "tar+shards=2") / "train-000001.tar"
    done = run([augurpack, "create", "--quiet", archive, room / "store"])
    assert (done.returncode, done.stderr) == (0, "")
    assert run([augurpack, "extract", "--quiet", room / "store", room / "out"]).returncode == 0
    found = {str(path.relative_to(room / "out")): path.read_bytes() for path in (room / "out").rglob("*") if path.is_file()}
    assert found == dict(members(archive))


def test_listing(mounted):
    """The folders, and beside each of those that have samples its archives; a listed name is found, a missing one is not."""
    folder = view(mounted, "tar+shards=2")
    shards = [f"{name}-00000{i}.tar" for name in ("all", "flat", "linked", "train", "val") for i in range(2)]
    assert sorted(os.listdir(folder)) == sorted(["empty", "flat", "linked", "train", "val", "_info.json", *shards])
    assert sorted(os.listdir(folder / "val")) == ["_info.json", "a", "a-000000.tar", "a-000001.tar", "c", "c-000000.tar",
                                                  "c-000001.tar"]
    assert os.listdir(folder / "val" / "a") == []
    for name in shards:
        assert (folder / name).stat().st_size == len((folder / name).read_bytes())
    for missing in ("train-000002.tar", "empty-000000.tar", "train-00000.tar", "train-0000000.tar", "none-000000.tar",
                    "top.jpg", "train/a/2.jpg", "val/_info.json/x", "flat/_info.json"):
        assert errno_of(os.stat, folder / missing) in (errno.ENOENT, errno.ENOTDIR)
    assert (folder / "train" / "d_link").is_symlink()


def test_shards(mounted, samples):
    """shards=S cuts the order into S parts of one length, also more than there are samples; shard=SIZE by bytes."""
    wanted = samples["train"]
    for count in (1, 7, 200):
        paths = shards_of(view(mounted, f"tar+shards={count}"), "train")
        assert len(paths) == count
        for i, path in enumerate(paths):
            assert tar_samples([path]) == wanted[i * TRAIN // count : (i + 1) * TRAIN // count]
    paths = shards_of(view(mounted, "tar+shard=64K"), "train")
    assert tar_samples(paths) == wanted
    for path in paths:
        assert path.stat().st_size <= 64 << 10 or len(members(path)) == 2
    assert len(paths) > 5


def test_shuffle(mounted, samples):
    """The order is what Python's own shuffle makes of it."""
    wanted = list(samples["train"])
    random.Random(42).shuffle(wanted)
    assert tar_samples(shards_of(view(mounted, "tar+shuffle=42+shards=3"), "train")) == wanted


def test_any_part_is_the_same(mounted):
    """W18: reads at any offset, of any length, by several at once, give the bytes of one read from the beginning."""
    path = view(mounted, "tar+shuffle=1") / "train-000000.tar"
    whole = path.read_bytes()
    assert len(whole) == path.stat().st_size
    descriptor = os.open(path, os.O_RDONLY)

    def check(seed):
        draw = random.Random(seed)
        for _ in range(150):
            offset = draw.randrange(len(whole) + 1000)
            length = draw.choice([1, 4, 511, 512, 5000, 128 << 10, 1 << 20, 3 << 20])
            if draw.random() < 0.1:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            assert os.pread(descriptor, length, offset) == whole[offset : offset + length]

    try:
        with concurrent.futures.ThreadPoolExecutor(4) as readers:
            list(readers.map(check, range(8)))
    finally:
        os.close(descriptor)


def test_attributes(mounted, archive_tree, samples):
    """W19: du tells what the images take, and programs read in pieces of 1 MiB."""
    found = (view(mounted, "tar") / "train-000000.tar").stat()
    stored = sum(len(data) for data, _ in samples["train"])
    assert found.st_blocks == (stored + 511) // 512
    assert found.st_blksize == 1 << 20
    assert found.st_mode == 0o100444
    assert found.st_mtime == (archive_tree / "train").stat().st_mtime
    assert (view(mounted, "tar") / "train-000000.tar").stat().st_ino == found.st_ino


def test_as_the_root(room, archive_store, samples, mounts, point):
    """-o view=tar; small memory is enough for many small images in one READ."""
    mounts.mount(archive_store, point, "view=tar+shards=1", "memory=40M")
    assert tar_samples([point / "train-000000.tar"]) == samples["train"]
    assert "train-000000.tar" in os.listdir(point)


def test_a_damaged_record(room, augurpack, archive_tree, mounts, point):
    """W18: a READ that touches it is EIO as a whole; all other parts of the archive are there."""
    store = pack(augurpack, archive_tree, room / "store")
    victim = (archive_tree / "train/n01/n01_77.JPEG").read_bytes()
    (shard,) = [path for path in store.iterdir() if path.name.startswith("shard-") and victim in path.read_bytes()]
    data = bytearray(shard.read_bytes())
    data[data.index(victim) + 100] ^= 1
    shard.write_bytes(data)
    mounts.mount(store, point, f"log={room}/log")
    path = view(point, "tar") / "train" / "n01-000000.tar"
    size = path.stat().st_size
    wanted = io.BytesIO()
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        bad = []
        for offset in range(0, size, 512):
            try:
                wanted.write(os.pread(descriptor, 512, offset))
            except OSError as error:
                assert error.errno == errno.EIO
                bad.append(offset)
                wanted.write(b"?" * 512)
    finally:
        os.close(descriptor)
    assert bad == list(range(bad[0], bad[0] + len(victim), 512))
    assert wanted.getvalue()[bad[0] - 512 :].startswith(b"n01_77.jpg\0")


@no_error_at_a_crash
def test_a_killed_daemon(room, archive_store, samples, mounts, point):
    """L8, W19: an open archive goes on, with the same bytes and the same inode number."""
    pid = mounts.mount(archive_store, point, f"log={room}/log", "memory=64M")
    path = view(point, "tar+shards=2") / "train-000001.tar"
    with open(path, "rb") as archive:
        inode = os.fstat(archive.fileno()).st_ino
        whole = archive.read()
        os.kill(pid, signal.SIGKILL)
        archive.seek(0)
        os.posix_fadvise(archive.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        assert archive.read() == whole
    assert path.stat().st_ino == inode
    assert tar_samples([path]) == samples["train"][TRAIN // 2 :]


@pytest.mark.parametrize("root", [False, True])
def test_reload(room, augurpack, archive_tree, mounts, point, ctl, root):
    """W21: an open archive keeps the bytes of its generation; the name is the archive of the next one."""
    store = pack(augurpack, archive_tree / "val", room / "store")
    mounts.mount(store, point, f"log={room}/log", *(["view=tar"] if root else []))
    folder = point if root else view(point, "tar")
    before = (folder / "all-000000.tar").read_bytes()
    assert errno_of(os.stat, folder / "b-000000.tar") == errno.ENOENT
    assert sorted(os.listdir(folder)) == ["_info.json", "a", "a-000000.tar", "all-000000.tar", "c", "c-000000.tar"]
    more = room / "more"
    (more / "b").mkdir(parents=True)
    (more / "b" / "new.jpg").write_bytes(jpeg(500))
    with open(folder / "all-000000.tar", "rb") as archive:
        old_inode = os.fstat(archive.fileno()).st_ino
        for generation in (2, 3):
            (more / "b" / f"new{generation}.jpg").write_bytes(jpeg(500 + generation))
            assert run([augurpack, "append", "--replace", "--quiet", more, store]).returncode == 0
            done = run([ctl, "reload", "--json", point])
            assert (done.returncode, done.stderr) == (0, "")
            os.posix_fadvise(archive.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            archive.seek(0)
            assert archive.read() == before
            after = tar_samples([folder / "all-000000.tar"])
            assert [label for _, label in after] == [0] + [1] * generation + [2]
            assert (folder / "all-000000.tar").stat().st_ino != old_inode
            assert tar_samples([folder / "b-000000.tar"])[0] == (jpeg(500), -1)
            wait_until(lambda: "b-000000.tar" in os.listdir(folder), lambda: os.listdir(folder))
            assert os.stat(folder / "_info.json").st_size == len((folder / "_info.json").read_bytes())
    run([ctl, "restart", point])
    assert [label for _, label in tar_samples([folder / "all-000000.tar"])] == [0] + [1] * 3 + [2]


def test_folders_in_a_circle(room, augurpack, archive_tree, mounts, point):
    """W20: the folder has no archives, the log says why, and all others have theirs."""
    tree = room / "tree"
    shutil.copytree(archive_tree / "val", tree / "val")
    (tree / "round" / "a").mkdir(parents=True)
    (tree / "round" / "a" / "up").symlink_to("..")
    mounts.mount(pack(augurpack, tree, room / "store"), point, f"log={room}/log")
    assert sorted(os.listdir(view(point, "tar"))) == ["_info.json", "round", "val", "val-000000.tar"]
    assert errno_of(os.stat, view(point, "tar") / "round-000000.tar") == errno.ENOENT
    assert "the archives of folder 'round': folders form a circle" in (room / "log").read_text(encoding="utf-8")


def test_a_wrong_word(room, archive_store, mounts):
    """An error of the command line, with the cure."""
    (room / "mount").mkdir()
    done = run([mounts.program, "-o", "view=tar+size=224", archive_store, room / "mount"])
    assert done.returncode == 2
    assert "size=224: only for npy, pt, pixels, h5 or zarr" in done.stderr
