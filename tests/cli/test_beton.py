# SPDX-License-Identifier: Apache-2.0
"""augurpack create and adopt of .beton files of FFCV. They are written from the published layout (ffcv/types.py, writer.py, fields/) by
NumPy, whose aligned types FFCV writes as they are. Where AUGUR_FFCV names a Python that has FFCV, also by its own writer. To make one:
Debian's libopencv-dev and libturbojpeg0-dev; then in a virtual environment, without their dependencies, ffcv 1.0.2, numpy 1.26, numba 0.59,
opencv-python-headless 4.9, PyTorch, and what these ask for."""

import json
import os

import pytest
from adopt_support import adopted, copied, files_of, refused, written_by_stock
from container_files import PNG, jpeg
from pack_support import run, write

np = pytest.importorskip("numpy")

HEAD = np.dtype([("version", "<u2"), ("fields", "<u2"), ("page", "<u4"), ("samples", "<u8"), ("pieces_at", "<u8")], align=True)
FIELD = np.dtype([("type", "<u1"), ("name", ("<u1", 16)), ("arguments", ("<u1", (1024,)))], align=True)
PIECE = np.dtype([("sample", "<u8"), ("at", "<u8"), ("bytes", "<u8")])
IMAGE = np.dtype([("mode", "<u1"), ("width", "<u2"), ("height", "<u2"), ("at", "<u8")])
BYTES = np.dtype([("at", "<u8"), ("bytes", "<u8")])
TYPES = {"float": (0, np.dtype("<f8")), "int": (1, np.dtype("<i8")), "image": (2, IMAGE), "bytes": (3, BYTES), "json": (5, BYTES)}

IMAGES = [jpeg(i, 400 + 800 * i) for i in range(9)]
FIELDS = {"image": "image", "label": "int"}


def beton(fields, samples, head=(), pieces=None, rows=None, page=1 << 21):
    """A file; `head` changes numbers in it, `pieces` and `rows` change the tables. FFCV has no smaller pages."""
    described = np.zeros(len(fields), FIELD)
    for at, (name, kind) in enumerate(fields.items()):
        described[at]["type"] = TYPES[kind][0] if kind in TYPES else int(kind)
        described[at]["name"][: len(name)] = np.frombuffer(name.encode(), np.uint8)
    table = np.zeros(len(samples), np.dtype([("", TYPES.get(kind, TYPES["int"])[1]) for kind in fields.values()], align=True))
    at = HEAD.itemsize + described.nbytes + table.nbytes
    at += -at % page  # pages begin at whole ones
    data, where = bytearray(at), []
    for number, sample in enumerate(samples):
        for field, (name, kind) in enumerate(fields.items()):
            value = sample[name]
            if isinstance(value, bytes):
                where.append((number, len(data), len(value)))
                place = (0, 48, 32, len(data)) if kind == "image" else (len(data), len(value))
                data += value
                value = place
            table[number][f"f{field}"] = value
    where = np.array(where, PIECE)
    header = np.zeros(1, HEAD)
    header[0] = (2, len(fields), 1 << 23, len(samples), len(data))
    for name, number in dict(head).items():
        header[0][name] = number
    if pieces:
        pieces(where)
    if rows:
        rows(table)
    front = header.tobytes() + described.tobytes() + table.tobytes()
    data[: len(front)] = front
    return bytes(data) + where.tobytes()


def samples(images=tuple(IMAGES)):
    return [{"image": image, "label": i % 3} for i, image in enumerate(images)]


def test_images_and_labels(augurpack, tmp_path):
    path = write(tmp_path / "x.beton", beton(FIELDS, samples()))
    wanted = {b"%06d/%08d.jpg" % (i % 3, i): image for i, image in enumerate(IMAGES)}
    run(augurpack, "create", path, tmp_path / "copied")
    assert files_of(tmp_path / "copied") == wanted
    summary = json.loads(run(augurpack, "adopt", "--json", path, tmp_path / "adopted").stdout)
    assert summary["stored_bytes"] == 0 and files_of(tmp_path / "adopted") == wanted
    run(augurpack, "verify", tmp_path / "adopted")
    names = write(tmp_path / "names", b"a\nb\nc\n")
    run(augurpack, "create", f"--folders-from={names}", "--exclude=c", path, tmp_path / "named")
    assert set(files_of(tmp_path / "named")) == {b"%s/%08d.jpg" % (b"ab"[i % 3 : i % 3 + 1], i) for i in range(9) if i % 3 < 2}


def test_other_fields(augurpack, tmp_path):
    """Each has its place in a row, in the order and with the alignment of NumPy's types."""
    fields = {"about": "json", "index": "int", "photo": "image", "text": "bytes", "weight": "float", "class": "int"}
    rows = [{"about": b"{}", "index": 70 + i, "photo": image, "text": b"abc", "weight": 0.5, "class": -1 if i == 2 else i}
            for i, image in enumerate(IMAGES[:3])]  # fmt: skip
    path = write(tmp_path / "x.beton", beton(fields, rows))
    run(augurpack, "create", "--names-from=index", path, tmp_path / "store")
    assert files_of(tmp_path / "store") == {b"000000/70.jpg": IMAGES[0], b"000001/71.jpg": IMAGES[1], b"72.jpg": IMAGES[2]}
    assert "has no names in 'text' (its fields are 'about', 'index', 'photo'" in refused(augurpack, path, "--names-from=text")


