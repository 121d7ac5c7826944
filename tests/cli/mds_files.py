# SPDX-License-Identifier: Apache-2.0
"""Writes folders of shards by MDSWriter of MosaicML Streaming into a folder, and wanted.json: of each the paths and bytes that a store of
its shards must have, as LocalDataset reads them, and whether its images lie in it as they are."""

import io
import json
import pathlib
import random
import sys

import numpy
import streaming
import streaming.base.compression
from PIL import Image

FOLDER = pathlib.Path(sys.argv[1])
COUNT = 60


def photograph(rng):
    return Image.fromarray(numpy.frombuffer(rng.randbytes(48 * 32 * 3), numpy.uint8).reshape(32, 48, 3))


def encoded(image, kind):
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def of_files(rng, i):
    """A JPEG that was opened from a file, whose bytes the writer takes over, and one that it encodes."""
    image = photograph(rng)
    if i % 2:
        path = FOLDER / "source.jpg"
        path.write_bytes(encoded(image, "JPEG"))
        image = Image.open(path)
    return {"image": image, "label": i % 3, "name": f"{i}.JPEG", "box": numpy.arange(1 + i % 4, dtype=numpy.float32), "weight": numpy.float32(i),
            "about": {"number": i}}  # fmt: skip


def of_png(rng, i):
    return {"image": photograph(rng), "class": f"class {i % 3}", "id": numpy.uint16(i)}


def of_bytes(rng, i):
    return {"data": encoded(photograph(rng), "PNG" if i % 3 else "JPEG"), "y": numpy.int8(i % 3 - 1)}


SETS = {
    "files": (of_files, {"image": "jpeg", "label": "int", "name": "str", "box": "ndarray", "weight": "float32", "about": "json"}, {}),
    "png": (of_png, {"image": "png", "class": "str", "id": "uint16"}, {"hashes": ["sha1", "xxh64"]}),
    "bytes": (of_bytes, {"data": "bytes", "y": "int8"}, {"size_limit": 20_000}),
    "gz": (of_bytes, {"data": "bytes", "y": "int8"}, {"compression": "gz"}),
    "bz2": (of_png, {"image": "png", "class": "str", "id": "uint16"}, {"compression": "bz2:9"}),
    "zstd": (of_files, {"image": "jpeg", "label": "int", "name": "str", "box": "ndarray", "weight": "float32", "about": "json"},
             {"compression": "zstd:3", "size_limit": 50_000}),
}  # fmt: skip


def bytes_of(sample):
    """The image as the shard has it; a reader of pictures hands out what it was given."""
    value = sample["data"] if "data" in sample else sample["image"].fp.getvalue()
    return bytes(value)


def tree(samples, shards):
    """The paths of a store of these shards, which are [(file, samples)]."""
    files = {}
    places = [(name, i) for name, count in shards for i in range(count)]
    for (shard, i), sample in zip(places, samples, strict=True):
        data = bytes_of(sample)
        ending = ".png" if data[:1] == b"\x89" else ".jpg"
        name = sample.get("name", (pathlib.Path(shard).stem + "-" if len(shards) > 1 else "") + f"{i:08}{ending}")
        label = sample.get("class", sample.get("label", sample.get("y")))
        folder = label if isinstance(label, str) else f"{int(label):06}" if label >= 0 else ""
        files[f"{folder}/{name}".lstrip("/")] = data.hex()
    return files


def read(folder, shards):
    """All samples. LocalDataset reads what is not compressed."""
    for shard in shards:
        if shard["compression"]:
            packed = (folder / shard["zip_data"]["basename"]).read_bytes()
            (folder / shard["raw_data"]["basename"]).write_bytes(streaming.base.compression.decompress(shard["compression"], packed))
    dataset = streaming.LocalDataset(str(folder))
    return [dataset[i] for i in range(len(dataset))]


def main():
    wanted = {}
    for name, (make, columns, options) in SETS.items():
        rng = random.Random(name)
        folder = FOLDER / name
        with streaming.MDSWriter(out=str(folder), columns=columns, progress_bar=False, **options) as writer:
            for i in range(COUNT):
                writer.write(make(rng, i))
        shards = json.loads((folder / "index.json").read_text())["shards"]
        adopts = "compression" not in options
        files = [(shard["raw_data" if adopts else "zip_data"]["basename"], shard["samples"]) for shard in shards]
        wanted[name] = {"files": tree(read(folder, shards), files), "shards": [file for file, _ in files], "adopts": adopts}
    (FOLDER / "wanted.json").write_text(json.dumps(wanted))


main()
