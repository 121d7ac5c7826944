# SPDX-License-Identifier: Apache-2.0
"""Those who are compared in bench/remote.py: ways to read a folder of images that lies in a bucket.

Each is mounted anew for a measurement, on the client's side of the line, and has a cache folder of its own that goes with the mount.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import time

import given_orders
import mounts
from object_servers import server_program


class FarMount:
    """The base. `far`: a remote.Far, which has the server, its buckets and the line."""

    name = ""
    program = ""
    is_peer = True  # one that reads few files a second, so that a run gives it fewer
    order_is_unknown = False  # it reads in an order that no sampler makes

    def __init__(self, far):
        self.far = far
        self.point = os.path.join(far.work, "far.mnt")

    def missing(self):
        """Why it cannot run here, or nothing."""
        return "" if shutil.which(self.program) else f"needs {self.program}"

    def prepare(self):
        """What is done once, before the first round."""

    def words(self, cache):
        """The command that mounts in the foreground. `cache`: a folder for what it keeps."""
        raise NotImplementedError

    def environment(self):
        return self.far.server.environment()

    @contextlib.contextmanager
    def mounted(self):
        """Yields (folder to read, process ids of the daemons)."""
        with self.mounted_at(self.point, self.words) as process:
            yield self.point, [process.pid]

    @contextlib.contextmanager
    def mounted_at(self, point, words):
        with mounts.no_memories() as environment:
            cache = environment["XDG_CACHE_HOME"]
            # What the user has set for the real AWS, and proxies, would lead elsewhere.
            plain = {name: value for name, value in environment.items() if not name.startswith("AWS_") and not name.lower().endswith("_proxy")}
            with mounts.fuse([*self.far.line.clients[0].prefix, *words(cache)], point, env={**plain, **self.environment()}) as process:
                yield process

    def before(self, order):
        """What a user would tell the mount of the coming epoch."""


class Rclone(FarMount):
    """rclone mount with its default options: a HEAD for each file, whose time is asked for."""

    name = "rclone"
    program = "rclone"
    options = ()

    def environment(self):
        server = self.far.server
        remote = {"TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": server.endpoint, "REGION": server.region,
                  "ACCESS_KEY_ID": server.credentials.access_key, "SECRET_ACCESS_KEY": server.credentials.secret_key}
        return {"RCLONE_CONFIG": os.devnull, **{f"RCLONE_CONFIG_FAR_{name}": value for name, value in remote.items()}}

    def rclone(self, bucket, point, *options):
        return lambda cache: ["rclone", "mount", f"far:{bucket}", point, "--read-only", "--cache-dir", cache, *options]

    def words(self, cache):
        return self.rclone(self.far.raw_bucket, self.point, *self.options)(cache)


class RcloneTuned(Rclone):
    """With --use-server-modtime and --no-checksum, which its manual advises for buckets."""

    name = "rclone tuned"
    options = ("--use-server-modtime", "--no-checksum")


class RcloneFull(Rclone):
    """With --vfs-cache-mode full: files lie on the disk while they are read."""

    name = "rclone vfs full"
    options = ("--vfs-cache-mode", "full")


class S3fs(FarMount):
    """s3fs with its default options."""

    name = "s3fs"
    program = "s3fs"
    options = ()

    def words(self, cache):
        server = self.far.server
        secret = pathlib.Path(cache) / "passwd"
        secret.touch(mode=0o600)
        secret.write_text(f"{server.credentials.access_key}:{server.credentials.secret_key}\n", encoding="ascii")
        options = ["ro", f"passwd_file={secret}", f"url={server.endpoint}", f"endpoint={server.region}", "use_path_request_style", *self.options]
        options += [f"use_cache={cache}"] if self.options else []
        return ["s3fs", self.far.raw_bucket, self.point, "-f", *(word for option in options for word in ("-o", option))]


class S3fsTuned(S3fs):
    """With use_cache and parallel_count=20."""

    name = "s3fs tuned"
    options = ("parallel_count=20",)


class JuiceFS(FarMount):
    """The folder in JuiceFS's own format: its metadata are on the client, in SQLite, and are believed for an hour."""

    name = "juicefs"

    def missing(self):
        try:
            self.program = server_program("juicefs")
        except subprocess.CalledProcessError:
            return "could not be installed by packaging/servers.sh"
        return ""

    @property
    def metadata(self):
        return f"sqlite3://{self.far.work}/juicefs.db"

    def prepare(self):
        server = self.far.server
        environment = {**os.environ, "far": self.metadata}
        prefix = self.far.line.server.prefix  # without the line's delay
        mounts.run(*prefix, self.program, "format", "--storage", "s3", "--bucket", f"{server.endpoint}/{self.far.other_bucket('juicefs')}",
                   "--access-key", server.credentials.access_key, "--secret-key", server.credentials.secret_key, self.metadata, "far", env=environment)
        mounts.run(*prefix, self.program, "sync", "--no-https", "--threads", "8", f"{self.far.tree}/", "jfs://far/", env=environment)

    def words(self, cache):
        lasting = [word for name in ("attr", "entry", "dir-entry", "open") for word in (f"--{name}-cache", "3600")]
        return [self.program, "mount", self.metadata, self.point, "--read-only", "--no-usage-report", "--cache-dir", cache,
                "--log", os.path.join(cache, "log"), *lasting]


