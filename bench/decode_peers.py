#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our decoders and resize beside those that a script has today, image by image on one core. bench/README.md says how.

    bench/decode_peers.py [--files FOLDER] [--count N] [--rounds N] [--python-of ffcv=PROGRAM] [--json]

Each contender decodes the same JPEGs, held in memory, to RGB pixels; with "256" the shorter side is then made 256, bilinear, with
antialiasing where the library has it. Rates are images by processor time, each round takes all contenders in turn, and ratios are
formed round by round. What is not installed is left out by name; libraries with threads of their own are told to use one.
"""

import argparse
import importlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import measure  # noqa: E402
import mounts  # noqa: E402
from measure import Report, Table, say  # noqa: E402

SHORT = 256


def find_jpegs(folder, count):
    """The files that pixels_bench takes: the first of the sorted walk that are JPEG by content."""
    paths = sorted(pathlib.Path(where) / name for where, _, names in os.walk(folder) for name in names)
    found = []
    for path in paths:
        with open(path, "rb") as file:
            if file.read(3) == b"\xff\xd8\xff":
                found.append(path)
        if len(found) == count:
            break
    return found


def size_for(width, height):
    short = min(width, height)
    return SHORT * width // short, SHORT * height // short


class Ours:
    """pixels_bench, one round a call."""

    def __init__(self, folder, count, row):
        self.words = [mounts.program("pixels_bench"), "--files", folder, "--count", count, "--rounds", 1, "--only", row]
        self.row = row

    def rate(self):
        return json.loads(mounts.run(*self.words))["images by second and core"][self.row]["median"]


class Tjbench:
    """libjpeg-turbo's own measurement, of each file apart: megapixels a second, by its wall clock; at most 20 of the files."""

    def __init__(self, paths):
        self.paths = paths[:20]

    def rate(self):
        from PIL import Image

        seconds = 0
        for path in self.paths:
            # Its last column; -quiet 2 has no headings in between.
            out = mounts.run("tjbench", path, "-rgb", "-accuratedct", "-benchtime", "0.05", "-warmup", "0", "-quiet", "-nowrite")
            row = next(line for line in out.splitlines() if line.startswith("RGB"))
            with Image.open(path) as image:
                seconds += image.width * image.height / 1e6 / float(row.split()[-1])
        return len(self.paths) / seconds


class InProcess:
    """A function of a file's bytes."""

    def __init__(self, files, work):
        self.files, self.work = files, work

    def rate(self):
        begin = time.process_time()
        for file in self.files:
            self.work(file)
        return len(self.files) / (time.process_time() - begin)


def pillow(files):
    from PIL import Image

    def decode(file):
        return Image.open(io.BytesIO(file)).convert("RGB")

    def decode_256(file):
        image = decode(file)
        return image.resize(size_for(*image.size), Image.Resampling.BILINEAR)

    images = [decode(file) for file in files]
    for image in images:
        image.load()
    return {"decode": InProcess(files, decode), "decode 256": InProcess(files, decode_256),
            "resize": InProcess(images, lambda image: image.resize(size_for(*image.size), Image.Resampling.BILINEAR))}


def opencv(files):
    cv2 = importlib.import_module("cv2")
    numpy = importlib.import_module("numpy")
    cv2.setNumThreads(1)
    arrays = [numpy.frombuffer(file, numpy.uint8) for file in files]

    def decode_256(file):
        image = cv2.imdecode(file, cv2.IMREAD_COLOR)
        return cv2.resize(image, size_for(image.shape[1], image.shape[0]), interpolation=cv2.INTER_LINEAR)

    return {"decode": InProcess(arrays, lambda file: cv2.imdecode(file, cv2.IMREAD_COLOR)), "decode 256": InProcess(arrays, decode_256)}


def torchvision(files):
    torch = importlib.import_module("torch")
    module = importlib.import_module("torchvision.io")
    functional = importlib.import_module("torchvision.transforms.v2.functional")
    torch.set_num_threads(1)
    tensors = [torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in files]

    def decode(file):
        return module.decode_jpeg(file, mode=module.ImageReadMode.RGB)

    def decode_256(file):
        return functional.resize(decode(file), [SHORT], antialias=True)

    return {"decode": InProcess(tensors, decode), "decode 256": InProcess(tensors, decode_256)}


