# SPDX-License-Identifier: Apache-2.0
"""augurpack create and append from containers of images: copied, into the tree that augurpack adopt shows without a copy."""

import gzip
import io
import json
import os
import re
import struct
import subprocess
import zipfile
import zlib

import pytest
from adopt_support import files_of
from archive_support import need
from container_files import PNG, RECORDIO_MAGIC, example, image_record, jpeg, mds, mds_config, mds_shard, recordio, tfrecord
from lmdb_writer import database
from pack_support import PATIENCE_S, run, store_tree, write
from test_adopt import tar_of

IMAGES = [jpeg(i, 500 + 700 * i) for i in range(7)]
COLUMNS = {"image": "jpeg", "label": "int", "name": "str"}


def make_tfrecord(path):
    records = (example(image=data, label=i % 3, file_name=f"{i}.jpg") for i, data in enumerate(IMAGES))
    return write(path, tfrecord(*records))


def make_recordio(path):
    split = [b"\xff\xd8\xff\xe0" + RECORDIO_MAGIC + b"in parts", *IMAGES]
    return write(path, recordio(*(image_record(i, i % 3, data) for i, data in enumerate(split)), image_record(99, [1.0, 2.0], b"")))


def make_mds(path):
    return write(path, mds(COLUMNS, *({"image": data, "label": i % 3, "name": f"{i}.jpg"} for i, data in enumerate(IMAGES))))


def make_lmdb(path):
    with database(path) as data:
        data.transaction([(b"%04d" % i, image) for i, image in enumerate(IMAGES * 40)] + [(b"__len__", b"7")])
    return path


MAKERS = [make_tfrecord, make_recordio, make_mds, make_lmdb]


def create(augurpack, *words):
    return json.loads(run(augurpack, "create", "--json", *words).stdout)


@pytest.mark.parametrize("make", MAKERS)
def test_the_tree_is_that_of_adopt(augurpack, tmp_path, make):
    """Names, times and bytes; the container may go away then."""
    source = make(tmp_path / "x.bin")
    os.utime(source, ns=(0, 1_600_000_000_123_456_789))
    write(tmp_path / "label.labels.txt", b"cat\ndog\nelk\n")
    run(augurpack, "adopt", source, tmp_path / "adopted")
    adopted, contents = store_tree(tmp_path / "adopted")
    summary = create(augurpack, source, tmp_path / "copied")
    assert summary["files"] == len(contents) and summary["stored_bytes"] == sum(map(len, set(contents.values())))
    source.unlink()
    copied, _ = store_tree(tmp_path / "copied")
    assert {path: entry for path, entry in copied.items() if entry[0] == 0o100000} == {
        path: entry for path, entry in adopted.items() if entry[0] == 0o100000}  # fmt: skip
    assert files_of(tmp_path / "copied") == contents and len(contents) >= 7
    run(augurpack, "verify", tmp_path / "copied")


def packed(source, compression):
    """The file, compressed by the program of that name."""
    need(compression)
    done = subprocess.run([compression, "-c", source], capture_output=True, timeout=PATIENCE_S, check=True)
    return write(source.with_name(source.name + "." + compression), done.stdout)


@pytest.mark.parametrize("compression", ["gzip", "zstd", "xz"])
@pytest.mark.parametrize("make", MAKERS)
def test_compressed_containers(augurpack, tmp_path, make, compression):
    """GZIP TFRecord files, and shards of MDS with a compression."""
    source = make(tmp_path / "x")
    create(augurpack, source, tmp_path / "plain")
    file = packed(source, compression)
    create(augurpack, file, tmp_path / "store")
    assert files_of(tmp_path / "store") == files_of(tmp_path / "plain")
    damaged = bytearray(file.read_bytes())
    for name, data in (("cut", bytes(damaged[:-9])), ("behind", bytes(damaged) + b"more")):
        bad = write(tmp_path / name, data)
        done = run(augurpack, "create", bad, tmp_path / "refused", ok=(2,))
        assert done.error.startswith(f"augurpack: {bad}: ") and not (tmp_path / "refused" / "manifest").exists()


