# SPDX-License-Identifier: Apache-2.0
"""A slow disk and a small memory, made with a control group: v1 (blkio.throttle, memory) or v2 (io.max, memory.max), whichever the
machine has. A command is put into the group by the words of `Group.prefix`; what it starts is in it too.

Reads are held to the group that asks for them. That is so for a loop device as well: its kernel thread does the reads of the image
on account of the group of whoever reads the mount (Linux 5.14 and later; tried on 6.18 with v1: squashfs and EROFS over a loop
device got 19.5 and 19.4 of 20 MB/s, the plain folder 19.6). Memory is not, with v1: what the loop device has of the image in the page
cache is charged to nobody's group, and EROFS read 1.3 GB out of it in a group of 1.2 GB. So images are mounted past the page cache in
groups (`direct` of mounts.loop).
"""

import contextlib
import errno
import os
import pathlib
import signal
import time

V1 = pathlib.Path("/sys/fs/cgroup")
# What a group holds beside file data and the memory of programs: the kernel's inodes and names, page tables, stacks.
SLACK_BYTES = 128 << 20


def device_of(path):
    """(major, minor) of the whole disk below the file system of a path; nothing when it has none (tmpfs, overlay, NFS)."""
    number = os.stat(path).st_dev
    node = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not node.exists():
        return None
    real = node.resolve()
    if (real / "partition").exists():
        real = real.parent  # limits are set on the disk, not on a part of it
    major, minor = (real / "dev").read_text(encoding="ascii").strip().split(":")
    return int(major), int(minor)


class Group:
    """A group that holds what is started with `prefix` to its limits."""

    def __init__(self, folders):
        self.folders = folders

    @property
    def prefix(self):
        """Words that, put before a command, run it in the group."""
        places = " ".join(f'"{folder}/cgroup.procs"' for folder in self.folders)
        return ["sh", "-c", f'for place in {places}; do echo $$ > "$place" || exit 125; done; exec "$@"', "in-group"]

    def set_memory(self, memory_bytes):
        """Another limit. v1 refuses one below what cannot be taken away; the least that it takes is set, then."""
        for path in (folder / name for folder in self.folders for name in ("memory.max", "memory.limit_in_bytes")):
            while path.exists():
                try:
                    path.write_text(f"{memory_bytes}\n", encoding="ascii")
                    break
                except OSError as failure:
                    if failure.errno != errno.EBUSY:
                        raise
                    memory_bytes += memory_bytes // 8

    def kill(self):
        """Ends all that is in it at once, as a machine that loses its power."""
        for _ in range(100):
            pids = {int(pid) for folder in self.folders for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split()}
            if not pids:
                return
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def held_bytes(self):
        """What its processes hold now: what they allocate, and the files that they map (libraries), but not what they read."""
        most = 0
        for folder in self.folders:
            with contextlib.suppress(OSError):
                fields = dict(line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines())
                # v1 and v2 have other names for the same.
                most = max(most, int(fields.get("anon") or fields["rss"]) + int(fields.get("file_mapped") or fields["mapped_file"]))
        return most


def v2_root():
    """Where the controllers of v2 are, if this machine has them there."""
    root = pathlib.Path("/sys/fs/cgroup")
    controllers = root / "cgroup.controllers"
    return root if controllers.exists() and {"io", "memory"} <= set(controllers.read_text(encoding="ascii").split()) else None


def missing():
    """Why no group can be made here, or nothing."""
    if os.geteuid() != 0:
        return "needs root, for control groups"
    if v2_root() or all((V1 / name / "cgroup.procs").exists() for name in ("blkio", "memory")):
        return ""
    return "needs the control groups io (blkio) and memory"


def missing_for_disk(path):
    """Why the disk below a path cannot be slowed down here, or nothing."""
    return missing() or ("" if device_of(path) else f"{path} is on no disk that can be slowed down")


def slow_disk(work, budget, reads_per_s, mb_per_s):
    """A group whose disk (that of `work`) is slow, with memory for what is to be compared (`budget`, bytes)."""
    return group(budget + SLACK_BYTES, device_of(work), reads_per_s, mb_per_s * 1_000_000)


def whole_machine():
    """A group that holds nobody back: to see what is in it."""
    return group(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _remove(folder):
    """The processes of a group end a moment after we have waited for the first of them."""
    for _ in range(100):
        try:
            folder.rmdir()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"{folder}: still in use: {(folder / 'cgroup.procs').read_text(encoding='ascii').split()}")


@contextlib.contextmanager
def group(memory_bytes=None, device=None, reads_per_s=None, bytes_per_s=None):
    """A group with these limits; it is removed at the end, when all that ran in it has ended."""
    name = f"augur-bench-{os.getpid()}-{time.monotonic_ns()}"
    made = []

    def make(parent, settings):
        folder = parent / name
        folder.mkdir()
        made.append(folder)
        for file, text in settings:
            (folder / file).write_text(f"{text}\n", encoding="ascii")

    disk = f"{device[0]}:{device[1]}" if device else ""
    try:
        if v2_root():
            (v2_root() / "cgroup.subtree_control").write_text("+memory +io\n", encoding="ascii")
            settings = [("memory.max", memory_bytes)] if memory_bytes else []
            if device:
                limits = [f"riops={reads_per_s}"] * bool(reads_per_s) + [f"rbps={bytes_per_s}"] * bool(bytes_per_s)
                settings.append(("io.max", " ".join([disk, *limits])))
            make(v2_root(), settings)
        else:
            if memory_bytes:
                make(V1 / "memory", [("memory.limit_in_bytes", memory_bytes)])
            if device:
                settings = [("blkio.throttle.read_iops_device", f"{disk} {reads_per_s}")] if reads_per_s else []
                settings += [("blkio.throttle.read_bps_device", f"{disk} {bytes_per_s}")] if bytes_per_s else []
                make(V1 / "blkio", settings)
        yield Group(made)
    finally:
        for folder in made:
            _remove(folder)