class Dali:
    """A pipeline whose one batch is all files; what it hands over is decoded."""

    def __init__(self, files, resized):
        dali = importlib.import_module("nvidia.dali")
        numpy = importlib.import_module("numpy")
        fn, types = dali.fn, dali.types
        arrays = [numpy.frombuffer(file, numpy.uint8) for file in files]

        @dali.pipeline_def(batch_size=len(files), num_threads=1, device_id=None, exec_async=False, exec_pipelined=False, exec_dynamic=False)
        def pipeline():
            images = fn.decoders.image(fn.external_source(source=lambda: arrays, batch=True), device="cpu", output_type=types.RGB)
            return fn.resize(images, resize_shorter=SHORT, interp_type=types.INTERP_LINEAR, antialias=True) if resized else images

        self.count, self.pipeline = len(files), pipeline()
        self.pipeline.build()
        for _ in range(2):  # its buffers grow in the first batches
            self.rate()

    def rate(self):
        begin = time.process_time()
        (images,) = self.pipeline.run()
        seconds = time.process_time() - begin
        if len(images) != self.count:
            raise RuntimeError(f"DALI decoded {len(images)} of {self.count} files")
        return self.count / seconds


def dali(files):
    return {"decode": Dali(files, False), "decode 256": Dali(files, True)}


class Ffcv:
    """A script of its own, with a Python that has FFCV."""

    def __init__(self, python, paths, *words):
        self.words = [python, HERE / "views_scripts" / "ffcv_decode.py", *words]
        self.paths = "\n".join(map(str, paths))

    def rate(self):
        run = subprocess.run(self.words, input=self.paths, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise RuntimeError(f"FFCV: {run.stderr.strip()}")
        return float(run.stdout)


def ffcv(python, paths):
    """{table: contender}, none without FFCV."""
    try:
        Ffcv(python, paths[:1]).rate()
    except RuntimeError as error:
        say(f"left out: {str(error).splitlines()[-1]} (bench/requirements-views.txt, then --python-of ffcv=PROGRAM)")
        return {}
    return {"decode": Ffcv(python, paths), "decode 256": Ffcv(python, paths, "256")}


def contenders(folder, paths, python_of):
    """{table: {name: contender}}; the base comes first."""
    files, count = [path.read_bytes() for path in paths], len(paths)
    tables = {"decode": {}, "decode 256": {}, "resize": {}}
    ours = {"decode": ("augurfs", "decode"), "decode 256": ("augurfs", "decode 256")}
    for maker in (pillow, opencv, torchvision, dali):
        try:
            made = maker(files)
        except ImportError as error:
            say(f"left out: {maker.__name__}: {error}")
            continue
        for table, one in made.items():
            tables[table][maker.__name__] = one
    for table, one in ffcv(python_of.get("ffcv", sys.executable), paths).items():
        tables[table]["ffcv"] = one
    for table, (name, row) in ours.items():
        tables[table][name] = Ours(folder, count, row)
    tables["decode 256"]["augurfs, scaled DCT"] = Ours(folder, count, "decode 256 fast")
    rows = json.loads(mounts.run(mounts.program("pixels_bench"), "--files", folder, "--count", 1, "--rounds", 1))
    for row in rows["images by second and core"]:
        if row.startswith("resize bilinear"):
            tables["resize"][f"augurfs {row.rpartition(' ')[2]}"] = Ours(folder, count, row)
        elif row == "turbojpeg":
            tables["decode"]["turbojpeg API"] = Ours(folder, count, row)
    if shutil.which("tjbench") and "pillow" in tables["decode"]:
        tables["decode"]["tjbench"] = Tjbench(paths)
    else:
        say("left out: tjbench: apt-get install libjpeg-turbo-progs")
    return tables


def main():
    parser = argparse.ArgumentParser(description="Our decoders and resize beside others.")
    parser.add_argument("--files", metavar="FOLDER", help="a folder with JPEGs (photographs are made)")
    parser.add_argument("--count", type=int, default=200, metavar="N", help="how many of them (200)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="rounds (7)")
    parser.add_argument("--python-of", action="append", default=[], type=lambda pair: pair.split("=", 1), metavar="MODULE=PROGRAM",
                        help="another Python for ffcv")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    args = parser.parse_args()
    measure.clean_up_when_told_to_end()
    report = Report(args.json)
    with tempfile.TemporaryDirectory(prefix="augur-decode-") as work:
        folder = args.files
        if not folder:
            folder = os.path.join(work, "photos")
            subprocess.run([sys.executable, HERE / "dataset.py", "--quiet", "--files", str(args.count), folder], check=True)
        paths = find_jpegs(folder, args.count)
        for name, people in contenders(folder, paths, dict(args.python_of)).items():
            if not people:
                continue
            table = Table(f"{name}, {len(paths)} JPEGs, one core", "images/s", next(iter(people)))
            for number in range(args.rounds):
                for one in measure.in_turn(people, number):
                    table.add(one, people[one].rate())
                say(f"{name}: round {number + 1} of {args.rounds}")
            report.add(table)
    report.end()


if __name__ == "__main__":
    main()