@pytest.mark.parametrize("make", MAKERS)
def test_from_a_pipe(augurpack, tmp_path, make):
    source = make(tmp_path / "x")
    run(augurpack, "create", source, tmp_path / "plain")
    for number, data in enumerate([source.read_bytes(), gzip.compress(source.read_bytes(), 1)]):
        run(augurpack, "create", "-", tmp_path / f"{number}", input=data, stdin=None)
        assert files_of(tmp_path / f"{number}") == files_of(tmp_path / "plain")
    with open(source, "rb") as file:
        run(augurpack, "create", "-", tmp_path / "redirected", stdin=file)
    assert files_of(tmp_path / "redirected") == files_of(tmp_path / "plain")


def test_several_files_make_one_tree(augurpack, tmp_path):
    """Archives and containers of several kinds; numbers say of which file they are."""
    for name in ("a.tfrecord", "b.tfrecord"):
        write(tmp_path / name, tfrecord(*(example(image=data, label=1) for data in IMAGES[:2])))
    tar = write(tmp_path / "x.tar", tar_of({"d/5.jpg": IMAGES[5]}))
    names = write(tmp_path / "names", b"0:cat\n1:dog\n")
    packed_b = packed(tmp_path / "b.tfrecord", "gzip")
    create(augurpack, f"--folders-from={names}", tmp_path / "a.tfrecord", packed_b, tar, tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"dog/a-00000000.jpg": IMAGES[0], b"dog/a-00000001.jpg": IMAGES[1],
                                            b"dog/b.tfrecord-00000000.jpg": IMAGES[0], b"dog/b.tfrecord-00000001.jpg": IMAGES[1],
                                            b"d/5.jpg": IMAGES[5]}  # fmt: skip
    (tmp_path / "folder").mkdir()
    for bad in (tmp_path / "folder", "-"):
        done = run(augurpack, "create", tar, bad, tmp_path / "none", ok=(2,))
        assert "of several SRC each must be one" in done.error and not (tmp_path / "none").exists()
    assert "absent" in run(augurpack, "create", tar, tmp_path / "absent", tmp_path / "none", ok=(2,)).error


def test_options(augurpack, tmp_path):
    source = write(tmp_path / "x", tfrecord(*(example(image=data, label=i % 2, id=i + 5) for i, data in enumerate(IMAGES))))
    create(augurpack, "--names-from=id", "--exclude=000001", "--exclude=7*", source, tmp_path / "some")
    assert set(files_of(tmp_path / "some")) == {b"000000/5.jpg", b"000000/9.jpg", b"000000/11.jpg"}
    create(augurpack, "--names-from=id", "--include=000001/*", source, tmp_path / "one")
    assert set(files_of(tmp_path / "one")) == {b"000001/6.jpg", b"000001/8.jpg", b"000001/10.jpg"}
    assert "matches --include" in run(augurpack, "create", "--include=*.gif", source, tmp_path / "none", ok=(2,)).error
    run(augurpack, "append", "--names-from=id", "--include=000000/*", source, tmp_path / "one")
    assert len(files_of(tmp_path / "one")) == 7
    assert "has no listing" in run(augurpack, "create", "--order=listing", source, tmp_path / "none", ok=(2,)).error
    assert "larger" in run(augurpack, "create", "--help").stdout.decode()


def test_a_name_that_comes_twice_loses_no_sample(augurpack, tmp_path):
    source = write(tmp_path / "x", tfrecord(*(example(image=data, file_name="image.jpg") for data in IMAGES)))
    done = run(augurpack, "create", source, tmp_path / "store", ok=(2,))
    assert "its path 'image.jpg' is that of another sample, too" in done.error and not (tmp_path / "store" / "manifest").exists()
    for command in ("create", "adopt"):
        run(augurpack, command, "--names-from=#", source, tmp_path / command)
        assert files_of(tmp_path / command) == {b"%08d.jpg" % i: data for i, data in enumerate(IMAGES)}
    rec = write(tmp_path / "y.rec", recordio(*(image_record(1, 4, data) for data in IMAGES[:2])))
    write(tmp_path / "y.lst", b"1\t4\td/1.jpg\n")
    run(augurpack, "create", "--names-from=#", rec, tmp_path / "numbers")
    assert set(files_of(tmp_path / "numbers")) == {b"000004/00000000.jpg", b"000004/00000001.jpg"}