def test_an_empty_file_of_fields(augurpack, tmp_path):
    path = write(tmp_path / "x.beton", beton(FIELDS, []))
    run(augurpack, "create", path, tmp_path / "store")
    assert files_of(tmp_path / "store") == {}


def test_files_of_the_stock_writer(augurpack, tmp_path):
    """All images and labels, with one process that writes and with several, whose pieces of data are in another order."""
    python = os.environ.get("AUGUR_FFCV")
    if not python:
        pytest.skip("AUGUR_FFCV is not set: a Python that has FFCV")
    wanted = written_by_stock(python, "ffcv_files.py", tmp_path)
    assert len(wanted) == 3
    for name, files in wanted.items():
        tree = {path.encode(): bytes.fromhex(image) for path, image in files.items()}
        assert len(tree) == 200
        assert adopted(augurpack, tmp_path / name) == tree == copied(augurpack, tmp_path / name), name
    numbered = {f"{i + 1000}.jpg" for i in range(200)}
    assert {path.rsplit(b"/", 1)[-1].decode() for path in copied(augurpack, tmp_path / "many.beton", "--names-from=index", "--force")} == numbered
    assert "its image is stored as pixels" in refused(augurpack, tmp_path / "raw.beton")


def row(number, field, name, value):
    def change(table):
        if name is None:
            table[number][field] = value
        else:
            table[field][name][number] = value

    return change


def piece(number, name, value):
    def change(table):
        table[name][number] = value

    return change


GOOD = beton(FIELDS, samples())
BAD = {
    "cut": (GOOD[:-1], "the table of its pieces of data is cut off"),
    "cut by a piece": (GOOD[:-24], "sample 8: no piece of data begins"),
    "cut in the data": (GOOD[: 2 << 20], "samples leave it"),
    "cut in the rows": (GOOD[:2200], "samples leave it"),
    "cut in the fields": (GOOD[:1500], "container of images that is known"),
    "table beyond the file": (beton(FIELDS, samples(), {"pieces_at": 1 << 60}), "samples leave it"),
    "table in the rows": (beton(FIELDS, samples(), {"pieces_at": 2106}), "samples leave it"),
    "table at a wrong place": (beton(FIELDS, samples(), {"pieces_at": (2 << 20) + 5}), "its pieces of data is cut off"),
    "samples": (beton(FIELDS, samples(), {"samples": 1 << 61}), "samples leave it"),
    "a sample more": (beton(FIELDS, samples(), {"samples": 10}), "sample 9: "),
    "image at nothing": (beton(FIELDS, samples(), rows=row(2, "f0", "at", 12345)), "sample 2: no piece of data begins at byte 12345"),
    "image within another": (beton(FIELDS, samples(), rows=row(2, "f0", "at", (2 << 20) + 1)), "sample 2: no piece of data begins"),
    "image beyond": (beton(FIELDS, samples(), rows=row(3, "f0", "at", 1 << 62)), "sample 3: no piece of data begins"),
    "piece leaves": (beton(FIELDS, samples(), pieces=piece(4, "bytes", 1 << 40)), "a piece of its data leaves it"),
    "piece beyond": (beton(FIELDS, samples(), pieces=piece(4, "at", 1 << 63)), "a piece of its data leaves it"),
    "piece of nothing": (beton(FIELDS, samples(), pieces=piece(0, "bytes", 0)), "sample 0: is no JPEG"),
    "pixels": (beton(FIELDS, samples(), rows=row(1, "f0", "mode", 1)), "sample 1: its image is stored as pixels"),
    "no image": (beton(FIELDS, [{"image": b"text of some length", "label": 0}]), "sample 0: is no JPEG"),
    "two images": (beton({"a": "image", "b": "image"}, [{"a": PNG, "b": PNG}]), "has several fields of images"),
    "own type": (beton({"image": "image", "x": "255"}, [{"image": PNG, "x": 1}]), "its field 'x' is of a type of its writer's own"),
    "unknown type": (beton({"image": "image", "x": "9"}, [{"image": PNG, "x": 1}]), "container of images that is known"),
    "version": (beton(FIELDS, samples(), {"version": 3}), "container of images that is known"),
}  # fmt: skip


@pytest.mark.parametrize("data, cause", BAD.values(), ids=BAD)
def test_bad_files(augurpack, tmp_path, data, cause):
    path = write(tmp_path / "x.beton", data)
    done = run(augurpack, "create", path, tmp_path / "store", ok=(2,))
    assert done.error.startswith(f"augurpack: {path}: ") and cause in done.error, done.error
    assert not (tmp_path / "store" / "manifest").exists()
    assert f"augurpack: {path}: " in refused(augurpack, path)
