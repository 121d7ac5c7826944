# SPDX-License-Identifier: Apache-2.0
"""The daemon's memory while large images are decoded: it stays within a small budget, and what an image in flight takes."""

import concurrent.futures
import contextlib
import os

import given_orders
import measure
import mounts
from given_orders import MIB
from measure import Table
from peak import Peak
from views_check import Check, expected, kind_of
from views_row import Row, view_path

# -o memory=, and whether the view is the whole mount and nothing is predicted, which leaves it most of that memory.
SETTINGS = {"256M": False, "4G": False, "1G, the view alone": True}
ALL_COME = "1G, the view alone"  # here no image is too large
READERS = (1, 4)
SPECS = ("npy", "pixels", "npy+size=256")


def memory(rows):
    """Peaks of RssAnon + RssShmem of the daemon and what it has started, all images asked for by one and four readers; how many of the images
    it had room for; and what one image in flight takes."""
    args = rows.args
    tree, store = (os.path.join(args.work, name) for name in ("large", "large.store"))
    sizes = rows.script(Row("large", script="large_images.py"), tree, "--images", args.large, "--megapixels", args.megapixels)
    mounts.create_store(tree, store)
    pixels_mib = 3 * max(width * height for width, height in sizes) / MIB
    what = f"{len(sizes)} images of {args.megapixels:g} megapixels ({pixels_mib:.0f} MiB decoded)"
    peaks = {setting: Table(f"{what}, memory={setting}: peak of the daemon", "MiB") for setting in SETTINGS}
    came = Table(f"{what}: read and right; the others were refused for want of memory", "per cent of the images")
    flight = Table(f"{what}: one of them alone, peak above what the daemon had before", "MiB")
    check = Check(rows)
    wanted = {words: check.digests(tree, *words) for words in {expected(spec) for spec in SPECS}} if not args.no_check else {}
    for number in range(args.rounds):
        for spec in measure.in_turn(SPECS, number):
            for setting, peak in peaks.items():
                if number == 0 and not args.no_check:
                    came.add(f"memory={setting}: {spec}", 100 * _checked(rows, wanted[expected(spec)], store, spec, setting) / len(sizes))
                for readers in READERS:
                    _, most = _peak(rows, store, spec, setting, readers)
                    peak.add(f"{spec}, {readers} reader{'s' * (readers != 1)}", most / MIB)
            before, most = _peak(rows, store, spec, ALL_COME, 1, files=1)
            flight.add(spec, (most - before) / MIB)
        measure.say(f"memory: round {number + 1} of {args.rounds}")
    for setting, peak in peaks.items():
        peak.add("the budget", {"M": 1, "G": 1024}[setting.partition(",")[0][-1]] * int(setting.partition(",")[0][:-1]))
    flight.add("pixels of one image", pixels_mib)
    return [*peaks.values(), *([came] if came.rounds else []), flight]


@contextlib.contextmanager
def _view(rows, store, spec, setting):
    """(folder of the view, daemon)."""
    options = ("predict=off", f"view={spec}") if SETTINGS[setting] else ()
    with rows.mounted(*options, store=store, memory=setting.partition(",")[0]) as (point, daemon):
        yield (point if SETTINGS[setting] else view_path(point, spec)), daemon


def _checked(rows, wanted, store, spec, setting):
    """How many images could be read; those are Pillow's, and none is missing where there is room."""
    check = Check(rows)
    with _view(rows, store, spec, setting) as (place, _):
        found = check.digests(place, "--refused-too", *kind_of(spec))
    refused = {name for name, digest in found.items() if digest is None}
    if refused and setting == ALL_COME:
        raise RuntimeError(f"{spec}, memory={setting}: {len(refused)} images could not be read")
    check.same(f"{spec}, memory={setting}", {name: digest for name, digest in wanted.items() if name not in refused},
               {name: digest for name, digest in found.items() if name not in refused})
    return len(found) - len(refused)


def held(pid):
    """Bytes that a process and what it has started have allocated: anonymous and shared pages, no mapped files."""
    total = 0
    for one in given_orders.family(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{one}/status", encoding="ascii", errors="replace") as file:
            total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith(("RssAnon:", "RssShmem:")))
    return total


def _read(path):
    """All of the file, or nothing where the daemon refuses to make it."""
    with contextlib.suppress(OSError), open(path, "rb", buffering=0) as file:
        while file.read(MIB):
            pass


def _peak(rows, store, spec, setting, readers, files=None):
    """(bytes held before, most while all files of the view, or some, are read by so many threads)."""
    rows.drop_caches()
    with _view(rows, store, spec, setting) as (place, daemon):
        paths = sorted(os.path.join(where, name) for where, _, names in os.walk(place) for name in names)[:files]
        with Peak(lambda: held(daemon.pid), 0.004) as watch:
            before = watch.peak
            with concurrent.futures.ThreadPoolExecutor(readers) as pool:
                list(pool.map(_read, paths))
    return before, watch.peak
