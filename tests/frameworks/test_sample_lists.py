# SPDX-License-Identifier: Apache-2.0
"""Our lists of samples are those of the real libraries, sample by sample, on a mount of trees with odd names.

On a mount, because two of the rules keep the order in which a folder lists its files. Both sides name the file behind a link.
"""

import concurrent.futures
import importlib.util
import json
import os
import pathlib
import subprocess

import mounts
import pytest
from frameworks import run_script

LIBRARIES = {"torchvision": "torchvision", "timm": "timm", "Keras": "keras", "DALI": "nvidia.dali", "sorted glob of": "tensorflow"}

# Root: files below it. Their bytes are their paths.
CLASSES = {
    "plain": ["n01/a.JPEG", "n01/b.JPEG", "n02/a.JPEG", "n02/c.JPEG"],
    "names": [f"{folder}/{name}" for folder in (
        "cls2", "cls10", "CLS02", "Cls-a", "cls", "cls a", "cls.b", "cls/deep", "cls/deep-er", "cls/deep/x", "cls/deep.z", "_", "~",
        "éa", "жб", "x2", "猫", "ﬀ", "🐈", "i̇a") for name in (
        "img1.jpg", "img10.jpg", "img02.jpg", "img2.JPG", "IMG2.jpg", "Img3.Jpeg", "a b.png", "é.png", "x.tar.webp", "x.gif",
        "x.bmp", "x.pgm", "photojpg", "photowebp", "y.xwebp", "z.jp2", "z.jpg.txt", "v.npy", "V.NPY", "1.wav", "007.jpg",
        "12345678901234567890123.jpg", "12345678901234567890124.jpg", "-1.jpg", "t.tiff", "t.tif")] + ["top.jpg", "v.npy"],
    # Capital letters and digits above ASCII; see NATURAL.
    "capitals": [f"{folder}/{name}" for folder in ("É", "éa", "Ж", "жб", "x٣", "x2", "İ", "i̇a") for name in (
        "img1.jpg", "é.png", "É.png", "２.jpg", "007.jpg", "v.npy")],
    "hidden": [".git/x.jpg", "a/.x.jpg", "a/..jpg", "a/.jpg", "a/.sub/1.jpg", "a/x.jpg", "b/1.jpg", ".top.jpg", "b/....png"],
    "nested": ["a/b/c/1.jpg", "a/b-c/1.jpg", "a/b/1.jpg", "a/b.c/1.jpg", "a/1.jpg", "a-b/1.jpg", "a.b/1.jpg", "a/b/c/d/e/1.jpg", "0.jpg"],
}
# Whose order is natural_key's, which knows the lower case and the digits of all scripts. Ours knows those of ASCII (python_order.h).
NATURAL = "timm"
# Names that are not UTF-8, and neighbours among which Python puts them.
RAW = [b"d\xff/1.jpg", b"d\xee\x80\x80/1.jpg", b"d\xf0\x9f\x90\x88/1.jpg", b"dz/\xff.jpg", b"dz/\xee\x80\x80.jpg", b"dz/\x80.jpg",
       b"dz/\xc3\xa9.jpg", b"dz/\xed\xa0\x80.jpg", b"dz/a.jpg", b"d\xfe/\xffx/1.jpg", b"d\xfe/\xef\xbf\xbd/1.jpg"]


def make_links(folder):
    (folder / "a").mkdir(parents=True)
    (folder / "b" / "sub").mkdir(parents=True)
    for name in ("a/1.jpg", "a/2.jpg", "b/1.jpg", "b/sub/3.jpg"):
        (folder / name).write_text(name)
    (folder / "b" / "0.jpg").symlink_to("../a/2.jpg")
    (folder / "b" / "to_a").symlink_to("../a")
    (folder / "b" / "9.jpg").symlink_to("sub/3.jpg")
    (folder / "c").symlink_to("b/sub")
    (folder / "d").mkdir()
    (folder / "d" / "again").symlink_to("../b")
    (folder / "d" / "out.jpg").symlink_to("../../plain/n01/a.JPEG")


def make_dangling(folder):
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "1.jpg").write_text("1")
    (folder / "a" / "0.jpg").symlink_to("nowhere.jpg")
    (folder / "a" / "2.jpg").symlink_to("/nowhere/at/all.jpg")
    (folder / "a" / "dir").symlink_to("missing")
    (folder / "z").mkdir()
    (folder / "z" / "1.jpg").write_text("1")


