# SPDX-License-Identifier: Apache-2.0
"""Packs damaged archives and compares what comes of them with GNU tar and zipfile.

    python3 tests/cli/mutated_archives.py --augurpack build/dev/tools/augurpack --count 2000 --seed 1

Each archive is a sound tar, tar.gz, zip, TFRecord, RecordIO, MDS, Parquet or Arrow file with flipped bits, cut off, with zeros in it, or with blocks of another archive.
Whatever it is: augurpack ends by itself, with exit status 0 or 2; with 2 it says why and leaves no store; with 0 all rules of
the store hold, it has all members that GNU tar lists, and the same bytes where GNU tar unpacks the archive without an error.
"""

import argparse
import collections
import gzip
import io
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

import arrow_writer
import parquet_writer
from archive_support import contents
from container_files import RECORDIO_MAGIC, example, image_record, jpeg, mds, recordio, tfrecord
from pack_support import reader, store_entries

BLOCK = 512
# Of a run that takes a tenth of a second, on a machine that does a hundred other things.
HANG_S = 120
SAMPLES = ("tfrecord", "recordio", "mds", "parquet", "arrow")


def sound_tar(rng, tar_format):
    """Every kind of member, with names that need what each format has for long ones."""
    out = io.BytesIO()

    def add(name, data=b"", **fields):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        info.mtime = 1_600_000_000
        for field, value in fields.items():
            setattr(info, field, value)
        tar.addfile(info, io.BytesIO(data))

    with tarfile.open(fileobj=out, mode="w", format=tar_format) as tar:
        add("d", type=tarfile.DIRTYPE, mode=0o755)
        for i in range(6):
            add(f"d/{i}.jpg", rng.randbytes(rng.choice([0, 10, 511, 512, 513, 5000])))
        add("d/hard", type=tarfile.LNKTYPE, linkname="d/1.jpg")
        add("d/soft", type=tarfile.SYMTYPE, linkname="1.jpg")
        add("long/" + "n" * 120 + "/" + "m" * 90, b"long")
        add("d/1.jpg", b"the newer one")
        add("text", bytes(3000) + b"zeros before")
        add("last", rng.randbytes(700))
    return out.getvalue()


