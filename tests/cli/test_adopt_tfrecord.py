# SPDX-License-Identifier: Apache-2.0
"""augurpack adopt: the images within TFRecord files."""

import gzip
import json
import random
import zlib

import pytest
from adopt_support import cause_of, files_of, refused
from container_files import PNG, example, field, frame, jpeg, masked_crc32c, tfrecord
from pack_support import reader, run, store_entries, write
from test_adopt import tar_of


def imagenet(i, label, synset, **more):
    return example(image__class__label=label, image__class__synset=synset, image__encoded=jpeg(i), image__height=3,
                   image__filename=f"{synset}_{i}.JPEG", image__object__bbox__xmin=[0.5, 0.25], image__class__text="a fish", **more)  # fmt: skip


def test_imagenet(augurpack, tmp_path):
    """Nothing is copied, and each image is where it lies in the file."""
    paths = []
    for shard in range(2):
        data = tfrecord(*(imagenet(i, i % 3 + 1, f"n0000000{i % 3}") for i in range(shard * 9, shard * 9 + 9)))
        paths.append(write(tmp_path / f"train-{shard:05}-of-00002", data))
    summary = json.loads(run(augurpack, "adopt", "--json", *paths, tmp_path / "store").stdout)
    assert summary["stored_bytes"] == 0 and summary["left_out"] == 0
    assert files_of(tmp_path / "store") == {f"n0000000{i % 3}/n0000000{i % 3}_{i}.JPEG".encode(): jpeg(i) for i in range(18)}
    run(augurpack, "verify", tmp_path / "store")
    with reader.Store(tmp_path / "store") as store:
        entries = store_entries(store)
        offsets = {entries[f"n0000000{i % 3}/n0000000{i % 3}_{i}.JPEG".encode()].offset for i in range(9)}
        assert offsets == {paths[0].read_bytes().index(jpeg(i)) for i in range(9)}
        assert entries[b"n00000000/n00000000_0.JPEG"].mtime[0] == int(paths[0].stat().st_mtime)


def test_tensorflow_datasets_with_and_without_names_of_labels(augurpack, tmp_path):
    records = [example(image=jpeg(i), label=i, file_name=f"photo {i}") for i in range(3)]
    path = write(tmp_path / "x-train.tfrecord-00000-of-00001", tfrecord(*records))
    run(augurpack, "adopt", path, tmp_path / "numbers")
    assert files_of(tmp_path / "numbers") == {b"%06d/photo %d.jpg" % (i, i): jpeg(i) for i in range(3)}
    write(tmp_path / "label.labels.txt", b"tench\ngoldfish\nshark\n")
    run(augurpack, "adopt", path, tmp_path / "names")
    names = [b"tench", b"goldfish", b"shark"]
    assert files_of(tmp_path / "names") == {b"%s/photo %d.jpg" % (names[i], i): jpeg(i) for i in range(3)}
    labels = write(tmp_path / "mine", b"2:c\n1 b\n0\ta x\n")
    run(augurpack, "adopt", f"--folders-from={labels}", path, tmp_path / "mine.augur")
    assert set(files_of(tmp_path / "mine.augur")) == {b"a x/photo 0.jpg", b"b/photo 1.jpg", b"c/photo 2.jpg"}