def test_a_sample_that_is_no_image(augurpack, tmp_path):
    """It ends the run, or is left out by name and number."""
    samples = (example(image=b"text"), example(image=PNG), example(image=PNG, file_name="../x"))
    source = write(tmp_path / "x", tfrecord(*samples))
    done = run(augurpack, "create", source, tmp_path / "store", ok=(2,))
    assert "record 0 at byte 0: 'image': is no JPEG" in done.error
    done = run(augurpack, "create", "--on-error=skip", source, tmp_path / "store", ok=(1,))
    assert files_of(tmp_path / "store") == {b"00000001.png": PNG} and "has a '..' in it: left out" in done.error


def test_what_is_there_already_is_taken_over(augurpack, tmp_path):
    """A run that fails at its end leaves its files for --resume."""
    good = write(tmp_path / "a.rec", recordio(*(image_record(i, 1, data) for i, data in enumerate(IMAGES))))
    bad = write(tmp_path / "b.rec", good.read_bytes()[:-1])
    done = run(augurpack, "create", "--shard-size=4K", good, bad, tmp_path / "store", ok=(2,))
    assert "b.rec: ends within" in done.error
    write(bad, good.read_bytes())
    summary = create(augurpack, "--shard-size=4K", "--resume", good, bad, tmp_path / "store")
    assert summary["resumed"] > 0 and len(files_of(tmp_path / "store")) == 14


def test_a_tfrecord_file_of_zlib(augurpack, tmp_path):
    path = write(tmp_path / "x.tfrecord", zlib.compress(tfrecord(example(image=PNG))))
    error = run(augurpack, "create", path, tmp_path / "store", ok=(2,)).error
    assert "pigz -dc" in error and "augurpack create" not in error



BAD = [
    ("tfrecord, cut", lambda p: make_tfrecord(p).read_bytes()[:-3], "ends within a record's frame"),
    ("tfrecord, flipped", lambda p: make_tfrecord(p).read_bytes().replace(IMAGES[2][50:60], b"0123456789"), "do not match its checksum"),
    ("tfrecord, gzip, damaged", lambda p: gzip.compress(make_tfrecord(p).read_bytes())[:-8] + bytes(8), "the gzip data is damaged"),
    ("tfrecord, gzip, cut within", lambda p: gzip.compress(make_tfrecord(p).read_bytes()[:-3]), "ends within a record's frame"),
    ("mds, cut", lambda p: make_mds(p).read_bytes()[:-3], "its last sample ends at byte"),
    ("mds, gzip, more", lambda p: gzip.compress(make_mds(p).read_bytes() + b"?"), "its last sample ends at byte"),
    ("mds, sizes", lambda p: mds_shard([b"\xff" * 80], mds_config(COLUMNS)), "the sizes of its columns do not fit"),
    ("recordio, cut", lambda p: make_recordio(p).read_bytes()[:-5], "ends within a record"),
    ("recordio, magic", lambda p: make_recordio(p).read_bytes() + b"?" * 8, "no record begins at byte"),
    ("recordio, gzip, cut", lambda p: gzip.compress(make_recordio(p).read_bytes()[:200]), "ends within a record"),
    ("lmdb, cut", lambda p: make_lmdb(p).read_bytes()[: 3 * 4096], "leads to page"),
    ("lmdb, gzip, cut", lambda p: gzip.compress(make_lmdb(p).read_bytes()[:4100]), "it ends within its second page"),
    ("text", lambda p: b"text " * 400, "nor a container of images that is known"),
]  # fmt: skip