class Goofys(FarMount):
    """goofys with its default options."""

    name = "goofys"
    program = "goofys"

    def words(self, cache):
        return ["goofys", "-f", "--endpoint", self.far.server.endpoint, "--region", self.far.server.region, self.far.raw_bucket, self.point]


class MountpointS3(FarMount):
    """mountpoint-s3 with its default options: each name is looked up anew."""

    name = "mountpoint-s3"
    program = "mount-s3"

    def options(self, _cache):
        return []

    def words(self, cache):
        server = self.far.server
        return ["mount-s3", self.far.raw_bucket, self.point, "--foreground", "--read-only", "--endpoint-url", server.endpoint, "--region",
                server.region, "--force-path-style", *self.options(cache)]


class MountpointS3Tuned(MountpointS3):
    """With --metadata-ttl indefinite and --cache."""

    name = "mountpoint-s3 tuned"

    def options(self, cache):
        return ["--metadata-ttl", "indefinite", "--cache", cache]


class AugurFS(FarMount):
    """The packed store in the bucket, mounted by augurfs. Nothing is given: it may find the order while it is read."""

    name = "augurfs"
    is_peer = False
    options = ()
    bucket = ""  # that has the store; empty: that of the photographs

    def environment(self):
        ca_file = self.far.server.ca_file
        return {**super().environment(), **({"AWS_CA_BUNDLE": ca_file} if ca_file else {})}

    def missing(self):
        if "endpoint-url" not in mounts.run(mounts.program("augurfs"), "--help"):
            return "this build of augurfs mounts no s3:// address"
        return ""

    def words(self, cache):
        server = self.far.server
        options = [f"endpoint-url={server.endpoint}", f"region={server.region}", *self.options]
        store = f"s3://{self.bucket or self.far.packed_bucket}/{self.far.packed_prefix}"
        return [*mounts.augurfs_words(mounts.program("augurfs"), store, self.point, options), "-f"]

    def with_options(self, *options):
        """The same with further options of the mount."""
        other = type(self)(self.far)
        other.options = (*self.options, *options)
        return other

    def of(self, bucket):
        """The same for the store of another bucket."""
        other = type(self)(self.far)
        other.options, other.bucket = self.options, bucket
        return other

    @contextlib.contextmanager
    def mounted_after(self, memories):
        """With the environment `memories`, which keeps the index: (folder to read, seconds until the mount is there)."""
        words = [*self.far.line.clients[0].prefix, *self.words("")]
        start = time.perf_counter()
        with mounts.fuse(words, self.point, env={**memories, **self.environment()}):
            yield self.point, time.perf_counter() - start


class AugurFSOrderGiven(AugurFS):
    """The same, and `augurctl hint` gives it the order of the epoch."""

    name = "augurfs hinted"

    def before(self, order):
        given_orders.hint(self.point, order)


class AugurFSOrderUnknown(AugurFS):
    """The same as AugurFS, but the order is of no sampler that it knows."""

    name = "augurfs order unknown"
    order_is_unknown = True


class AugurFSNothingPredicted(AugurFS):
    """No order is looked for, and nothing is read ahead."""

    name = "augurfs predict=off"
    is_peer = True
    options = ("predict=off",)


class AugurFSOverRclone(Rclone):
    """The packed store through rclone's mount, with its cache of whole files: what could be had before augurfs read from buckets.
    The order is given."""

    name = "augurfs over rclone"
    is_peer = False

    @contextlib.contextmanager
    def mounted(self):
        lower = os.path.join(self.far.work, "rclone.mnt")
        words = self.rclone(self.far.packed_bucket, lower, "--vfs-cache-mode", "full", "--vfs-read-ahead", "64M")
        with self.mounted_at(lower, words) as rclone, mounts.augurfs(os.path.join(lower, self.far.packed_prefix), self.point) as daemon:
            yield self.point, [rclone.pid, daemon.pid]

    def before(self, order):
        given_orders.hint(self.point, order)


ALL = (Rclone, RcloneTuned, RcloneFull, S3fs, S3fsTuned, Goofys, MountpointS3, MountpointS3Tuned, JuiceFS, AugurFSOverRclone, AugurFS,
       AugurFSOrderGiven, AugurFSOrderUnknown, AugurFSNothingPredicted)
