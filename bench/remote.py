#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A folder of images in a bucket far away: augurfs beside the mounts that people use today. bench/remote/README.md says how it is measured.

    bench/remote.py epoch|first|names|copy|all [options]

Needs root. Tables go to standard output, or one JSON object with --json; what is being done goes to standard error. Whatever happens,
nothing stays mounted, no server and no namespace is left, and the working folder is removed.
"""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "remote")]
import far_mounts  # noqa: E402
import given_orders  # noqa: E402
import line  # noqa: E402
import measure  # noqa: E402
import mounts  # noqa: E402
import object_servers  # noqa: E402
from measure import Table, say  # noqa: E402

UPLOADS_AT_ONCE = 4
FIRST_FILES = 256  # the first batch


def numbers(text):
    return [int(part) for part in text.split(",")]


class Far:
    """A bucket with a raw folder, unless it is not wanted, and one with its packed store, behind the line. Lives as long as the stack."""

    raw_bucket, packed_bucket, packed_prefix = "augur-raw", "augur-packed", "train.augur"

    def __init__(self, args, stack, clients=1, raw=True, tls=False):
        self.work, self.tree = args.work, args.tree
        self.line = stack.enter_context(line.slow_line(clients=clients, delay_ms=args.rtt_ms / 2, rate_mbit=args.rate_mbit))
        self.access_log = os.path.join(args.work, "access.log")
        server = {"versitygw": object_servers.versitygw, "seaweedfs": object_servers.seaweedfs, "default": None}[args.server]
        server = server or object_servers.default_server()
        self.counts_requests = server is object_servers.versitygw
        options = {"access_log": self.access_log} if self.counts_requests else {}
        if tls:
            options["certificate"] = object_servers.Certificate.make(args.work, self.line.server.address)
        with self.line.server.entered():
            self.server = stack.enter_context(server(os.path.join(args.work, "server"), self.line.server.address, **options))
        with tempfile.TemporaryDirectory(dir=args.work) as folder:
            store = os.path.join(folder, "store")
            mounts.create_store(args.tree, store)
            self.put_folder(store, self.packed_bucket, self.packed_prefix + "/")
        if raw:
            self.put_folder(args.tree, self.raw_bucket, "")

    def other_bucket(self, name):
        """Makes it; returns its name."""
        with self.line.server.entered():
            self.server.client(f"augur-{name}").create_bucket()
        return f"augur-{name}"

    def put_folder(self, folder, bucket, prefix):
        """All regular files of the folder that have data, without the line's delay."""
        folder = pathlib.Path(folder)
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_blocks)
        local = threading.local()

        def put(path):
            if not hasattr(local, "client"):
                local.client = self.server.client(bucket)
            local.client.put(prefix + path.relative_to(folder).as_posix(), path.read_bytes())

        say(f"putting {len(paths):,} files into {bucket}")
        # Threads are in the namespace of the thread that makes them.
        with self.line.server.entered(), concurrent.futures.ThreadPoolExecutor(UPLOADS_AT_ONCE) as pool:
            self.server.client(bucket).create_bucket()
            for _ in pool.map(put, paths):
                pass

    def requests(self):
        """All that the server has answered until now; nothing where it has no log."""
        if not self.counts_requests:
            return None
        with open(self.access_log, "rb") as file:
            return sum(1 for _ in file)


class Used:
    """What is used of daemons, line and server from here on."""

    def __init__(self, far, pids):
        self.far, self.pids = far, pids
        self.before = self._now()

    def _now(self):
        cpu = sum(sum(given_orders.cpu_seconds(pid)) for pid in self.pids)
        return cpu, self.far.line.clients[0].received_bytes(), self.far.requests()

    def until_now(self):
        """CPU seconds, bytes, requests (or nothing)."""
        return [None if before is None else after - before for before, after in zip(self.before, self._now(), strict=True)]


def walk(path):
    """All names, as a script that looks for its files lists them; returns the number of files, without those that JuiceFS adds."""
    return sum(not name.startswith(".") for _, _, files in os.walk(path) for name in files)


def read_epoch(args, far, one, order, readers):
    """Mounts, lists all names, then reads: {what, with its unit behind the last comma: figure}. What the mount does after the listing is
    counted, also what it reads before the clock starts, because it was told the order."""
    with one.mounted() as (path, pids):
        start = time.perf_counter()
        found = walk(path)
        names_ms = (time.perf_counter() - start) * 1e3
        if found != args.file_count:
            raise RuntimeError(f"{one.name}: sees {found} files, there are {args.file_count}")
        used = Used(far, pids)
        one.before(order)
        result = measure.read_files(path, readers, epochs=[order])["epochs"][0]
        cpu_s, received, requests = used.until_now()
    figures = {"speed, files/s": result["files_per_s"]}
    if args.rate_mbit:
        figures["share of the line, %"] = result["mb_per_s"] / (args.rate_mbit / 8) * 100
    if requests is not None:
        figures["requests, a thousand files"] = requests / result["files"] * 1e3
    return {**figures, "bytes over the line, % of those read": received / result["bytes"] * 100,
            "processor time of the daemon, s/GB": cpu_s / result["bytes"] * 1e9, "all names before, ms": names_ms}


