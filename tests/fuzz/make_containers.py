#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a small container of each kind into a folder, for container_mutate and container_fuzz: make_containers.py FOLDER."""

import pathlib
import sys
import tarfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import arrow_writer
import h5py
import numpy as np
import parquet_writer
import test_beton
from container_files import PNG, RECORDIO_MAGIC, example, image_record, jpeg, mds, recordio, tfrecord
from lmdb_writer import database
from test_adopt import tar_of
from test_adopt_zip import Pipe, zip_of


def main(folder):
    folder.mkdir(exist_ok=True)
    images = [jpeg(i, 40 + 60 * i) for i in range(5)]
    rows = [(image, f"{i}.jpg".encode(), i % 2) for i, image in enumerate(images)]
    files = {
        "tfrecord": tfrecord(*(example(image=image, label=i, file_name=f"{i}.jpg") for i, image in enumerate(images))),
        "recordio": recordio(*(image_record(i, i % 2, image) for i, image in enumerate([*images, images[0] + b"?" * 3 + RECORDIO_MAGIC]))),
        "mds": mds({"image": "jpeg", "label": "int", "name": "str"}, *({"image": image, "label": i, "name": f"{i}"}
                                                                       for i, image in enumerate(images))),
        "arrow": arrow_writer.table(rows[:2], rows[2:]),
        "beton": test_beton.beton(test_beton.FIELDS, test_beton.samples(images), page=8),
    }  # fmt: skip
    for version in (1, 2):
        for codec in (parquet_writer.NONE, parquet_writer.GZIP):
            for dictionary in (False, True):
                table = parquet_writer.table(rows, codec, version, dictionary)
                files[f"parquet-{version}-{codec}-{dictionary}"] = parquet_writer.parquet([table])
    # Samples of WebDataset, a link, a long name, and a tar within a tar; of zips also one whose sizes stand behind the bytes.
    members = {"a/0.jpg": images[0], "a/0.cls": b"3", "1.json": b'{"label": "dog"}', "1.png": PNG, "d/" + "n" * 120: images[1], "e": b""}
    for name, form in (("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT), ("ustar", tarfile.USTAR_FORMAT)):
        members["inner.tar"] = tar_of({"x.jpg": images[2]}, form)
        files[f"tar-{name}"] = tar_of(members if name != "ustar" else {key: members[key] for key in ("a/0.jpg", "e", "inner.tar")}, form)
    files["zip"] = zip_of(members)
    files["zip-behind"] = zip_of(members, Pipe())
    files["zip-deflated"] = zip_of(members, compression=zipfile.ZIP_DEFLATED)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with zipfile.ZipFile(folder / "zip-64", "w") as archive, archive.open("big.jpg", "w", force_zip64=True) as member:
        member.write(images[3])
    with database(folder / "lmdb") as data:
        data.transaction([(b"%d" % i, image) for i, image in enumerate([*images, jpeg(9, 5000)])])
    (folder / "lmdb").write_bytes((folder / "lmdb").read_bytes()[: 16 * 4096])
    (folder / "lmdb-lock").unlink()
    for form in ("earliest", "latest"):
        with h5py.File(folder / f"hdf5-{form}", "w", libver=form) as file:
            dataset = file.create_dataset("images", (5,), dtype=h5py.vlen_dtype(np.uint8), chunks=(2,))
            for i, image in enumerate(images):
                dataset[i] = np.frombuffer(image, np.uint8)
            file["labels"] = np.arange(5)
            file["group/a.jpg"] = np.frombuffer(images[4], np.uint8)
            file.create_dataset("group/b.jpg", data=np.frombuffer(images[3], np.uint8), chunks=(100,), fletcher32=True, shuffle=True)


main(pathlib.Path(sys.argv[1]))
