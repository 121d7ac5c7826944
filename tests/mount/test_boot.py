# SPDX-License-Identifier: Apache-2.0
"""systemd itself mounts when a machine starts, and unmounts when it stops: by /etc/fstab, by a mount unit and by augurfs@.service. The
machine is a container that systemd-nspawn boots twice: this system's root under an overlay, with these mounts and no other service."""

import os
import pathlib
import shutil
import subprocess

import pytest

from program_runs import run
from skips import needs_root
from stores import HELLO

UNITS = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "systemd"
SYSTEMD = pathlib.Path("/lib/systemd/systemd")
LIMIT_S = 180

pytestmark = [
    needs_root,
    pytest.mark.skipif(shutil.which("systemd-nspawn") is None or not SYSTEMD.exists(), reason="needs systemd-nspawn (systemd-container)"),
    pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="its programs are too large to be copied into memory"),
]

# What the machine does when all is up, and once more after its second start.
LOOK = """#!/bin/sh
exec >>/result 2>&1
for point in fstab train unit; do echo "$point: $(cat /mnt/$point/hello.txt), $(findmnt -n -o FSTYPE /mnt/$point)"; done
findmnt -n -o OPTIONS /mnt/fstab | grep -o 'user_id=[0-9]*'
systemctl stop mnt-train.mount && echo "stopped:$(ls /mnt/train)"
systemctl restart augurfs@photos && echo "restarted: $(cat /mnt/unit/hello.txt)"
[ -e /again ] && exec systemctl start --no-block poweroff.target
touch /again
main=$(systemctl show -p MainPID --value augurfs@photos)
kill -9 "$main"
until [ "$(systemctl show -p MainPID --value augurfs@photos)" != "$main" ] && systemctl -q is-active augurfs@photos; do sleep 0.2; done
echo "killed: $(cat /mnt/unit/hello.txt)"
exec systemctl start --no-block poweroff.target
"""
LOOKED = f"""\
fstab: {HELLO.strip()}, fuse.augurfs
train: {HELLO.strip()}, fuse.augurfs
unit: {HELLO.strip()}, fuse.augurfs
user_id=65534
stopped:
restarted: {HELLO.strip()}
"""
TARGET = """[Unit]
Requires=basic.target
Wants=mnt-fstab.mount mnt-train.mount augurfs@photos.service look.service
"""
SERVICE = """[Unit]
After=mnt-fstab.mount mnt-train.mount augurfs@photos.service
[Service]
ExecStart=/usr/local/bin/look
"""

# $1: the test's folder, with the files that the machine has beside this system's in `given`.
BOOT = """
set -e
cd "$1"
mount -t tmpfs tmpfs /run
mkdir upper work root
mount -t tmpfs tmpfs upper
mkdir upper/upper upper/work
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper/upper,workdir=$1/upper/work" root
cp -a given/. root
mknod upper/fuse c 10 229 # not the machine's own: systemd sets its mode
for boot in 1 2; do
  systemd-nspawn --quiet --directory=root --boot --register=no --keep-unit --bind="$1/upper/fuse:/dev/fuse" --machine=augur-test \
    --private-network systemd.unit=augur-test.target
done
cp root/result "$1"
"""


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


@pytest.fixture
def machine(room, mounts, small_store):
    """The test's folder."""
    given = room / "given"
    units = given / "etc" / "systemd" / "system"
    shutil.copytree(small_store, given / "data" / "photos.augur")
    (given / "data" / "train.augur").symlink_to("photos.augur")
    write(given / "usr" / "local" / "bin" / "look", LOOK, 0o755)
    shutil.copy(mounts.program, given / "usr" / "local" / "bin" / "augurfs")
    write(given / "etc" / "fstab", "/data/photos.augur /mnt/fstab fuse.augurfs allow_other,run-as=nobody 0 0\n")
    write(given / "etc" / "augurfs" / "photos", "STORE=/data/photos.augur\nMOUNTPOINT=/mnt/unit\nOPTIONS=allow_other\n")
    write(units / "augur-test.target", TARGET)
    write(units / "look.service", SERVICE)
    for unit in ("augurfs@.service", "mnt-train.mount"):
        shutil.copy(UNITS / unit, units / unit)
    # Nothing of this system's own starts.
    for name in ("timers.target", "sockets.target", "getty.target", "systemd-udevd.service", "systemd-udev-trigger.service"):
        (units / name).symlink_to("/dev/null")
    for name in ("fstab", "train", "unit"):
        (given / "mnt" / name).mkdir(parents=True)
    before = groups()
    yield room
    for path in sorted(groups() - before, reverse=True):  # nspawn leaves them
        path.rmdir()


def groups():
    return {path for path in pathlib.Path("/sys/fs/cgroup").rglob("*") if path.is_dir() and {"payload", "supervisor"} & set(path.parts)}


def test_mounts_of_a_machine_come_again_when_it_starts_again(machine):
    words = ["unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", BOOT, "sh", machine]
    trial = run(["unshare", "--mount", "sh", "-c", f"cd {machine} && mkdir a && mount -t tmpfs t a && mkdir a/u a/w a/r && "
                 "mount -t overlay o -o lowerdir=/,upperdir=a/u,workdir=a/w a/r"])
    if trial.returncode != 0:
        pytest.skip(f"this system has no overlay over its root: {trial.stderr}")
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    result = machine / "result"
    said = result.read_text(encoding="utf-8") if result.exists() else "nothing"
    assert (done.returncode, said) == (0, f"{LOOKED}killed: {HELLO}{LOOKED}"), done.stdout[-6000:] + done.stderr