class Orders:
    """The orders of a round: one of a sampler that augurfs knows, one that it cannot know, and the first part of the one for those who
    would take minutes for all."""

    def __init__(self, args, far, number):
        paths = given_orders.listed(args.listing)
        self.sampled = given_orders.write_sampled(far.work, paths, args.seed + number)
        (self.unknown,) = given_orders.write_shuffled(far.work, paths, 1, args.seed + number)
        self.parts = self._write_parts(args, far)

    def whole_of(self, one):
        return self.unknown if one.order_is_unknown else self.sampled

    def read_by(self, one, readers):
        return self.parts[readers] if one.is_peer else self.whole_of(one)

    def _write_parts(self, args, far):
        parts = {}
        for readers in args.readers:
            paths = given_orders.listed(self.sampled, args.peer_files * readers)
            parts[readers] = given_orders.write_order(os.path.join(far.work, f"part-{readers}"), paths)
        return parts


def epoch(args, far, people):
    """Random order, each file once, cold, by one and more reader threads."""
    tables = {}
    for number in range(args.rounds):
        orders = Orders(args, far, number)
        for readers in args.readers:
            for one in measure.in_turn(people, number):
                for what, figure in read_epoch(args, far, one, orders.read_by(one, readers), readers).items():
                    title = f"random epoch, {readers} reader{'s' if readers > 1 else ''}: {what.rpartition(', ')[0]}"
                    unit = what.rpartition(", ")[2]
                    tables.setdefault((readers, what), Table(title, unit, people[0].name if unit == "files/s" else None)).add(one.name, figure)
                say(f"epoch: round {number + 1}, {readers} readers: {one.name}: done")
    return [tables[key] for key in sorted(tables, key=lambda key: key[0])]


def first(args, far, people):
    """From the mount command until so many files of a random order have been read, with nothing known before."""
    count = min(FIRST_FILES, args.file_count)
    table = Table(f"first {count} files after the mount command, 1 reader", "s", people[0].name)
    for number in range(args.rounds):
        orders = Orders(args, far, number)
        for one in measure.in_turn(people, number):
            whole = orders.whole_of(one)
            order = given_orders.write_order(os.path.join(far.work, "first"), given_orders.listed(whole, count))
            start = time.perf_counter()
            with one.mounted() as (path, _):
                one.before(whole)
                measure.read_files(path, 1, epochs=[order])
                table.add(one.name, time.perf_counter() - start)
            say(f"first: round {number + 1}: {one.name}: done")
    return [table]


def names(args, far, people):
    """The mount command, and then the list of all names; the first time, and again with what the mount has kept of the index. The same
    for the index of a large store, which has no data."""
    tables = {}
    ours = [one for one in people if isinstance(one, far_mounts.AugurFS)]
    stores = [("", args.file_count, ours)]
    if args.index_files:
        large = "augur-large"
        with tempfile.TemporaryDirectory(dir=args.work) as folder:
            mounts.run(mounts.program("make_index"), "--files", args.index_files, "--store", os.path.join(folder, "store"))
            far.put_folder(os.path.join(folder, "store"), large, f"{far.packed_prefix}/")
        stores.append((f" of {args.index_files:,} files", args.index_files, [one.of(large) for one in ours[:1]]))
    for number in range(args.rounds):
        for shown, file_count, contenders in stores:
            for one in measure.in_turn(contenders, number):
                with mounts.no_memories() as memories:
                    for time_of in ("first", "second"):
                        with one.mounted_after(memories) as (path, mount_s):
                            start = time.perf_counter()
                            if walk(path) != file_count:
                                raise RuntimeError(f"{one.name}: does not see all files")
                            for what, figure in (("mount", mount_s), ("all names right after it", time.perf_counter() - start)):
                                title = f"{what}{shown}, {time_of} time"
                                tables.setdefault(title, Table(title, "ms", ours[0].name)).add(one.name, figure * 1e3)
                say(f"names: round {number + 1}: {one.name}{shown}: done")
    return list(tables.values())


