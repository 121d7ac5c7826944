#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages stores and looks at what augurpack makes of them: mutate_stores.py COUNT [SEED]. AUGUR_BUILD names the build.

Half of the stores get one damaged place and every checksum above it made right again, as a hostile maker would do it: augurpack must refuse
what tests/format/reader.py refuses, and take what it takes. The other half get damage as of a disk: what augurpack extracts is what the
store had, or it says that it failed. Neither may crash it. Exit status 1, with the seed of each store that fails.
"""

import os
import pathlib
import random
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "format"))

import golden  # noqa: E402
import test_random_damage as damage  # noqa: E402
from format_support import read_by_reader, read_folder, run, text_of  # noqa: E402

AUGURPACK = os.path.join(os.environ.get("AUGUR_BUILD", ROOT / "build" / "release"), "tools", "augurpack")


def contents(listing):
    """{path: bytes, a link's target, or None of a folder}"""
    return {path: content for path, _, _, content in listing}


def check_sealed(rng, name, store):
    """The defect, or None."""
    what = damage.mutate_store(rng, store)
    mine = damage.verdict_of_reader(store)
    done = run(AUGURPACK, "verify", store)
    if done.returncode in (0, 1, 2) and (mine is None) == (done.returncode == 0):
        return None
    return f"{name}: {what}: exit {done.returncode}; reader.py: {mine}; augurpack: {text_of(done.stderr)[:2000]}"


def check_raw(rng, name, store, target):
    """The defect, or None."""
    before = contents(read_by_reader(store))
    files = [os.path.join(folder, file) for folder, _, names in os.walk(store) for file in names]
    path = rng.choice([file for file in files if os.path.getsize(file)])
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        what = damage.mutate_bytes(rng, data, 0, len(data))
        if rng.randrange(8) == 0:
            del data[rng.randrange(len(data)) :]
            what += f", cut to {len(data)}"
        file.seek(0)
        file.truncate()
        file.write(data)
    done = run(AUGURPACK, "extract", store, target)
    after = contents(read_folder(target)) if os.path.isdir(target) else {}
    wrong = [file for file, content in after.items() if file not in before or before[file] != content]
    if done.returncode not in (0, 1, 2) or wrong or (done.returncode == 0 and after != before):
        return f"{name}: {os.path.relpath(path, store)}: {what}: exit {done.returncode}, wrong: {wrong[:3]}; {text_of(done.stderr)[:2000]}"
    return None


def main():
    if len(sys.argv) not in (2, 3) or not all(word.isdigit() for word in sys.argv[1:]):
        sys.exit(__doc__)
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**32)
    defects = 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        folder = tempfile.mkdtemp(prefix="augur-mutated-")
        try:
            name = rng.choice(damage.MUTATED)
            store = golden.unpack(name, os.path.join(folder, "store"))
            defect = check_sealed(rng, name, store) if seed % 2 else check_raw(rng, name, store, os.path.join(folder, "out"))
        finally:
            shutil.rmtree(folder)
        if defect:
            defects += 1
            print(f"seed {seed}: {defect}", flush=True)
    print(f"{count} stores from seed {first} on: {defects} defects")
    sys.exit(1 if defects else 0)


if __name__ == "__main__":
    main()
