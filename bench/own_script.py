#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a mount gains a user's own script on the user's own data: one table, a row for each way to the data.

    bench/own_script.py [--quick] [--folder] SCRIPT DATA WORK

SCRIPT is a command line: the path of the data takes the place of {} in it, or comes behind its last word. A first word that ends in
.py is run by this python3, or by Debian's if this one lacks a module that Debian's has. DATA is a folder, WORK one for what is made.
Each row runs the script twice: at first with nothing in memory (as root; else without the data), and again. The folder's row comes
before DATA is packed, so that a script that fails shows early. With --folder it is the only one, and the next run takes it over. A
row that cannot run here is named with the reason. Exit status 2: the script fails on the folder itself; its last lines are shown.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile

import measure
import mounts

sys.path.insert(0, str(mounts.ROOT / "bench" / "remote"))
import line  # noqa: E402
import object_servers  # noqa: E402

LAST_LINES = 20
DELAY_MS = 15  # each way
VIEW = "pixels+size=256"
CONTAINERS = "containers"  # a folder of WORK
FOLDER_FIGURES = "folder.json"  # a file of WORK
DEBIANS_PYTHON = "/usr/bin/python3"
DEBIANS_MODULES = ("torch", "torchvision")  # of packaging/deps.sh torchvision


class Failed(Exception):
    """The script has ended with an error; its last lines."""


@dataclasses.dataclass
class Way:
    """`place(bench)` is a context that yields (path for the script, mount point or None); `why_not(bench)` why it cannot, or nothing."""

    what: str
    place: object
    why_not: object = lambda bench: ""
    quick: bool = False


@dataclasses.dataclass
class Figures:
    seconds: list
    found: list  # what augurctl doctor says: [{"name", ...}]
    failure: str = ""


