# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt and create of HDF5 files: written by h5py, and damaged where we know what lies there."""

import contextlib
import random
import struct
import zlib

import pytest
from adopt_support import adopted, copied, refused
from container_files import PNG, jpeg
from pack_support import run, write

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")

IMAGES = [jpeg(i, 100 + 700 * i) for i in range(12)]
FORMS = ["earliest", "latest"]


def array(data):
    return np.frombuffer(data, np.uint8)


def both(augurpack, path, *options):
    files = adopted(augurpack, path, *options)
    assert files == copied(augurpack, path, *options)
    return files


def sequences(group, images=IMAGES, name="images", **options):
    """A dataset of sequences of bytes."""
    dataset = group.create_dataset(name, (len(images),), dtype=h5py.vlen_dtype(np.uint8), **options)
    for i, image in enumerate(images):
        if image:
            dataset[i] = array(image)
    return dataset


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", [{}, {"chunks": (5,)}, {"chunks": (100,), "maxshape": (100,)}], ids=["contiguous", "chunks", "single"])
def test_sequences_with_labels_and_names(augurpack, tmp_path, form, options):
    """Images stand in the heap as they are, whatever the layout of the references."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w", libver=form) as file:
        for number, split in enumerate(("train", "val")):
            group = file.create_group(split)
            sequences(group, IMAGES[number:], **options)
            group["labels"] = np.arange(12 - number, dtype=np.int64) % 3
            group.create_dataset("paths", data=[f"{i}.JPEG" for i in range(12 - number)], dtype=h5py.string_dtype())
            group["class_names"] = np.array([b"cat", b"dog", b"elk"])
            group["pixels"] = np.zeros((12, 4, 4, 3), np.uint8)
    with h5py.File(path) as file:  # what h5py reads
        wanted = {f"{split}/{file[split]['class_names'][file[split]['labels'][i]].decode()}/{file[split]['paths'][i].decode()}".encode():
                  file[split]["images"][i].tobytes() for split in file for i in range(len(file[split]["images"]))}  # fmt: skip
    assert len(wanted) == 23
    assert both(augurpack, path) == wanted
    # What was used as labels, names or names of classes is not left out.
    done = run(augurpack, "adopt", path, tmp_path / "said")
    assert f"left out: 2 items that are not shown, the first: {path}: 'train/pixels': a dataset that has no image files".encode() in done.stdout


def test_names_and_labels_of_other_kinds(augurpack, tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        sequences(file, [*IMAGES[:3], b""])
        file["y"] = np.array([b"b", b"a", b"b", b"a"])
        file["id"] = np.array([7, 8, 9, 10], np.uint16)
        file["file_name"] = np.array([b"d/1.jpg", b"d/2.jpg", b"e/3.jpg", b"e/4.jpg"])
    assert both(augurpack, path) == {b"d/1.jpg": IMAGES[0], b"d/2.jpg": IMAGES[1], b"e/3.jpg": IMAGES[2]}
    path.rename(tmp_path / "y.h5")
    assert set(both(augurpack, tmp_path / "y.h5", "--names-from=id")) == {b"b/7.jpg", b"a/8.jpg", b"b/9.jpg"}
    assert "has no names in 'z'" in refused(augurpack, tmp_path / "y.h5", "--names-from=z")
    names = write(tmp_path / "names", b"x\ny\n")
    with h5py.File(tmp_path / "z.h5", "w") as file:
        sequences(file, IMAGES[:3])
        file["label"] = np.array([1, 0, -1], np.int32)
    assert set(both(augurpack, tmp_path / "z.h5", f"--folders-from={names}")) == {b"y/00000000.jpg", b"x/00000001.jpg", b"00000002.jpg"}
    (tmp_path / "z.h5").rename(tmp_path / "w.h5")
    assert set(both(augurpack, tmp_path / "w.h5")) == {b"000001/00000000.jpg", b"000000/00000001.jpg", b"00000002.jpg"}


@pytest.mark.parametrize("form", FORMS)
def test_a_dataset_an_image(augurpack, tmp_path, form):
    """Arrays of bytes and opaque ones, in groups of which the old form has hundreds of names: the tree is that of the file."""
    path = tmp_path / "x.h5"
    count = 300 if form == "earliest" else 6
    wanted = {}
    with h5py.File(path, "w", libver=form) as file:
        for label in ("n01", "n02"):
            for i in range(count):
                image = jpeg(f"{label} {i}", 60 + i)
                file[f"train/{label}/{i}.JPEG"] = array(image) if i % 2 else np.void(image)
                wanted[f"train/{label}/{i}.JPEG".encode()] = image
        file.create_dataset("chunk", data=array(IMAGES[9]), chunks=(len(IMAGES[9]),))
        file.create_dataset("rows", data=array(PNG), chunks=(1000,), maxshape=(1000,))
        file["meta/about"] = "a text"
        file["soft"] = h5py.SoftLink("/rows")
        file["far"] = h5py.ExternalLink("other.h5", "/rows")
    assert both(augurpack, path) == wanted | {b"chunk.jpg": IMAGES[9], b"rows.png": PNG}


def test_what_can_only_be_copied(augurpack, tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a.jpg", data=array(IMAGES[5]), chunks=(1000,), compression="gzip", compression_opts=9)
        file.create_dataset("b.jpg", data=array(IMAGES[6]), chunks=(700,), fletcher32=True)
        file.create_dataset("c.jpg", data=array(IMAGES[7]), chunks=(600,), shuffle=True, fletcher32=True, compression="gzip")
        apart = file.create_dataset("d.jpg", (len(IMAGES[8]),), np.uint8, chunks=(900,))
        for begin in reversed(range(0, len(IMAGES[8]), 900)):
            apart[begin : begin + 900] = array(IMAGES[8][begin : begin + 900])
            file.flush()
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((len(PNG),))
        h5py.h5d.create(file.id, b"e", h5py.h5t.STD_U8LE, space, compact).write(h5py.h5s.ALL, h5py.h5s.ALL, array(PNG))
    assert copied(augurpack, path) == {b"a.jpg": IMAGES[5], b"b.jpg": IMAGES[6], b"c.jpg": IMAGES[7], b"d.jpg": IMAGES[8], b"e.png": PNG}
    assert "'a.jpg': its image is compressed or in pieces" in refused(augurpack, path)


def test_a_fixed_array_of_chunks(augurpack, tmp_path):
    """More chunks than a page of the index has, with and without filters."""
    images = [jpeg(i, 20) for i in range(2100)]
    with h5py.File(tmp_path / "x.h5", "w", libver="latest") as file:
        sequences(file, images, chunks=(2,))
    assert both(augurpack, tmp_path / "x.h5") == {b"%08d.jpg" % i: image for i, image in enumerate(images)}
    large = jpeg("large", 25_000)
    with h5py.File(tmp_path / "y.h5", "w", libver="latest") as file:
        for name, options in {"a": {"compression": "gzip"}, "b": {"compression": "gzip", "shuffle": True, "fletcher32": True}}.items():
            file.create_dataset(name, data=array(large), chunks=(10,), **options)
    assert copied(augurpack, tmp_path / "y.h5") == {b"a.jpg": large, b"b.jpg": large}


def test_what_has_no_image_files(augurpack, tmp_path):
    cases = {"pixels": lambda file: file.create_dataset("images", data=np.zeros((5, 8, 8, 3), np.uint8)), "empty": lambda file: None,
             "numbers": lambda file: file.create_dataset("x", data=np.arange(5000))}  # fmt: skip
    for name, make in cases.items():
        with h5py.File(tmp_path / name, "w") as file:
            make(file)
        for command in ("adopt", "create"):
            done = run(augurpack, command, tmp_path / name, tmp_path / "store", ok=(2,))
            assert "nothing in it is an image file" in done.error and f"{tmp_path / name}: " in done.error


def test_forms_that_are_not_read(augurpack, tmp_path):
    with h5py.File(tmp_path / "lzf", "w") as file:
        file.create_dataset("x", data=array(IMAGES[3]), chunks=(100,), compression="lzf")
    with h5py.File(tmp_path / "grows", "w", libver="latest") as file:
        sequences(file, chunks=(3,), maxshape=(None,))
    with h5py.File(tmp_path / "dense", "w", libver="latest") as file:
        for i in range(20):
            file[f"{i}"] = array(PNG)
    with h5py.File(tmp_path / "user", "w", userblock_size=512) as file:
        file["x"] = array(PNG)
    external = write(tmp_path / "data.raw", PNG)
    with h5py.File(tmp_path / "external", "w") as file:
        file.create_dataset("x", (len(PNG),), np.uint8, external=[(str(external), 0, len(PNG))])
    causes = {"lzf": "has filter 32000 (lzf)", "grows": "libver='latest'", "dense": "in a fractal heap",
              "external": "its data in other files"}  # fmt: skip
    for name, cause in causes.items():
        done = run(augurpack, "create", tmp_path / name, tmp_path / "store", ok=(2,))
        assert cause in done.error and f"{tmp_path / name}: " in done.error, done.error
    assert f"{tmp_path / 'user'}: " in run(augurpack, "create", tmp_path / "user", tmp_path / "store", ok=(2,)).error


def test_what_was_never_written_takes_no_memory(augurpack, tmp_path):
    """A file of some KiB may say that it has any number of elements: each is zero, and would be a text in memory."""
    def lists(file, count, **beside):
        file.create_dataset("images", (count,), h5py.vlen_dtype(np.uint8))[0] = array(PNG)
        for name, shape in beside.items():
            file.create_dataset(name, shape, np.int8 if name == "labels" else "S1")

    cases = {
        "images": (lambda file: file.create_dataset("images", (1 << 25,), h5py.vlen_dtype(np.uint8)), "'images' has more elements than"),
        "class names": (lambda file: lists(file, 3, labels=(3,), class_names=(1 << 29,)), "'class_names' has more elements than"),
        "bytes": (lambda file: file.create_dataset("x.jpg", (1 << 29,), np.uint8), "'x.jpg': has more data than the file"),
    }  # fmt: skip
    for name, (make, cause) in cases.items():
        with h5py.File(tmp_path / name, "w") as file:
            make(file)
        for command in ("adopt", "create"):
            assert cause in refused(augurpack, tmp_path / name, command=command)


def test_a_chunk_that_swells(augurpack, tmp_path):
    """It says that it has 512 MiB, unpacked from some hundred bytes."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x.png", data=array(PNG), chunks=(len(PNG),), compression="gzip")
    data = path.read_bytes()
    write(path, put(data, nth(data, struct.pack("<II", len(PNG), 1)), "I", 1 << 29))
    done = run(augurpack, "create", path, tmp_path / "store", ok=(2,))
    assert f"{path}: 'x.png': a chunk of it cannot be unpacked" in done.error


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A file of the old form, whose structures can be found by their signatures."""
    path = tmp_path_factory.mktemp("good") / "x.h5"
    with h5py.File(path, "w") as file:
        sequences(file, IMAGES, chunks=(5,))
        file["labels"] = np.arange(12) % 2
        file["one/two/a.jpg"] = array(IMAGES[4])
        file.create_dataset("one/b.jpg", data=array(IMAGES[7]), chunks=(1500,), compression="gzip", fletcher32=True)
    return path.read_bytes()


def put(data, at, form, *values):
    out = bytearray(data)
    struct.pack_into("<" + form, out, at, *values)
    return bytes(out)


def nth(data, word, n=0):
    at = -1
    for _ in range(n + 1):
        at = data.index(word, at + 1)
    return at


def tree_of_chunks(data):
    return next(at for at in range(len(data)) if data[at : at + 6] == b"TREE\1\0")


def tree_of_names(data):
    return next(at for at in range(len(data)) if data[at : at + 6] == b"TREE\0\0")


def root_object(data):
    return struct.unpack_from("<Q", data, 64)[0]


def flipped_chunk(data):
    """A byte within the chunk that has a checksum."""
    for at in range(len(data)):
        if data[at : at + 1] == b"x":
            with contextlib.suppress(zlib.error):
                if len(zlib.decompressobj().decompress(data[at:])) == 1500:
                    return data[: at + 60] + bytes([data[at + 60] ^ 1]) + data[at + 61 :]
    raise AssertionError


BAD = {
    "cut": (lambda d: d[:-1], "and must have"),
    "cut in half": (lambda d: d[: len(d) // 2], "and must have"),
    "cut in the beginning": (lambda d: d[:40], "ends within its beginning"),
    "version": (lambda d: put(d, 8, "B", 9), "has version 9"),
    "sizes": (lambda d: put(d, 13, "B", 4), "addresses of other than 8 bytes"),
    "base": (lambda d: put(d, 24, "Q", 512), "something in front"),
    "root leaves": (lambda d: put(d, 64, "Q", 1 << 60), "leaves the file"),
    "root is none": (lambda d: put(d, 64, "Q", nth(d, b"GCOL")), "there is no object"),
    "object too long": (lambda d: put(d, root_object(d) + 8, "I", 1 << 31), "an object has over 64 MiB"),
    "message too long": (lambda d: put(d, root_object(d) + 18, "H", 60000), "leaves it"),
    "heap of names": (lambda d: d.replace(b"HEAP", b"HEEP", 1), "heap of names is not where"),
    "heap leaves": (lambda d: put(d, nth(d, b"HEAP") + 24, "Q", 1 << 50), "leaves the file"),
    "name leaves": (lambda d: put(d, nth(d, b"SNOD") + 8, "Q", 1 << 40), "a name of a group leaves its heap"),
    "tree of names": (lambda d: d.replace(b"TREE\0", b"TREE\7", 1), "the tree of a group is not where"),
    "tree of names leaves": (lambda d: put(d, tree_of_names(d) + 32, "Q", 1 << 40), "leaves the file"),
    "tree of names loops": (lambda d: put(put(d, tree_of_names(d) + 5, "B", 1), tree_of_names(d) + 32, "Q", tree_of_names(d)), "twice"),
    "names loop": (lambda d: put(put(d, tree_of_names(d) + 6, "H", 2), tree_of_names(d) + 48, "Q",
                                 struct.unpack_from("<Q", d, tree_of_names(d) + 32)[0]), "leads in a circle"),
    "names cut": (lambda d: put(d, nth(d, b"SNOD") + 6, "H", 65535), "leaves the file"),
    "group within itself": (lambda d: put(d, nth(d, b"SNOD") + 16, "Q", root_object(d)), "is within itself, or there twice"),
    "collection": (lambda d: d.replace(b"GCOL", b"GCAL", 1), "where no heap is"),
    "collection leaves": (lambda d: put(d, nth(d, b"GCOL") + 8, "Q", 1 << 40), "leaves the file"),
    "object of heap": (lambda d: put(d, nth(d, b"GCOL") + 24, "Q", 1 << 40), "leads to a heap that is broken"),
    "number in heap": (lambda d: put(d, nth(d, b"GCOL") + 16, "H", 99), "is not in its heap"),
    "tree of chunks": (lambda d: d.replace(b"TREE\1", b"TREE\6", 1), "the tree of its chunks is not where"),
    "tree of chunks loops": (lambda d: put(put(d, tree_of_chunks(d) + 5, "B", 1), tree_of_chunks(d) + 48, "Q", tree_of_chunks(d)),
                             "leads in a circle"),
    "chunk leaves": (lambda d: put(d, tree_of_chunks(d) + 48, "Q", 1 << 40), "leaves the file"),
    "chunk twice": (lambda d: put(d, tree_of_chunks(d) + 64, "Q", 0), "is there twice"),
    "chunk within": (lambda d: put(d, tree_of_chunks(d) + 64, "Q", 3), "begins within another"),
    "chunk short": (lambda d: put(d, tree_of_chunks(d) + 24, "I", 17), "cannot be unpacked"),
    "chunk damaged": (flipped_chunk, "of it"),
}  # fmt: skip


@pytest.mark.parametrize("change, cause", BAD.values(), ids=BAD)
def test_bad_files(augurpack, tmp_path, good, change, cause):
    path = write(tmp_path / "x.h5", change(good))
    done = run(augurpack, "create", path, tmp_path / "store", ok=(2,))
    assert done.error.startswith(f"augurpack: {path}: ") and cause in done.error, done.error
    assert not (tmp_path / "store" / "manifest").exists()
    assert f"augurpack: {path}: " in refused(augurpack, path)


def test_random_damage(augurpack, tmp_path, good):
    """Whatever is wrong, a run ends by itself, and says what is wrong or takes bytes of the file."""
    rng = random.Random(6)
    structures = [at for word in (b"TREE", b"SNOD", b"GCOL", b"HEAP") for at in range(len(good)) if good.startswith(word, at)]
    refusals = 0
    for number in range(30):
        data = bytearray(good)
        for _ in range(rng.choice([1, 2, 5])):
            at = rng.choice([rng.randrange(2000), rng.choice(structures) + rng.randrange(120), rng.randrange(len(data))])
            data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        path = write(tmp_path / f"{number}.h5", bytes(data))
        done = run(augurpack, "create", "-q", path, tmp_path / f"{number}", ok=(0, 2))
        refusals += done.returncode == 2
        assert done.returncode == 0 or done.error.startswith(f"augurpack: {path}: ")
    assert refusals > 5
