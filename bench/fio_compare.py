#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fio's job files of bench/fio on the mount, beside the plain folder.

    bench/fio_compare.py [--jobs 1,2,4,8,16,32,64] [--only tf_study_bssplit,...]

Every job runs on the folder and on the mount in turn, some rounds, hot (all was read before) and, where root can drop the
caches, cold. The table has the ratios of the rates.
"""

import argparse
import json
import os
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import measure  # noqa: E402
import mounts  # noqa: E402
from measure import Table, say  # noqa: E402


def make_files(folder, count, file_bytes):
    """Files that no store can fold into one: random bytes."""
    folder.mkdir()
    for number in range(count):
        (folder / f"data-{number}").write_bytes(random.Random(number).randbytes(file_bytes))


def run_fio(job, directory, files, jobs, seconds):
    """Bytes a second of one run. A failed read fails the run."""
    environment = dict(os.environ, DIRECTORY=str(directory), FILES=":".join(files), JOBS=str(jobs), RUNTIME=f"{int(seconds * 1000)}ms")
    out = mounts.run("fio", "--readonly", "--output-format=json", "--eta=never", job, env=environment, cwd="/")
    result = json.loads(out[out.index("{"):])["jobs"]
    if len(result) != 1 or result[0]["error"] != 0:
        raise RuntimeError(f"{job.name} on {directory}: fio reports error {result[0]['error']}")
    return result[0]["read"]["bw_bytes"]


def compare(job, args, folder, store, point, files, cold):
    tables = []
    for jobs in args.jobs:
        table = Table(f"fio {job.stem}, {'cold' if cold else 'hot'}, {jobs} job{'s' if jobs > 1 else ''}", "MB/s", "folder")
        for number in range(args.rounds):
            for name in measure.in_turn(("folder", "augurfs"), number):
                with mounts.augurfs(store, point):
                    where = folder if name == "folder" else point
                    if cold:
                        measure.drop_caches()
                    else:
                        measure.read_files(where)
                    table.add(name, run_fio(job, where, files, jobs, args.seconds) / 1e6)
        say(f"{table.title}: done")
        tables.append(table)
    return tables


def main():
    known = sorted((HERE / "fio").glob("*.fio"))
    parser = argparse.ArgumentParser(description="fio's job files on the mount, beside the plain folder.")
    parser.add_argument("--only", metavar="NAME,NAME", help="job files: " + ", ".join(job.stem for job in known))
    parser.add_argument("--jobs", default="1,2,4,8,16,32,64", metavar="N,N", help="numbers of fio jobs (1,2,4,8,16,32,64)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="(3)")
    parser.add_argument("--seconds", type=float, default=5, metavar="S", help="length of one run (5)")
    parser.add_argument("--files", type=int, default=16, metavar="N", help="(16)")
    parser.add_argument("--file-mib", type=int, default=64, metavar="N", help="(64)")
    parser.add_argument("--work", metavar="DIR", help="where to work (the system's temporary folder)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    args.jobs = [int(part) for part in args.jobs.split(",")]
    measure.clean_up_when_told_to_end()
    wanted = args.only.split(",") if args.only else [job.stem for job in known]
    unknown = set(wanted) - {job.stem for job in known}
    if unknown:
        sys.exit(f"fio_compare.py: {', '.join(sorted(unknown))}: no such job file in {HERE / 'fio'}")
    report = measure.Report(args.json)
    with tempfile.TemporaryDirectory(prefix="augur-fio.", dir=args.work) as work:
        work = pathlib.Path(work)
        folder, store, point = work / "folder", work / "store", work / "mount"
        make_files(folder, args.files, args.file_mib << 20)
        mounts.create_store(folder, store)
        files = sorted(path.name for path in folder.iterdir())
        for job in [job for job in known if job.stem in wanted]:
            for cold in (False, True) if measure.is_root() else (False,):
                for table in compare(job, args, folder, store, point, files, cold):
                    report.add(table)
    report.end()


if __name__ == "__main__":
    main()