def sound_zip(rng, methods=(zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for i in range(6):
            data = rng.choice([rng.randbytes(900), b"text " * 400, b""])
            archive.writestr(f"d/{i}", data, rng.choice(methods))
    return out.getvalue()


def sound_samples(rng, form):
    """A container of images that have no paths."""
    images = [jpeg(rng.random(), rng.choice([0, 500, 501, 3000])) for _ in range(6)]
    if form == "tfrecord":
        return tfrecord(*(example(image=data, label=i % 2, file_name=f"{i}.jpg") for i, data in enumerate(images)))
    if form == "recordio":
        images[2] = b"\xff\xd8\xff\xe0" + RECORDIO_MAGIC + images[2]
        return recordio(*(image_record(i, i % 2, data) for i, data in enumerate(images)))
    rows = [(data, f"{i}.jpg".encode(), i % 2) for i, data in enumerate(images)]
    if form == "parquet":
        return parquet_writer.parquet([parquet_writer.table(rows[:3], version=2, dictionary=True), parquet_writer.table(rows[3:])])
    if form == "arrow":
        return arrow_writer.table(rows[:3], rows[3:])
    return mds({"image": "jpeg", "label": "int", "name": "str"}, *(
        {"image": data, "label": i % 2, "name": f"{i}.jpg"} for i, data in enumerate(images)))  # fmt: skip


def mutate(rng, data, other):
    """The damaged bytes, and what was done."""
    data = bytearray(data)

    def span(of):
        begin = rng.randrange(len(of) // BLOCK + 1) * BLOCK
        return begin, min(len(of), begin + rng.choice([1, 1, 2, 3, 8]) * BLOCK)

    kind = rng.choice(["flip", "flip", "cut", "zero", "overwrite", "insert", "remove", "behind"])
    if kind == "flip":
        for _ in range(rng.choice([1, 1, 2, 8])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        at = rng.randrange(len(data))
        del data[at - at % BLOCK if rng.random() < 0.5 else at :]
    elif kind == "zero":
        begin, end = span(data)
        data[begin:end] = bytes(end - begin)
    elif kind == "remove":
        begin, end = span(data)
        del data[begin:end]
    else:
        source = rng.choice([bytes(data), other])
        begin, end = span(source)
        piece = source[begin:end]
        at = len(data) if kind == "behind" else span(data)[0]
        data[at : at + len(piece) if kind == "overwrite" else at] = piece
    return bytes(data), kind


class Wrong(Exception):
    """What must not be."""


def gnu_listing(path, packed):
    """The clean paths that GNU tar lists, but for devices and other things that no store has."""
    base = ["tar", "-z"] if packed else ["tar"]
    listed = subprocess.run([*base, "--quoting-style=escape", "--numeric-owner", "--full-time", "-tvf", path],
                            capture_output=True, timeout=HANG_S, check=False).stdout  # fmt: skip
    paths = set()
    for line in listed.splitlines():
        kind, name = line[:1], line.split(None, 5)[5:] or [b""]  # mode, owner, size, date, time
        if kind in (b"p", b"c", b"b", b"V"):
            continue
        name = name[0].split({b"l": b" -> ", b"h": b" link to "}.get(kind, b"\0"))[0]
        raw = re.sub(rb"\\([0-7]{3}|.)", unescape, name)
        paths.add(b"/".join(part for part in raw.split(b"/") if part not in (b"", b".")))
    return paths


def names_without_end(path, packed):
    """The long names (GNU's type L) of a tar that lack the NUL behind them. They are as long as their header says; GNU tar takes what follows
    up to the next NUL for a part of them."""
    data = path.read_bytes()
    if packed:
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return set()
    names = set()
    for at in range(0, len(data) - 1024, 512):
        size = data[at + 124 : at + 135].rstrip(b"\0 ")
        if data[at + 156 : at + 157] == b"L" and data[at + 257 : at + 262] == b"ustar" and re.fullmatch(rb"[0-7]+", size):
            name = data[at + 512 : at + 512 + int(size, 8)]
            if name and b"\0" not in name:
                names.add(b"/".join(part for part in name.split(b"/") if part not in (b"", b".")))
    return names


def unescape(match):
    text = match.group(1)
    if len(text) == 3:
        return bytes([int(text, 8)])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}.get(text, text)


def store_of(folder):
    """(all paths, path -> bytes of the files), after every check of the second reader."""
    reader.full_check(folder)
    with reader.Store(folder) as store:
        entries = store_entries(store)
        return set(entries), {p: store.read(e, 0, e.size) for p, e in entries.items() if e.is_file}


def check_tar(path, packed, store, scratch):
    paths, files = store_of(store)
    cut = names_without_end(path, packed)
    if missing := {name for name in gnu_listing(path, packed) - paths if not any(name.startswith(one) and one in paths for one in cut)}:
        raise Wrong(f"the store lacks {sorted(missing)[:3]}")
    scratch.mkdir()
    words = ["tar", "-z"] if packed else ["tar"]
    done = subprocess.run([*words, "-x", "--no-same-owner", "--no-same-permissions", "-f", path, "-C", scratch],
                          capture_output=True, timeout=HANG_S, check=False)  # fmt: skip
    if done.returncode != 0:
        return "GNU tar complains"
    # GNU tar has the longer names.
    if {name: data for name, data in contents(scratch).items() if not name.startswith(tuple(cut))} != {
            name: data for name, data in files.items() if name not in cut}:
        raise Wrong("the files are not those that GNU tar unpacks")
    return "as GNU tar"


def check_zip(path, store):
    _, files = store_of(store)
    if not zipfile.is_zipfile(path):
        raise Wrong("zipfile does not take it for a zip")
    with zipfile.ZipFile(path) as archive:
        for name, info in archive.NameToInfo.items():
            try:
                data = archive.read(info)
            except Exception:  # noqa: BLE001, S112 - whatever zipfile throws at damage
                continue
            if not name.endswith("/") and files.get(name.strip("/").encode()) != data:
                raise Wrong(f"{name} is not as zipfile reads it")
    return "as zipfile"


def check_samples(path, store):
    """Whatever is shown lies in the file; an image of RecordIO may lie there in parts."""
    _, files = store_of(store)
    data = path.read_bytes()
    if not files and data:
        raise Wrong("nothing is there")
    for name, image in files.items():
        if any(part not in data for part in image.split(RECORDIO_MAGIC)):
            raise Wrong(f"{name!r} does not lie in the file")
    return "as in the file"


def run_one(augurpack, command, path, packed, store, scratch):
    """What became of one archive, in a word or two. Wrong: it must not be so."""
    done = subprocess.run([augurpack, command, "--quiet", *(["--on-duplicate=last"] if command == "adopt" else []), path, store],
                          capture_output=True, timeout=HANG_S, check=False)  # fmt: skip
    error = done.stderr.decode(errors="backslashreplace")
    if done.returncode not in (0, 2) or "Sanitizer" in error or "runtime error" in error:
        raise Wrong(f"exit {done.returncode}: {error[-3000:]}")
    published = (store / "manifest").exists()
    if done.returncode == 2:
        if published or not error.startswith("augurpack: "):
            raise Wrong(f"exit 2, store there: {published}, text: {error!r}")
        if error.strip().endswith(":"):
            raise Wrong(f"no cause: {error!r}")
        return "refused"
    if not published:
        raise Wrong("exit 0 and no store")
    if path.suffix == ".samples":
        return check_samples(path, store)
    return check_zip(path, store) if path.suffix == ".zip" else check_tar(path, packed, store, scratch)


def run_many(augurpack, count, seed, keep=None):
    """A Counter of (format, mutation, outcome), and the texts of all that went wrong."""
    outcomes, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="augur-mutated-") as top:
        top = pathlib.Path(top)
        for number in range(count):
            rng = random.Random(f"{seed}:{number}")
            form = rng.choice(["gnu", "pax", "gnu-created", "gz", "zip", "stored", *SAMPLES])
            tar = sound_tar(rng, tarfile.PAX_FORMAT if form == "pax" else tarfile.GNU_FORMAT)
            data = {"gz": lambda tar=tar: gzip.compress(tar, mtime=0), "zip": lambda rng=rng: sound_zip(rng),
                    "stored": lambda rng=rng: sound_zip(rng, [zipfile.ZIP_STORED])}.get(form, lambda tar=tar: tar)()  # fmt: skip
            if form in SAMPLES:
                data = sound_samples(rng, form)
            other = sound_zip(rng) if form in ("zip", "stored") else sound_tar(rng, tarfile.GNU_FORMAT)
            data, kind = mutate(rng, data, other)
            suffixes = {"gz": "tar.gz", "zip": "zip", "stored": "zip"} | dict.fromkeys(SAMPLES, "samples")
            path = top / f"x.{suffixes.get(form, 'tar')}"
            path.write_bytes(data)
            adopts = form in ("stored", *SAMPLES) or (form in ("gnu", "pax") and rng.random() < 0.5)
            copies = form in SAMPLES and rng.random() < 0.3
            command = "adopt" if adopts and not copies else "create"
            try:
                outcome = run_one(augurpack, command, path, form == "gz", top / "store", top / "scratch")
            except (Wrong, subprocess.TimeoutExpired, reader.StoreError) as error:
                outcome = "WRONG"
                wrong.append(f"seed {seed}:{number}: {form}, {kind}, {command}: {error}")
                if keep is not None:
                    shutil.copy(path, os.path.join(keep, f"{number}-{path.name}"))
            outcomes[form, kind, outcome] += 1
            for folder in (top / "store", top / "scratch"):
                shutil.rmtree(folder, ignore_errors=True)
    return outcomes, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--augurpack", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", help="a folder for the archives of which something is wrong")
    options = parser.parse_args()
    outcomes, wrong = run_many(options.augurpack, options.count, options.seed, options.keep)
    for (form, kind, outcome), count in sorted(outcomes.items()):
        print(f"{count:6} {form:13} {kind:10} {outcome}")
    print("\n".join(wrong))
    print(f"{options.count} archives, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
