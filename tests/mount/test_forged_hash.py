# SPDX-License-Identifier: Apache-2.0
"""Caches that several stores share, and a store whose records have the XXH3-128 and the size of another store's: it takes nothing's place."""

import hashlib
import io
import pathlib
import shutil
import sys

import pytest
from daemon_deaths import end_mount
from forged_hash import forge
from kernel_caches import drop_caches
from patience import wait_until
from skips import needs_root
from stores import pack

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "format"))
import patch  # noqa: E402

pytestmark = needs_root

FILE_BYTES = 8192
WHITE, BLACK = 255, 0


def picture(level):
    """A picture of one grey level, and bytes behind its end."""
    out = io.BytesIO()
    Image.new("L", (64, 48), level).save(out, "JPEG")
    return out.getvalue().ljust(FILE_BYTES, b"\0")


HONEST = picture(WHITE)
HOSTILE = forge(HONEST, picture(BLACK))


def store_of(augurpack, folder, data):
    (folder / "tree").mkdir(parents=True)
    (folder / "tree" / "a.jpg").write_bytes(data)
    return pack(augurpack, folder / "tree", folder / "packed.augur")


def level_of(point):
    """The grey level that the view shows."""
    pixels = numpy.load(point / ".augur" / "views" / "npy" / "a.npy")
    assert pixels.min() == pixels.max()
    return pixels.max()


def test_a_hostile_store_does_not_poison_a_decoded_cache(room, mounts, point, augurpack, ctl):
    """What it has put into the folder is found by itself alone."""
    options = ["cache=none", "push=off", f"decoded-cache={room / 'decoded'}"]
    hostile = store_of(augurpack, room / "hostile", HOSTILE)
    honest = store_of(augurpack, room / "honest", HONEST)
    for store, level, kept in ((hostile, BLACK, 1), (honest, WHITE, 2), (hostile, BLACK, 2), (honest, WHITE, 2)):
        pid = mounts.mount(store, point, *options)
        assert level_of(point) == level

        def files(kept=kept):
            return f'"decoded_cache_files": {kept}' in (point / ".augur" / "stats.json").read_text(encoding="ascii")

        wait_until(files, f"{kept} files are on the disk")
        end_mount(pid, point, "umount")
        drop_caches()


@pytest.mark.parametrize("shared", ["decoded-cache", "cache=shm"])
def test_a_store_that_claims_the_digest_of_anothers_record_decodes_nothing_for_it(room, mounts, point, augurpack, shared_memory, shared):
    """Its index has the SHA-256 of the honest record beside the XXH3-128 of bytes of its own: where stores share what was made, an error."""
    options = ["memory=256M", shared] if shared == "cache=shm" else ["cache=none", "push=off", f"decoded-cache={room / 'decoded'}"]
    hostile = store_of(augurpack, room / "hostile", picture(BLACK))
    honest = store_of(augurpack, room / "honest", HONEST)
    index = patch.Index(hostile)
    index.entry(b"a.jpg")["digest"] = hashlib.sha256(HONEST).digest()
    index.save()
    path = room / "store.augur"
    hostile.rename(path)
    pid = mounts.mount(path, point, *options)
    with pytest.raises(OSError):
        level_of(point)
    end_mount(pid, point, "umount")
    drop_caches()
    shutil.rmtree(path)
    honest.rename(path)
    mounts.mount(path, point, *options)
    assert level_of(point) == WHITE


@pytest.mark.parametrize("views", [False, True], ids=["records", "views"])
def test_a_hostile_store_does_not_poison_shared_memory(room, mounts, point, augurpack, shared_memory, views):
    """It was mounted at the same path before, so both have the same file in shared memory."""
    hostile = store_of(augurpack, room / "hostile", HOSTILE)
    honest = store_of(augurpack, room / "honest", HONEST)
    path = room / "store.augur"

    def right(data, level):
        return level_of(point) == level if views else (point / "a.jpg").read_bytes() == data

    for store, data, level in ((hostile, HOSTILE, BLACK), (honest, HONEST, WHITE)):
        shutil.copytree(store, path)
        pid = mounts.mount(path, point, "memory=256M", "cache=shm", "cache-outlives")
        assert right(data, level)
        wait_until(lambda: '"retained_cache_blocks": 0' not in (point / ".augur" / "stats.json").read_text(encoding="ascii"), "it is kept")
        end_mount(pid, point, "umount")
        assert len(shared_memory()) == 1
        drop_caches()
        shutil.rmtree(path)