class Bench:
    def __init__(self, args):
        self.command, self.data, self.work, self.quick = shlex.split(args.script), args.data, args.work, args.quick
        self.store = os.path.join(self.work, "data.augur")
        self.python = sys.executable
        self.data_bytes = sum(os.lstat(os.path.join(where, name)).st_size for where, _, names in os.walk(self.data) for name in names)
        self.images = 0  # of the store

    def is_python(self):
        return self.command[0].endswith(".py")

    def words(self, path):
        """The script's command line for this path."""
        words = [word.replace("{}", path) for word in self.command]
        words += [] if any("{}" in word for word in self.command) else [path]
        return [self.python, *words] if self.is_python() else words

    def take_debians_python(self, module):
        """Whether Debian's Python has that module, which this one lacks: then it runs the script. Its torch and torchvision are installed."""
        if not self.is_python() or not module:
            return False
        if module in DEBIANS_MODULES and not measure.has_module(DEBIANS_PYTHON, module):
            subprocess.run([mounts.ROOT / "packaging" / "deps.sh", "torchvision"], stdin=subprocess.DEVNULL, check=False)
        if not measure.has_module(DEBIANS_PYTHON, module):
            return False
        measure.say(f"{self.python} has no module {module}. The script is run by {DEBIANS_PYTHON}, which has it.")
        self.python = DEBIANS_PYTHON
        return True

    def folder_figures(self):
        """The figures of the plain folder: those of a run with --folder, if that was the last one, else new ones."""
        kept = pathlib.Path(self.work) / FOLDER_FIGURES
        with contextlib.suppress(FileNotFoundError):
            earlier = json.loads(kept.read_text(encoding="utf-8"))
            kept.unlink()
            if earlier.pop("of") == [self.command, self.data, self.quick]:
                self.python = earlier["python"]
                return Figures(earlier["seconds"], [])
        figures = self.figures(FOLDER, 1)
        if self.take_debians_python(missing_module(figures.failure)):
            figures = self.figures(FOLDER, 1)
        return figures

    def keep(self, figures):
        """For the next run."""
        kept = {"of": [self.command, self.data, self.quick], "python": self.python, "seconds": figures.seconds}
        (pathlib.Path(self.work) / FOLDER_FIGURES).write_text(json.dumps(kept), encoding="utf-8")

    def pack(self):
        shutil.rmtree(self.store, ignore_errors=True)
        print(f"+ augurpack create {self.data} {self.store}", flush=True)
        status = subprocess.run([mounts.program("augurpack"), "create", self.data, self.store], stdin=subprocess.DEVNULL, check=False).returncode
        if status:
            sys.exit(status)  # it has said why
        self.images = json.loads(mounts.run(mounts.program("augurpack"), "info", "--json", self.store))["images"]

    def run(self, path, prefix=(), beside=lambda: contextlib.nullcontext()):
        """Seconds that the script takes. `beside`: a context that runs meanwhile."""
        with tempfile.TemporaryFile() as output:
            start = time.monotonic()
            process = subprocess.Popen([*prefix, *self.words(path)], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            try:
                with beside():
                    status = process.wait()
                    seconds = time.monotonic() - start  # what runs beside may end later
            finally:
                mounts.end(process)
            if status == 0:
                return seconds
            output.seek(0)
            lines = output.read().decode(errors="replace").splitlines()
            raise Failed("\n".join([*lines[-LAST_LINES:], f"(exit status {status})"]))

    @contextlib.contextmanager
    def doctor(self, point, seconds, findings):
        """Watches the mount for so long, from the script's first read on: its imports may take longer than that."""
        ended = threading.Event()

        def watch():
            reads = mounts.statistics(point)["counters"]["reads"]
            while mounts.statistics(point)["counters"]["reads"] == reads:
                if ended.wait(0.05):
                    return
            words = [mounts.program("augurctl"), "doctor", "--json", "--seconds", str(seconds), point]
            said = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout
            with contextlib.suppress(ValueError):
                findings.extend(json.loads(said).get("findings", []))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    @contextlib.contextmanager
    def report(self, point):
        """Pictures of the run, for a browser."""
        words = [mounts.program("augurctl"), "report", "--seconds", "86400", "-o", os.path.join(self.work, "epochs.html"), point]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            mounts.end(process)

    @contextlib.contextmanager
    def mounted(self, store, *options, prefix=()):
        """The mount point of a new mount whose daemon knows nothing of earlier ones."""
        point = os.path.join(self.work, "mount")
        with mounts.augurfs(store, point, *options, prefix=prefix):
            yield point

    def forget(self):
        """Nothing is in memory any more: as root nothing at all, else no file of the data and of what is made of it."""
        if measure.is_root():
            measure.drop_caches()
        else:
            with contextlib.suppress(PermissionError):  # of a file that this user may not read: the script or augurpack says so
                measure.forget_files(self.data, self.store, os.path.join(self.work, CONTAINERS))

    def made(self, name, make):
        """The path of what `make(path)` makes once."""
        path = os.path.join(self.work, CONTAINERS, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            make(path + ".partial")
            os.rename(path + ".partial", path)
        return path

    def figures(self, way, expected_s):
        """Runs the script this way, once or twice."""
        figures = Figures([], [])
        with way.place(self) as (path, point):
            for again in range(1 if self.quick else 2):
                if not again:
                    self.forget()
                watch = max(1, min(10, int(expected_s / 2)))
                beside = contextlib.nullcontext
                if point and not again:
                    def beside():
                        stack = contextlib.ExitStack()
                        stack.enter_context(self.doctor(point, watch, figures.found))
                        if way.what == "mount":
                            stack.enter_context(self.report(point))
                        return stack
                try:
                    figures.seconds.append(self.run(path, beside=beside))
                except Failed as failure:
                    figures.failure = str(failure)
                    break
        return figures


def missing_module(text):
    """The module of which Python has said last that it is not there, without what follows a dot; or an empty text."""
    found = re.findall(r"^ModuleNotFoundError: No module named '(\w+)", text, re.MULTILINE)
    return found[-1] if found else ""


@contextlib.contextmanager
def plain(bench):
    yield bench.data, None


@contextlib.contextmanager
def mount(bench):
    with bench.mounted(bench.store) as point:
        yield point, point


@contextlib.contextmanager
def pixels(bench):
    with bench.mounted(bench.store) as point:
        yield os.path.join(point, ".augur", "views", VIEW), point


@contextlib.contextmanager
def bucket(bench):
    """The packed data in a bucket, behind a line that takes 15 ms each way."""
    with contextlib.ExitStack() as stack:
        slow = stack.enter_context(line.slow_line(delay_ms=DELAY_MS))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="objects.", dir=bench.work))
        with slow.server.entered():
            server = stack.enter_context(object_servers.default_server()(folder, slow.server.address))
            client = server.client("quickstart")
            client.create_bucket()
            for path in sorted(pathlib.Path(bench.store).rglob("*")):
                if path.is_file():
                    client.put("data.augur/" + path.relative_to(bench.store).as_posix(), path.read_bytes())
            client.close()
        variables = [f"{name}={value}" for name, value in server.environment().items()]
        prefix = [*slow.clients[0].prefix, "env", *variables]
        point = stack.enter_context(bench.mounted("s3://quickstart/data.augur", f"endpoint-url={server.endpoint}", prefix=prefix))
        yield point, point


def adopted(name, make):
    """A mount of a container that is adopted where it is."""
    @contextlib.contextmanager
    def place(bench):
        container = bench.made(f"data.{name}", lambda path: make(bench.data, path))
        store = os.path.join(bench.work, f"{name}.augur")
        shutil.rmtree(store, ignore_errors=True)
        mounts.run(mounts.program("augurpack"), "adopt", "--quiet", container, store)
        with bench.mounted(store) as point:
            yield point, point
    return place


def make_tar(data, path):
    with tarfile.open(path, "w") as tar:
        for name in sorted(os.listdir(data)):
            tar.add(os.path.join(data, name), name)