def test_names_of_labels_in_dataset_info(augurpack, tmp_path):
    path = write(tmp_path / "x", tfrecord(example(image=PNG, label=1), example(image=PNG, label=-1)))
    info = {"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}, "image": {"_type": "Image"}}}
    write(tmp_path / "dataset_info.json", json.dumps(info).encode())
    run(augurpack, "adopt", path, tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"dog/00000000.png": PNG, b"00000001.png": PNG}


def test_names(augurpack, tmp_path):
    """Numbers where there are none, in the order of the records; those of another key on demand."""
    for name in ("a.tfrecord", "b.tfrecord"):
        write(tmp_path / name, tfrecord(*(example(key=i + 7, img=jpeg(i), path=f"x/{i}.jpeg") for i in range(2))))
    paths = [tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"]
    run(augurpack, "adopt", paths[0], tmp_path / "one")
    assert files_of(tmp_path / "one") == {b"00000000.jpg": jpeg(0), b"00000001.jpg": jpeg(1)}
    run(augurpack, "adopt", *paths, tmp_path / "two")
    assert set(files_of(tmp_path / "two")) == {b"a-00000000.jpg", b"a-00000001.jpg", b"b-00000000.jpg", b"b-00000001.jpg"}
    run(augurpack, "adopt", "--names-from=path", paths[0], tmp_path / "paths")
    assert set(files_of(tmp_path / "paths")) == {b"x/0.jpeg", b"x/1.jpeg"}
    run(augurpack, "adopt", "--names-from=key", paths[0], tmp_path / "keys")
    assert files_of(tmp_path / "keys") == {b"7.jpg": jpeg(0), b"8.jpg": jpeg(1)}
    assert "has no name in 'file'" in refused(augurpack, paths[0], "--names-from=file")


def test_wire_format(augurpack, tmp_path):
    """Unknown fields, a value before its key, and numbers that are not packed."""
    unpacked = field(3, field(1, 5))
    entry = field(2, unpacked) + field(9, b"unknown") + field(1, b"label") + b"\x79" + bytes(8) + b"\x7d" + bytes(4)
    features = field(1, entry) + field(1, field(1, b"image") + field(2, field(1, field(1, PNG)))) + field(7, 300)
    write(tmp_path / "x", tfrecord(field(1, features)))
    run(augurpack, "adopt", tmp_path / "x", tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"000005/00000000.png": PNG}


def test_records_across_pieces_and_with_a_tar_beside(augurpack, tmp_path):
    """The file is read in pieces of 4 MiB. Containers of several kinds make one tree."""
    images = [jpeg(i, size) for i, size in enumerate([10, 1 << 20, (1 << 20) + 1, 900_000, 1_400_000])]
    path = write(tmp_path / "x.tfrecord", tfrecord(*(example(image=data, file_name=f"{i}.jpg") for i, data in enumerate(images))))
    tar = write(tmp_path / "x.tar", tar_of({"d/5.jpg": jpeg(5)}))
    run(augurpack, "adopt", path, tar, tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"%d.jpg" % i: data for i, data in enumerate(images)} | {b"d/5.jpg": jpeg(5)}


def test_compressed_files_name_the_cure(augurpack, tmp_path):
    records = tfrecord(example(image=PNG))
    error = refused(augurpack, write(tmp_path / "x.tfrecord", gzip.compress(records)))
    assert "compressed TFRecord file" in error and "'augurpack create'" in error and "gzip -dc" in error
    for level in (1, 6, 9):
        error = refused(augurpack, write(tmp_path / "x.tfrecord", zlib.compress(records, level)))
        assert "TFRecord file compressed by ZLIB" in error and "pigz -dc" in error and "augurpack create" not in error


GOOD = tfrecord(*(example(image=jpeg(i), label=i) for i in range(3)))
SECOND = len(frame(example(image=jpeg(0), label=0)))


def damaged(at, data=b"?", good=GOOD):
    return good[:at] + data + good[at + len(data) :]


def with_length(length):
    head = length.to_bytes(8, "little")
    return damaged(SECOND, head + masked_crc32c(head))


@pytest.mark.parametrize("data, cause", [
    (GOOD[:-1], "ends within a record's frame"),
    (GOOD[:-4], "ends within a record's frame"),
    (GOOD[: SECOND + 5], "ends within a record's frame"),
    (GOOD[: SECOND + 12], "ends within a record's frame"),
    (GOOD + b"\0", "ends within a record's frame"),
    (GOOD + bytes(12), "its length does not match its checksum"),
    (damaged(SECOND), "record 1 at byte"),
    (damaged(SECOND + 9), "its length does not match its checksum"),
    (damaged(SECOND + 100), "its bytes do not match its checksum"),
    (damaged(len(GOOD) - 2), "its bytes do not match its checksum"),
    (with_length(1 << 40), "ends within a record's frame"),
    (with_length((1 << 64) - 1), "impossible length"),
    (with_length((1 << 64) - 5), "ends within a record's frame"),
    (with_length(0), "its bytes do not match its checksum"),
    (tfrecord(b""), "no feature is an image file (it has none)"),
    (tfrecord(b"\xff" * 20), "is no tf.train.Example"),
    (tfrecord(b"\x0a\x7fshort"), "is no tf.train.Example"),
    (tfrecord(field(1, field(1, field(2, field(3, field(1, b"\xff" * 11)))))), "is no tf.train.Example"),
    (tfrecord(field(1, b"") + field(2, b"")), "is a SequenceExample"),
    (tfrecord(example(image=[PNG, PNG])), "has 2 values"),
    (tfrecord(example(image=[0.5, 1.5])), "has 2 values"),
    (tfrecord(example(image=bytes(784))), "is no JPEG, PNG, GIF, BMP, WebP or TIFF file but 784 bytes that begin with 00 00"),
    (tfrecord(example(image=b"")), "is no JPEG"),
    (tfrecord(example(image=7)), "is no image file"),
    (tfrecord(example(left=PNG, right=PNG)), "'left' and 'right' are images"),
    (tfrecord(example(x=b"text", y=1)), "no feature is an image file (it has 'x', 'y')"),
    (tfrecord(example(image=PNG, file_name="../x")), "has a '..' in it"),
    (tfrecord(example(image=PNG, image__class__synset="a/b")), "cannot be the name of a folder"),
    (tfrecord(example(image=PNG, file_name="x" * 300)), "longer than 255 bytes"),
], ids=cause_of)  # fmt: skip
def test_bad_files(augurpack, tmp_path, data, cause):
    assert cause in refused(augurpack, write(tmp_path / "x.tfrecord", data))


@pytest.mark.parametrize("text, cause", [(b"", "has no names"), (b"\n \n", "has no names"), (b"a\n\nb\n", "line 2: has no name"),
                                         (b"a\nb\na\n", "line 3: 'a' is on line 1, too"), (b"1:a\n1:b\n", "label 1 has a name already"),
                                         (b"a/b\n", "cannot be the name of a folder"), (b"a\n", "label 1 has no name in")])  # fmt: skip
def test_bad_names_of_labels(augurpack, tmp_path, text, cause):
    path = write(tmp_path / "x", tfrecord(example(image=PNG, label=1)))
    labels = write(tmp_path / "labels", text)
    done = run(augurpack, "adopt", f"--folders-from={labels}", path, tmp_path / "store", ok=(2,))
    assert cause in done.error and str(labels) in done.error


def test_random_damage_is_seen(augurpack, tmp_path):
    """All bytes of the file are under a checksum."""
    rng = random.Random(4)
    for number in range(40):
        data = bytearray(GOOD)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        refused(augurpack, write(tmp_path / f"{number}.tfrecord", bytes(data)))