@pytest.fixture(scope="module")
def store_and_mount(tmp_path_factory):
    where = tmp_path_factory.mktemp("samples")
    tree = where / "tree"
    for root, names in CLASSES.items():
        for name in names:
            path = tree / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
    for name in RAW:
        path = os.fsencode(tree / "raw") + b"/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pathlib.Path(os.fsdecode(path)).write_text("raw")
    make_links(tree / "links")
    make_dangling(tree / "dangling")
    for root in ("names", "nested"):
        (tree / root / "empty").mkdir()
    mounts.create_store(tree, where / "store")
    with mounts.augurfs(where / "store", where / "mount"):
        yield where / "store", where / "mount"


def program():
    path = mounts.build_dir() / "tests" / "sample_list_dump"
    if not path.exists():
        (pytest.fail if "AUGUR_BUILD" in os.environ else pytest.skip)(f"{path} is not built")
    return str(path)


def rules_with_extensions():
    """(rule of list_samples.py, extension): each rule that the program knows, for two extensions where it has its own."""
    for line in mounts.run(program(), "rules").splitlines():
        if line.endswith(" .EXT"):
            yield from ((line.removesuffix(".EXT") + "{}", extension) for extension in (".npy", ".jpg"))
        else:
            yield line, ""


@pytest.fixture(scope="module")
def lists(store_and_mount, tmp_path_factory):
    """{(rule, extension, root): (list of the library or None, ours or None)}, paths relative to the mount."""
    store, mount = store_and_mount
    results = tmp_path_factory.mktemp("lists")
    made = {}
    asked = {}
    for rule, extension in rules_with_extensions():
        library = next((module for name, module in LIBRARIES.items() if rule.startswith(name)), "os")
        if importlib.util.find_spec(library.partition(".")[0]) is None or importlib.util.find_spec(library) is None:
            continue
        for root in (*CLASSES, "raw", "links", "dangling"):
            # DALI reads what it lists, so it cannot go where links lead nowhere; its arrays would have to be arrays.
            if rule.startswith("DALI") and (root == "dangling" or "numpy" in rule):
                continue
            if rule.startswith(NATURAL) and root == "capitals":
                continue
            asked.setdefault(library, []).append((rule, extension, root))

    def told(library):
        question, result = results / f"{library}.ask", results / f"{library}.json"
        question.write_text(json.dumps([(rule, extension, str(mount / root)) for rule, extension, root in asked[library]]))
        done = run_script("list_samples.py", question, result)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return zip(asked[library], json.loads(result.read_text(encoding="ascii")))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = [answer for found in pool.map(told, asked) for answer in found]
    for (rule, extension, root), paths in answers:
        theirs = None if paths is None else [behind_links(path, mount) for path in paths]
        made[rule, extension, root] = theirs, our_list(store, rule.format(extension), root)
    return made


def behind_links(path, mount):
    """The file that is read, relative to the mount; a link that leads nowhere there is itself."""
    real = os.path.realpath(path)
    if not os.path.isfile(real):
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return os.path.relpath(real, os.path.realpath(mount))


def our_list(store, rule, root):
    done = subprocess.run([program(), store, root, rule], capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0, done.stderr
    return [os.fsdecode(path) for path in done.stdout.split(b"\0")[:-1]]


ROOTS = (*CLASSES, "raw", "links", "dangling")


@pytest.mark.parametrize("root", ROOTS)
def test_lists_are_those_of_the_libraries(lists, root):
    compared = 0
    wrong = []
    for (rule, extension, of), (theirs, ours) in lists.items():
        if of != root or theirs is None:
            continue
        compared += bool(theirs)
        if ours != theirs:
            first = next((pair for pair in zip(theirs, ours) if pair[0] != pair[1]), None)
            wrong.append(f"{rule.format(extension)} of {root}: {len(theirs)} samples, ours {len(ours)}, the first that differs: {first}")
    assert not wrong, "\n".join(wrong)
    assert compared >= 10, "the libraries themselves found nothing"


def test_few_lists_are_refused_by_the_libraries(lists):
    refused = {key for key, (theirs, _) in lists.items() if theirs is None}
    # DALI finds no files of an extension; nothing else fails.
    assert {rule for rule, _, _ in refused} <= {"DALI readers.file {}", "DALI readers.file"}, refused


def test_rules_differ_on_these_trees(lists):
    """Or else the test above would not tell one rule from another."""
    seen = {}
    for (rule, extension, root), (_, ours) in lists.items():
        if extension in ("", ".jpg"):
            seen.setdefault(rule, []).append((root, tuple(ours)))
    kept = {rule: tuple(sorted(found)) for rule, found in seen.items() if "DALI" not in rule}
    assert len(set(kept.values())) == len(kept)