def make_zip(data, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
        for where, folders, names in os.walk(data):
            folders.sort()
            for name in sorted(names):
                file = os.path.join(where, name)
                archive.write(file, os.path.relpath(file, data))


def no_images(bench):
    return "" if bench.images else "the data has no JPEG or PNG file"


def no_room(bench):
    free = shutil.disk_usage(bench.work).free
    return "" if free > 2 * bench.data_bytes else f"needs {2 * bench.data_bytes / 2**30:.1f} GiB of free disk"


def no_bucket(bench):
    if not measure.is_root():
        return "needs root, for a line of 30 ms"
    try:
        mounts.program("netlag")
    except FileNotFoundError:
        return "needs the program netlag: cmake --preset release -DAUGUR_BENCH=ON, and run this again"
    try:
        object_servers.server_program("s3")
    except (OSError, subprocess.CalledProcessError):
        return "packaging/servers.sh could not make an S3 server"
    return no_room(bench)


FOLDER = Way("folder", plain)
WAYS = (
    Way("mount", mount, quick=True),
    Way(f"decoded images, view {VIEW}", pixels, no_images, quick=True),
    Way("bucket of a local S3 server, 30 ms away", bucket, no_bucket),
    Way("tar file, adopted without a copy", adopted("tar", make_tar), no_room),
    Way("zip file, adopted without a copy", adopted("zip", make_zip), no_room),
)


def sentence(found):
    """What the doctor has found, in few words."""
    names = {finding["name"] for finding in found}
    problems = ", ".join(finding["name"] for finding in found if finding["weight"] == "problem")
    if problems or not names:
        return problems or "-"
    return "it saw no read" if "nothing-read" in names else "nothing holds it back"


def print_table(rows, root):
    """(what, Figures) aligned; the folder first. `root`: whether root has measured."""
    folder = rows[0][1].seconds
    head = ("", f"first run, {'nothing' if root else 'no data'} in memory", "second run", "first: times as fast", "second", "augurctl doctor says, of the first")
    lines = [head]
    for what, figures in rows:
        seconds = [f"{one:.1f} s" for one in figures.seconds] + ["-", "-"]
        times = [f"{base / one:.2f}" for base, one in zip(folder, figures.seconds)] + ["-", "-"]
        said = f"failed: {figures.failure.splitlines()[-2:][0]}" if figures.failure else sentence(figures.found)
        lines.append((what, seconds[0], seconds[1], times[0], times[1], said))
    widths = [max(len(one[place]) for one in lines) for place in range(len(head))]
    for one in lines:
        print("  ".join([one[0].ljust(widths[0]), *(one[place].rjust(widths[place]) for place in range(1, 5)), one[5]]).rstrip())


def main():
    parser = argparse.ArgumentParser(description="What a mount gains a script of the user's own.")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("work", metavar="WORK")
    parser.add_argument("--quick", action="store_true", help="one run each of the folder, the mount and the view")
    parser.add_argument("--folder", action="store_true", help="only the folder, for the next run to take over")
    args = parser.parse_args()
    measure.clean_up_when_told_to_end()
    os.makedirs(args.work, exist_ok=True)
    bench = Bench(args)
    folder = bench.folder_figures()
    if folder.failure:
        print(f"own_script.py: {args.script}: fails on the folder itself, so there is nothing to compare. Its last lines:\n{folder.failure}", file=sys.stderr)
        if bench.is_python() and missing_module(folder.failure):
            print(f"It was run by {bench.python}. Another Python is named before it: --script '/path/to/environment/bin/python {args.script}'", file=sys.stderr)
        return 2
    if args.folder:
        bench.keep(folder)
        measure.say(f"It took {' and '.join(f'{one:.1f}' for one in folder.seconds)} s.")
        return 0
    bench.pack()
    rows, left_out = [(FOLDER.what, folder)], []
    for way in WAYS:
        why_not = "left out by --quick" if args.quick and not way.quick else way.why_not(bench)
        if why_not:
            left_out.append(f"{way.what}: {why_not}")
            continue
        measure.say(f"running: {way.what}")
        try:
            rows.append((way.what, bench.figures(way, folder.seconds[0])))
        except RuntimeError as failure:
            left_out.append(f"{way.what}: {failure}")
    print(f"\n{args.script}, on {args.data} ({bench.data_bytes / 2**20:,.0f} MiB)\n{measure.machine()}\n")
    print_table(rows, measure.is_root())
    for text in left_out:
        print(f"not measured: {text}")
    for finding in next((figures.found for what, figures in rows if what == "mount"), []):
        if finding["weight"] != "fine":
            print(f"\naugurctl doctor, of the mount: {finding['text']} {finding['cure']}".rstrip())
    page = pathlib.Path(args.work) / "epochs.html"
    if page.exists():
        print(f"\nPictures of the first run on the mount: {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