@pytest.mark.parametrize("make, cause", [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_files(augurpack, tmp_path, make, cause):
    bad = write(tmp_path / "bad", make(tmp_path / "good"))
    done = run(augurpack, "create", bad, tmp_path / "store", ok=(2,))
    assert done.error.startswith(f"augurpack: {bad}: ") and cause in done.error, done.error
    assert not (tmp_path / "store" / "manifest").exists()


def test_decoded(augurpack, tmp_path):
    """--decode packs containers first, as it does an archive."""
    def part(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    pixels = zlib.compress(b"".join(b"\0" + bytes(range(row, row + 9)) for row in range(2)))
    png = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 2, 0, 0, 0)) + part(b"IDAT", pixels) + part(b"IEND", b"")
    names = [write(tmp_path / name, gzip.compress(tfrecord(example(image=png, label=1)))) for name in ("a.tfrecord-1-of-2", "b")]
    run(augurpack, "create", "--decode=npy+size=2x2", *names, tmp_path / "store")
    files = files_of(tmp_path / "store")
    assert set(files) == {b"000001/a.tfrecord-1-of-2-00000000.npy", b"000001/b-00000000.npy"}
    assert all(data.startswith(b"\x93NUMPY") for data in files.values())


def folder_of(tmp_path, source):
    folder = tmp_path / "records"
    (folder / "train").mkdir(parents=True)
    write(folder / "README.md", b"records of images")
    return source.rename(folder / "train" / "x.bin").parents[1]


def hint(augurpack, folder, store, *options):
    """All that is said on stderr."""
    return run(augurpack, "create", *options, folder, store).error


def test_a_store_as_source_is_packed_as_it_is(augurpack, tmp_path):
    """One line says that its shards become files, and what gives its files."""
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder / "0.jpg", jpeg(1))
    assert hint(augurpack, folder, tmp_path / "store") == ""
    (line,) = hint(augurpack, tmp_path / "store", tmp_path / "again").splitlines()
    assert line.startswith(f"augurpack: {tmp_path / 'store'}: a store, packed as it is")
    assert b"manifest" in files_of(tmp_path / "again")
    assert hint(augurpack, tmp_path / "store", tmp_path / "quiet", "--quiet") == ""


@pytest.mark.parametrize("make", MAKERS)
def test_a_folder_of_containers_is_packed_as_it_is(augurpack, tmp_path, make):
    """One line says how to get the images; none where there are images, where the user leaves such files out, or with --quiet."""
    folder = folder_of(tmp_path, make(tmp_path / "x"))
    source = folder / "train" / "x.bin"
    (line,) = hint(augurpack, folder, tmp_path / "store").splitlines()
    assert re.match(rf"augurpack: {re.escape(str(source))}: an? [\w .]+, packed as it is", line)
    assert line.endswith("give such files as SRC, or plain ones to 'augurpack adopt', which copies nothing")
    assert files_of(tmp_path / "store")[b"train/x.bin"] == source.read_bytes()
    assert hint(augurpack, folder, tmp_path / "quiet", "--quiet") == ""
    assert hint(augurpack, folder, tmp_path / "without", "--exclude=*.bin") == ""
    write(folder / "train" / "0.jpg", jpeg(1))
    assert hint(augurpack, folder, tmp_path / "images") == ""


def test_a_folder_of_other_archives(augurpack, tmp_path):
    """Tars and GZIP TFRecord files are named, too; a zip may be an .npz or .pt file of arrays."""
    records = make_tfrecord(tmp_path / "records.bin")
    made = {
        "a tar": tar_of({"0.jpg": IMAGES[0]}),
        "a compressed TFRecord file": gzip.compress(records.read_bytes()),
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("0.jpg", IMAGES[0])
    for number, (kind, data) in enumerate([*made.items(), ("", archive.getvalue())]):
        room = tmp_path / f"{number}"
        room.mkdir()
        said = hint(augurpack, folder_of(room, write(room / "x", data)), room / "store")
        assert f"x.bin: {kind}, packed as it is" in said if kind else said == "", said
