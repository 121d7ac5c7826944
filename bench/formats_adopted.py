# SPDX-License-Identifier: Apache-2.0
"""Containers that are adopted: their images through the mount in the order of the file, beside the container itself, read from end to end
as the disk has it. Beside that, the same images as files of a folder, and in a store that augurpack has made of that folder. Containers
are written by the writers of tests/cli, and TFRecord by augurpack."""

import os
import sys
import time

import measure
import mounts
from measure import Table

sys.path.insert(0, str(mounts.ROOT / "tests" / "cli"))

PIECE = 1 << 20


def samples(tree):
    """(path, number of its class) in path order."""
    classes = sorted(name for name in os.listdir(tree) if os.path.isdir(os.path.join(tree, name)))
    return [(os.path.join(tree, name, file), number) for number, name in enumerate(classes) for file in sorted(os.listdir(os.path.join(tree, name)))]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def write_parquet(tree, path):
    """Rows of 64 images a group, which pyarrow writes of no compression and no dictionary."""
    import parquet_writer

    found = [(content(image), b"%08d.jpg" % i, label) for i, (image, label) in enumerate(samples(tree))]
    groups = [parquet_writer.table(found[i : i + 64]) for i in range(0, len(found), 64)]
    features = {"info": {"features": {"image": {"_type": "Image"}, "label": {
        "names": [f"{number:06}" for number in range(1 + max(label for *_, label in found))], "_type": "ClassLabel"}}}}
    with open(path, "wb") as file:
        file.write(parquet_writer.parquet(groups, features=features))


def write_lmdb(tree, path):
    from lmdb_writer import database

    with database(path) as data:
        data.transaction((b"%06d/%08d" % (label, i), content(image)) for i, (image, label) in enumerate(samples(tree)))


def write_tfrecord(tree, path):
    folder = f"{path}-folder"
    mounts.run(mounts.program("augurpack"), "create", "--quiet", "--decode=tfrecord+shards=1", tree, folder)
    os.rename(os.path.join(folder, "all-00000-of-00001"), path)


CONTAINERS = {"Parquet": write_parquet, "TFRecord": write_tfrecord, "LMDB": write_lmdb}


def read_through(path):
    """Bytes a second of the file from end to end."""
    with open(path, "rb", buffering=0) as file:
        room = bytearray(PIECE)
        count, start = 0, time.perf_counter()
        while got := file.readinto(room):
            count += got
    return count / (time.perf_counter() - start)


def whole_files(root, listing, count):
    """Bytes a second of all these files below the root, one after the other by one thread."""
    read = measure.read_files(root, order="sequential", listing=listing)
    if read["failures"] or read["files"] != count:
        raise RuntimeError(f"{root}: {count} images, read: {read}")
    return read["bytes"] / read["seconds"]


def through_mount(rows, store, listing, *forget):
    """The same through a mount that knows no earlier run."""
    with rows.mounted(store=store) as (point, _):
        if not os.path.exists(listing):
            measure.write_listing(point, listing)
            measure.forget_files(*forget)
        return whole_files(point, listing, rows.args.file_count)


def adopted(rows):
    """MB/s, cold."""
    tables = []
    for name, write in CONTAINERS.items():
        folder = os.path.join(rows.args.work, f"adopted-{name}")
        os.makedirs(folder)
        file, store, listing = (os.path.join(folder, part) for part in (f"data.{name.lower()}", "store", "listing"))
        of_tree = os.path.join(folder, "listing-of-tree")
        measure.say(f"making {name}")
        write(rows.args.tree, file)
        mounts.run(mounts.program("augurpack"), "adopt", "--quiet", file, store)
        measure.write_listing(rows.args.tree, of_tree)
        cold = (folder, rows.args.tree, rows.store)
        contenders = {"file": lambda: read_through(file),
                      "mount": lambda: through_mount(rows, store, listing, *cold),
                      "packed": lambda: through_mount(rows, rows.store, of_tree),
                      "folder": lambda: whole_files(rows.args.tree, of_tree, rows.args.file_count)}
        table = Table(f"{name}, adopted: all images in the order of the file, cold", "MB/s", "file")
        for number in range(rows.args.rounds):
            for who in measure.in_turn(contenders, number):
                measure.forget_files(*cold)
                table.add(who, contenders[who]() / 1e6)
            measure.say(f"{name}: round {number + 1} of {rows.args.rounds}")
        tables.append(table)
    return tables
