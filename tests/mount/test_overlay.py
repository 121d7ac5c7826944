# SPDX-License-Identifier: Apache-2.0
"""A mount as the lower layer of an overlay that was made by hand."""

import errno
import os
import pathlib
import shlex
import shutil
import stat

import pytest
from program_runs import run
from skips import needs_root, skip_without_overlay
from stores import pack
from system_calls import errno_of

pytestmark = needs_root

# As a person lays an overlay over a mount by hand; -o writable= does the same (test_writable.py).
RECIPE = """\
augurfs /data/train.augur /mnt/lower
mkdir -p /scratch/upper /scratch/work /mnt/train
mount -t overlay overlay -o lowerdir=/mnt/lower,upperdir=/scratch/upper,workdir=/scratch/work,redirect_dir=on /mnt/train
python3 train.py --data /mnt/train
umount /mnt/train && umount /mnt/lower
"""


@pytest.fixture
def places(room):
    """The paths of the recipe, below the room; what is written goes to a file system that can be an upper layer."""
    scratch = room / "scratch"
    scratch.mkdir()
    assert run(["mount", "-t", "tmpfs", "none", scratch]).returncode == 0
    try:
        skip_without_overlay(scratch)
        (room / "lower").mkdir()
        yield {"/data/train.augur": room / "store", "/mnt/lower": room / "lower", "/mnt/train": room / "train", "/scratch": scratch}
    finally:
        assert run(["umount", scratch]).returncode == 0


@pytest.fixture
def source(room):
    top = room / "source"
    for folder in ("images/rose", "images/lily", "labels"):
        (top / folder).mkdir(parents=True)
    for number in range(20):
        for one in ("rose", "lily"):
            (top / "images" / one / f"{number:02}.jpg").write_bytes(f"{one} {number}".encode() * 1000)
        (top / "labels" / f"{number:02}.txt").write_text(f"{number} 0.5 0.5 1 1\n", encoding="ascii")
    return top


def contents(top):
    """Path -> bytes of all files below a folder."""
    return {os.path.relpath(os.path.join(folder, name), top): pathlib.Path(folder, name).read_bytes()
            for folder, _, names in os.walk(top) for name in names}


def train(data):
    """What tools do to the folder of their data; returns what it has then."""
    expected = contents(data)
    # YOLO's label cache: written beside the labels, under another name first, and again by the next run.
    for version in (b"first", b"second"):
        (data / "labels.cache.npy").write_bytes(version)
        os.replace(data / "labels.cache.npy", data / "labels.cache")
        expected["labels.cache"] = version
    # Scripts that remove bad files, put them aside, and repair them.
    os.unlink(data / "images" / "rose" / "03.jpg")
    (data / "bad").mkdir()
    os.rename(data / "images" / "rose" / "04.jpg", data / "bad" / "rose-04.jpg")
    with open(data / "labels" / "05.txt", "a", encoding="ascii") as file:
        file.write("more\n")
    del expected["images/rose/03.jpg"]
    expected["bad/rose-04.jpg"] = expected.pop("images/rose/04.jpg")
    expected["labels/05.txt"] += b"more\n"
    # Whole folders.
    os.rename(data / "images" / "lily", data / "images" / "tulip")
    expected = {path.replace("images/lily/", "images/tulip/"): content for path, content in expected.items()}
    shutil.rmtree(data / "images" / "rose")
    return {path: content for path, content in expected.items() if not path.startswith("images/rose/")}


def test_the_recipe(places, room, mounts, augurpack, ctl, source):
    store = pack(augurpack, source, places["/data/train.augur"])
    before = contents(source)

    def there(line):
        for name, place in places.items():
            line = line.replace(name, str(place))
        return line

    def overlay(lines):
        (line,) = [line for line in lines if line.startswith("mount ")]
        done = run(shlex.split(there(line)))
        assert done.returncode == 0, done.stderr

    lines = RECIPE.splitlines()
    data, lower, upper = places["/mnt/train"], places["/mnt/lower"], places["/scratch"] / "upper"
    trained = 0
    try:
        for line in lines:
            words = shlex.split(there(line))
            if words[0] == "augurfs":
                mounts.mount(*words[1:])
            elif words[0] == "python3":
                assert words[-1] == str(data)
                expected = train(data)
                assert contents(data) == expected
                assert run([ctl, "status", data]).returncode == 0
                # The layer can be taken off and laid on again.
                assert run(["umount", data]).returncode == 0
                assert contents(lower) == before
                overlay(lines)
                assert contents(data) == expected
                trained += 1
            else:
                done = run(["sh", "-c", there(line)])
                assert done.returncode == 0, done.stderr
    finally:
        if os.path.ismount(data):
            run(["umount", data])
    assert trained == 1 and not os.path.ismount(data) and not os.path.ismount(lower)
    # The store is as it was, and what was written lies in the upper layer alone.
    assert run([augurpack, "verify", "--quiet", store]).returncode == 0
    assert (upper / "labels.cache").read_bytes() == b"second"
    assert (upper / "labels" / "05.txt").exists() and not (upper / "labels" / "06.txt").exists()
    # A folder that was renamed is not copied.
    assert not any((upper / "images" / "tulip").iterdir())
    assert stat.S_ISCHR(os.lstat(upper / "images" / "rose").st_mode)  # how an overlay marks what is removed


def test_without_it_nothing_can_be_written(room, mounts, point, augurpack, source):
    """Why the recipe is there."""
    mounts.mount(pack(augurpack, source, room / "store"), point)
    assert errno_of((point / "labels.cache").write_bytes, b"") == errno.EROFS
    assert errno_of(os.unlink, point / "images" / "rose" / "03.jpg") == errno.EROFS
