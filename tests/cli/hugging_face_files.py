# SPDX-License-Identifier: Apache-2.0
"""Writes Parquet and Arrow files of images by pyarrow and datasets into a folder, and wanted.json: of each file the paths and bytes that a
store of it must have, as those libraries read them, and whether its images lie in it as they are."""

import io
import json
import pathlib
import random
import sys

import datasets
import numpy
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
from PIL import Image

FOLDER = pathlib.Path(sys.argv[1])
CLASSES = ["tench", "goldfish", "great white shark"]


def photograph(rng, kind):
    """An encoded image of noise, which no codec makes much smaller."""
    pixels = numpy.frombuffer(rng.randbytes(48 * 32 * 3), numpy.uint8).reshape(32, 48, 3)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


def tree(table):
    """The paths and bytes that a store must have, from what the library read."""
    files = {}
    for number, row in enumerate(table):
        name = row["image"]["path"] or f"{number:08}" + (".png" if row["image"]["bytes"][:1] == b"\x89" else ".jpg")
        files[f"{CLASSES[row['label']]}/{name}"] = row["image"]["bytes"].hex()
    return files


def main():
    rng = random.Random(7)
    rows = [{"image": {"bytes": photograph(rng, rng.choice(["JPEG", "PNG"])), "path": None if i % 5 == 0 else f"{i}.JPEG"}, "label": i % 3,
             "caption": f"number {i}", "box": [[1.0, 2.0]] * (i % 3)} for i in range(120)]  # fmt: skip
    features = datasets.Features({"caption": datasets.Value("string"), "image": datasets.Image(), "box": datasets.Sequence(
        datasets.Sequence(datasets.Value("float32"))), "label": datasets.ClassLabel(names=CLASSES)})  # fmt: skip
    table = pyarrow.Table.from_pylist(rows, schema=features.arrow_schema)
    # It would make a fingerprint by pickling all of it.
    dataset = datasets.Dataset(table, info=datasets.DatasetInfo(features=features), fingerprint="rows")
    wanted = {}

    def add(name, read, adopts):
        wanted[name] = {"files": tree(read), "rows": len(rows), "adopts": adopts}

    dataset.to_parquet(FOLDER / "datasets.parquet")
    add("datasets.parquet", pyarrow.parquet.read_table(FOLDER / "datasets.parquet").to_pylist(), True)
    plain = {"use_dictionary": False, "compression": "none"}
    for name, adopts, options in (
        ("default.parquet", False, {}),
        ("plain.parquet", True, plain | {"row_group_size": 50}),
        ("dictionary.parquet", True, {"compression": "none", "data_page_size": 4096}),
        ("pages.parquet", True, plain | {"data_page_size": 2000, "write_page_checksum": True, "write_page_index": True}),
        ("second.parquet", True, plain | {"data_page_version": "2.0", "row_group_size": 31}),
        ("snappy.parquet", False, {"compression": "snappy", "data_page_version": "2.0"}),
        ("zstd.parquet", False, {"compression": "zstd", "use_dictionary": False, "row_group_size": 7}),
        ("gzip.parquet", False, {"compression": "gzip", "data_page_size": 3000}),
    ):
        pyarrow.parquet.write_table(table, FOLDER / name, **options)
        add(name, pyarrow.parquet.read_table(FOLDER / name).to_pylist(), adopts)

    dataset.save_to_disk(FOLDER / "saved")
    read = datasets.load_from_disk(FOLDER / "saved").data.table.to_pylist()
    (FOLDER / "saved" / "data-00000-of-00001.arrow").rename(FOLDER / "saved.arrow")
    add("saved.arrow", read, True)
    for name, adopts, writer, options in (
        ("stream.arrow", True, pyarrow.ipc.new_stream, {}),
        ("file.arrow", True, pyarrow.ipc.new_file, {}),
        ("zstd.arrow", False, pyarrow.ipc.new_stream, {"compression": "zstd"}),
    ):
        with writer(FOLDER / name, table.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as out:
            out.write_table(table, max_chunksize=37)
        opener = pyarrow.ipc.open_file if "file" in name else pyarrow.ipc.open_stream
        with open(FOLDER / name, "rb") as file:
            add(name, opener(file).read_all().to_pylist(), adopts)

    (FOLDER / "refused").mkdir()
    for codec in ("lz4", "brotli"):
        pyarrow.parquet.write_table(table, FOLDER / "refused" / f"{codec}.parquet", compression=codec)
    options = pyarrow.ipc.IpcWriteOptions(compression="lz4")
    with pyarrow.ipc.new_stream(FOLDER / "refused" / "lz4.arrow", table.schema, options=options) as out:
        out.write_table(table)
    (FOLDER / "wanted.json").write_text(json.dumps(wanted))


main()
