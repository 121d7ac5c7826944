# SPDX-License-Identifier: Apache-2.0
"""Views pt+item=pair and pt+item=dict: VIEWS.md, Labels, and SEMANTICS.md, W23. The labels are those of torchvision's ImageFolder, the
items those that torch.load makes of torch.save's files, and augurpack create --decode writes the same bytes."""

import errno
import io
import os
import pathlib

import pytest
from program_runs import run
from skips import needs_root
from stores import pack
from system_calls import errno_of

pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")
torch = pytest.importorskip("torch")
ImageFolder = pytest.importorskip("torchvision.datasets").ImageFolder

from reload_fixtures import reload  # noqa: E402
from view_fixtures import files_below, view  # noqa: E402
from view_tree import coded, photo  # noqa: E402

pytestmark = needs_root

SAME = coded(photo(40, 30, 1), "JPEG")
FILES = {
    "train/b/1.jpg": coded(photo(40, 30, 2), "JPEG"),
    "train/b/deep/2.png": coded(photo(30, 40, 3), "PNG"),
    "train/a/3.jpg": SAME,
    "train/d/4.jpg": SAME,  # one record, two labels
    "train/d/bad.jpg": SAME[:-40],  # its head is whole
    "train/5.jpg": SAME,
    "train/a.txt": b"no class",
    "val/b/6.jpg": coded(photo(40, 30, 4), "JPEG"),
    "extra/7.jpg": SAME,
    "8.jpg": SAME,
}
SPLITS = ["train", "val"]


def make_tree(top, files=None):
    for path, data in (files or FILES).items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(data)
    return top


@pytest.fixture
def tree(room):
    top = make_tree(room / "tree")
    (top / "train" / "c").symlink_to("../val/b")
    (top / "train" / "empty").mkdir()
    return top


def loaded(path, **options):
    """The tensor and the label of a file."""
    item = torch.load(path, weights_only=True, **options)
    assert type(item) is tuple or list(item) == ["image", "label"]
    image, label = item if type(item) is tuple else item.values()
    assert image.is_contiguous() and type(label) is int
    return image, label


def labels_of(tree):
    """By torchvision, of all images of each data set that are not behind a link."""
    found = {"extra/7.pt": -1}
    for split in SPLITS:
        for path, label in ImageFolder(tree / split, allow_empty=True).samples:
            below = pathlib.Path(path).relative_to(tree)
            if below.parent != pathlib.Path("train/c"):
                found[str(below.with_suffix(".pt"))] = label
    return found


@pytest.mark.parametrize("item", ["pair", "dict"])
def test_labels_and_tensors(room, augurpack, tree, mounts, point, item):
    spec = f"pt+size=16+crop=12+item={item}"
    store = pack(augurpack, tree, room / "store")
    mounts.mount(store, point, f"log={room}/log")
    top, plain = view(point, spec), view(point, "pt+size=16+crop=12")
    wanted = labels_of(tree)
    assert files_below(top) == sorted(wanted)
    for path, label in wanted.items():
        if path == "train/d/bad.pt":
            assert errno_of((top / path).read_bytes) == errno.EIO
            continue
        image, found = loaded(top / path)
        assert found == label and torch.equal(image, torch.load(plain / path)), path
        assert torch.equal(loaded(top / path, mmap=True)[0], image)
        saved = io.BytesIO()
        torch.save((image, label) if item == "pair" else {"image": image, "label": label}, saved)
        saved.seek(0)
        own, own_label = loaded(saved)
        assert torch.equal(own, image) and own_label == found
        assert (top / path).stat().st_size == len((top / path).read_bytes())
    # In no class: not there, by name either.
    for path in ("train/5.pt", "8.pt"):
        assert errno_of(os.stat, top / path) == errno.ENOENT and (plain / path).exists()
    assert loaded(top / "train" / "c" / "6.pt")[1] == wanted["val/b/6.pt"]

    done = run([augurpack, "create", "--quiet", f"--decode={spec}", "--on-error=skip", store, room / "packed"])
    assert done.returncode in (0, 1), done
    assert run([augurpack, "extract", "--quiet", room / "packed", room / "files"]).returncode == 0
    packed = files_below(room / "files")
    assert packed == sorted(set(wanted) - {"train/d/bad.pt"})
    for path in packed:
        assert (room / "files" / path).read_bytes() == (top / path).read_bytes(), path


def test_a_folder_without_classes(room, augurpack, mounts, point):
    tree = make_tree(room / "tree", {"1.jpg": SAME, "2.jpg": FILES["val/b/6.jpg"]})
    mounts.mount(pack(augurpack, tree, room / "store"), point)
    top = view(point, "pt+item=pair")
    assert [loaded(top / name)[1] for name in sorted(os.listdir(top))] == [-1, -1]


def test_a_new_class_moves_labels(room, augurpack, mounts, point, ctl):
    """An open file keeps the bytes of its generation, whatever the number of its record; its name has the new label."""
    tree = make_tree(room / "tree", {"b/1.jpg": SAME, "c/2.jpg": FILES["val/b/6.jpg"]})
    store = pack(augurpack, tree, room / "store")
    mounts.mount(store, point, f"log={room}/log")
    top = view(point, "pt+item=pair")
    before = (top / "c" / "2.pt").read_bytes()
    assert loaded(top / "c" / "2.pt")[1] == 1
    folder = os.open(top / "c", os.O_RDONLY | os.O_DIRECTORY)
    try:
        with open(top / "c" / "2.pt", "rb", buffering=0) as file:
            for step, name in ((1, "a"), (2, "aa")):
                more = make_tree(room / f"more{step}", {f"{name}/0.jpg": SAME})
                assert run([augurpack, "append", "--quiet", more, store]).returncode == 0
                reload(ctl, point)
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                file.seek(0)
                assert file.read() == before
                assert [loaded(top / path)[1] for path in (f"{name}/0.pt", "b/1.pt", "c/2.pt")] == [step - 1, step, step + 1]
                assert os.listdir(folder) == []
            assert run([ctl, "restart", point]).returncode == 0
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            file.seek(0)
            assert file.read() == before
    finally:
        os.close(folder)
    assert loaded(top / "c" / "2.pt")[1] == 3


def test_as_the_root(room, augurpack, tree, mounts, point, ctl):
    store = pack(augurpack, tree, room / "store")
    mounts.mount(store, point, "view=pt+size=16+crop=12+item=dict")
    wanted = labels_of(tree)
    for path in set(wanted) - {"train/d/bad.pt"}:
        assert loaded(point / path)[1] == wanted[path]
    assert run([augurpack, "append", "--quiet", make_tree(room / "more", {"train/aa/0.jpg": SAME}), store]).returncode == 0
    done = run([ctl, "reload", point])
    assert done.returncode == 2 and "may have other labels" in done.stderr, done
    assert loaded(point / "train/d/4.pt")[1] == wanted["train/d/4.pt"]


def test_pixels(room, augurpack, tree, mounts, point):
    """Of a size of its own, in both layouts."""
    mounts.mount(pack(augurpack, tree, room / "store"), point)
    with Image.open(io.BytesIO(FILES["train/b/1.jpg"])) as image:
        pixels = torch.frombuffer(bytearray(image.convert("RGB").tobytes()), dtype=torch.uint8).reshape(30, 40, 3)
    assert torch.equal(loaded(view(point, "pt+item=dict+layout=hwc") / "train/b/1.pt")[0], pixels)
    assert torch.equal(loaded(view(point, "pt+item=dict") / "train/b/1.pt")[0], pixels.permute(2, 0, 1))
