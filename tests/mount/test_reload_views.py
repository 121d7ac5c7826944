# SPDX-License-Identifier: Apache-2.0
"""Views of a mount that shows another generation (augurctl reload): SEMANTICS.md, L17."""

import errno
import io
import os

import pytest

from kernel_caches import drop_caches
from reload_fixtures import Store, reload
from skips import needs_root
from system_calls import errno_of

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

from view_tree import coded  # noqa: E402

pytestmark = needs_root


def picture(colour, kind="PNG", **options):
    return coded(Image.new("RGB", (40, 30), colour), kind, **options)


def test_views(room, mounts, point, ctl, augurpack):
    """L17: files of views follow their images, and so do their names; what is open keeps its pixels."""

    def photo(colour):
        return picture(colour, "JPEG", quality=95)

    def colour_of(array):
        return tuple(int(value) for value in array.reshape(-1, 3).mean(axis=0).round())

    store = Store(augurpack, room, {"c/a.JPEG": photo((200, 10, 10)), "c/b.JPEG": photo((10, 200, 10))})
    mounts.mount(store.path, point, f"log={room}/log")
    views = point / ".augur" / "views"
    for view in ("npy+size=16", "pixels"):
        assert sorted(os.listdir(views / view / "c"))
    folder = views / "npy+size=16" / "c"
    red, green = (numpy.load(folder / name) for name in ("a.npy", "b.npy"))
    assert red.shape == (16, 21, 3) or red.ndim == 3
    opened = numpy.load(folder / "a.npy", mmap_mode="r")
    inode = (folder / "b.npy").stat().st_ino
    assert errno_of(os.stat, folder / "new.npy") == errno.ENOENT
    store.add({"c/a.JPEG": photo((10, 10, 200)), "c/new.JPEG": photo((90, 90, 90)), "c/b.png": picture((70, 0, 0))})
    reload(ctl, point)
    drop_caches()
    assert colour_of(numpy.load(folder / "a.npy")) == colour_of(numpy.asarray(Image.open(io.BytesIO(store.files["c/a.JPEG"]))))
    assert (opened == red).all()
    # b.npy alone would name two files now.
    listed = sorted(os.listdir(folder))
    assert "new.npy" in listed and "a.npy" in listed and len(listed) == 4, listed
    assert {(folder / name).stat().st_ino for name in listed} >= {inode}
    for name in listed:
        numpy.load(folder / name)
    same = [name for name in listed if (numpy.load(folder / name) == green).all()]
    assert len(same) == 1 and (folder / same[0]).stat().st_ino == inode
    if "b.npy" not in listed:
        assert errno_of(os.stat, folder / "b.npy") == errno.ENOENT
    assert (views / "pixels" / "c" / "new.JPEG").stat().st_size > 0


def test_a_view_as_the_root(room, mounts, point, ctl, augurpack):
    """L17, W12"""
    store = Store(augurpack, room, {"c/a.png": picture((200, 10, 10))})
    mounts.mount(store.path, point, "view=npy", f"log={room}/log")
    assert (numpy.load(point / "c" / "a.npy") == (200, 10, 10)).all()
    assert errno_of(os.stat, point / "c" / "b.npy") == errno.ENOENT
    store.add({"c/b.png": picture((1, 2, 3)), "c/a.png": picture((4, 5, 6))})
    reload(ctl, point)
    assert os.listdir(point / "c") == ["a.npy", "b.npy"]
    assert (numpy.load(point / "c" / "a.npy") == (4, 5, 6)).all()
    assert (numpy.load(point / "c" / "b.npy") == (1, 2, 3)).all()