def copy(args, far, people):
    """A second run with a warm disk cache, beside the same store on the same disk: each read cold, with one and more reader threads."""
    store = os.path.join(far.work, "local.augur")
    mounts.create_store(args.tree, store)
    cache = os.path.join(far.work, "disk-cache")
    augurfs = far_mounts.AugurFS(far)
    copied = augurfs.with_options(f"disk-cache={cache}")
    every = given_orders.write_order(os.path.join(far.work, "every"), given_orders.listed(args.listing))
    with copied.mounted() as (path, _):  # fills the copy
        measure.read_files(path, max(args.readers), epochs=[every])
    tables = {}
    for number in range(args.rounds):
        whole = given_orders.write_sampled(far.work, given_orders.listed(args.listing), 500 + number)
        for readers in args.readers:
            for known in (False, True):
                for name in measure.in_turn(["local store", "warm copy"], number):
                    measure.drop_caches()
                    options = ["predict=off"] if not known else []
                    with (mounts.augurfs(store, augurfs.point, *options) if name == "local store" else
                          augurfs.with_options(f"disk-cache={cache}", *options).mounted()):
                        if known:
                            given_orders.hint(augurfs.point, whole)
                        figure = measure.read_files(augurfs.point, readers, epochs=[whole])["epochs"][0]["files_per_s"]
                    title = f"second run, {readers} reader{'s' if readers > 1 else ''}, order {'known' if known else 'not known'}"
                    tables.setdefault((readers, known), Table(title, "files/s", "local store")).add(name, figure)
                say(f"copy: round {number + 1}, {readers} readers: done")
    return list(tables.values())


WHAT = {"epoch": epoch, "first": first, "names": names, "copy": copy}


def prepared(args, far):
    """Those who can run, ready; the others are named and left out."""
    wanted = args.only.split(",") if args.only else None
    found = []
    for kind in far_mounts.ALL:
        if wanted and kind.name not in wanted:
            continue
        one = kind(far)
        why_not = one.missing()
        if why_not:
            say(f"left out: {one.name}: {why_not}")
            continue
        one.prepare()
        found.append(one)
    return found


def arguments():
    parser = argparse.ArgumentParser(description="A folder of images in a bucket far away: augurfs beside the mounts that people use today.")
    parser.add_argument("what", nargs="+", choices=[*WHAT, "all"])
    parser.add_argument("--tree", metavar="DIR", help="an image folder to use; without it one is made")
    parser.add_argument("--files", type=int, default=6_000, metavar="N", help="photographs of the one that is made (6000: 660 MB)")
    parser.add_argument("--index-files", type=int, default=0, metavar="N", help="names: also mount a store of N files without data (0: none)")
    parser.add_argument("--rtt-ms", type=float, default=30, metavar="MS", help="of the line, there and back (30)")
    parser.add_argument("--rate-mbit", type=float, default=1_600, metavar="N", help="of the line (1600: 200 MB/s); 0: no limit")
    parser.add_argument("--server", choices=["versitygw", "seaweedfs", "default"], default="versitygw", help="(versitygw); default: that of the tests")
    parser.add_argument("--tls", action="store_true", help="by HTTPS, with versitygw; for augurfs alone")
    parser.add_argument("--readers", type=numbers, default=[1, 8], metavar="N,N", help="reader threads (1,8)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="(3)")
    parser.add_argument("--peer-files", type=int, default=200, metavar="N", help="files that others than augurfs read, for each reader (200)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the first round's shuffle (42)")
    parser.add_argument("--only", metavar="NAME,NAME", help="some of: " + ", ".join(kind.name for kind in far_mounts.ALL))
    parser.add_argument("--quick", action="store_true", help="one round of little: shows that it works")
    parser.add_argument("--work", metavar="DIR", help="where to work (the system's temporary folder)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.files, args.rounds, args.readers, args.rtt_ms, args.peer_files = 60, 1, [1, 2], 4, 10
        args.index_files = args.index_files or 1_000
    return args


def main():
    args = arguments()
    if not measure.is_root():
        sys.exit("remote.py: network namespaces need root")
    measure.clean_up_when_told_to_end()
    with contextlib.ExitStack() as stack:
        args.work = stack.enter_context(tempfile.TemporaryDirectory(prefix="augur-remote.", dir=args.work))
        measure.make_tree(args, args.work)
        far = Far(args, stack, tls=args.tls)
        people = prepared(args, far)
        if not people:
            sys.exit("remote.py: none of them can run here")
        report = measure.Report(args.json)
        report.results["line"] = {"rtt_ms": args.rtt_ms, "rate_mbit": args.rate_mbit, "server": far.server.name}
        say(f"{far.server.name}, {args.rtt_ms:g} ms, {args.rate_mbit:g} Mbit/s; load {os.getloadavg()[0]:.1f}")
        for what in list(WHAT) if "all" in args.what else args.what:
            for table in WHAT[what](args, far, people):
                report.add(table)
        say(f"load {os.getloadavg()[0]:.1f}")
        report.end()


if __name__ == "__main__":
    main()
