# SPDX-License-Identifier: Apache-2.0
"""docs/: every command of every page runs, in the order of the page, as a reader who is root would type it. Each page has the system to
itself: a root of its own over this one (an overlay in memory), and process and mount namespaces that end with the page."""

import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench" / "remote")]
import mounts  # noqa: E402
import object_servers  # noqa: E402

PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
IMAGES, CLASSES = 36, 3
LIMIT_S = 600  # against a hang: a busy machine takes minutes to import a framework
# Words that what a page does must print: that its training has seen each image, say.
SAYS = {
    "install.md": [f"trained on {IMAGES} images of {CLASSES} classes"],
    "imagenet.md": [f"trained on {IMAGES} images of {CLASSES} classes"],
    "pixels.md": [f"trained on {IMAGES} images of {CLASSES} classes"] * 2,
    "slow-disk.md": [f"trained on {IMAGES} images of {CLASSES} classes"],
    "memory.md": [f"trained on {IMAGES} images of {CLASSES} classes"] * 2,
    "when-not.md": [f"trained on {IMAGES} images of {CLASSES} classes"] * 2,
    "bucket.md": [f"trained on {IMAGES} images of {CLASSES} classes"] * 2,
    "formats.md": [f"trained on {IMAGES} images of {CLASSES} classes"] * 2,
}

# $1: the folder for the new root, $2: data, $3: the page's commands; then the variables of its environment.
# Mounts of other tests are let go first: a mount lives as long as any namespace has it.
SYSTEM = """
set -e
findmnt --list --noheadings --output TARGET --types fuse.augurfs | while IFS= read -r point; do umount -l "$point"; done
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount --rbind /dev dev
mount --rbind /sys sys
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs tmpfs mnt
mkdir -p data
mount -t tmpfs tmpfs data
cp -r "$2/." data
cp "$3" tmp/page.sh
cp data/train.py root/train.py
shift 3
exec chroot . /usr/bin/env -i HOME=/root TMPDIR=/tmp "$@" sh -euc 'cd /root && . /tmp/page.sh'
"""


def commands(page):
    return [text for language, text in BLOCK.findall(page.read_text(encoding="utf-8")) if language == "sh"]


def add(archive, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def write_records(path, files, labels):
    """A TFRecord file, by TensorFlow; in a process of its own, as it does not bear torch."""
    script = """
import json, sys, tensorflow as tf
target, samples = sys.argv[1], json.load(sys.stdin)
with tf.io.TFRecordWriter(target) as writer:
    for path, label in samples:
        features = {"image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[open(path, "rb").read()])),
                    "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label + 1]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
"""
    samples = json.dumps([(str(file), label) for file, label in zip(files, labels, strict=True)])
    subprocess.run([sys.executable, "-c", script, path], input=samples, text=True, capture_output=True, check=True)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """What the pages name below /data: the same photographs in each form."""
    folder = tmp_path_factory.mktemp("data")
    photos = folder / "photos"
    mounts.run(sys.executable, ROOT / "bench" / "dataset.py", "--quiet", "--files", IMAGES, "--classes", CLASSES, photos)
    classes = sorted(path for path in photos.iterdir() if path.is_dir())
    files = sorted(path for path in photos.rglob("*") if path.is_file())
    assert len(classes) == CLASSES and len(files) == IMAGES
    (folder / "more").mkdir()
    shutil.copytree(classes[0], folder / "more" / "another_class")
    with tarfile.open(folder / "ILSVRC2012_img_train.tar", "w") as whole:
        for one in classes:
            inner = io.BytesIO()
            with tarfile.open(fileobj=inner, mode="w") as archive:
                for path in sorted(one.iterdir()):
                    add(archive, path.name, path.read_bytes())
            add(whole, f"{one.name}.tar", inner.getvalue())
    (folder / "shards").mkdir()
    for number in range(2):
        with tarfile.open(folder / "shards" / f"shard-{number:06}.tar", "w") as archive:
            for index, path in enumerate(files[number::2]):
                add(archive, f"{index:06}.jpg", path.read_bytes())
                add(archive, f"{index:06}.cls", str(classes.index(path.parent)).encode())
    (folder / "records").mkdir()
    write_records(folder / "records" / "train-00000-of-00001", files, [classes.index(path.parent) for path in files])
    with zipfile.ZipFile(folder / "photos.zip", "w") as archive:
        for path in files:
            archive.write(path, path.relative_to(photos))
    shutil.copy(ROOT / "examples" / "pytorch_imagefolder.py", folder / "train.py")
    return folder


@pytest.fixture(scope="session")
def can_have_a_root(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    over = tmp_path_factory.mktemp("over")
    trial = f"mount -t tmpfs t {over} && cd {over} && mkdir a b c && mount -t overlay o -o lowerdir=/,upperdir=a,workdir=b c"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", trial], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"this system has no overlay over its root: {done.stderr}")


@pytest.fixture
def environment(page, data):
    """Variables of the reader's shell: where the programs are, and for pages with a bucket a server that has it. The page that installs
    them finds their packages in the data instead."""
    programs = os.path.dirname(mounts.program("augurfs"))
    system = f"{os.path.dirname(sys.executable)}:/usr/sbin:/usr/bin:/sbin:/bin"
    variables = {"PATH": f"{programs}:{system}"}
    if compiled := os.environ.get("PYTHONPYCACHEPREFIX"):
        variables["PYTHONPYCACHEPREFIX"] = compiled  # else each page compiles PyTorch again
    if any(re.search("/data/augurfs[_-]", text) for text in commands(page)):
        mounts.run(ROOT / "packaging" / "release.sh", "--from", pathlib.Path(programs).parent, "--no-check", data)
        yield {**variables, "PATH": system}
        return
    if not any("s3://my-bucket/" in text for text in commands(page)):
        yield variables
        return
    with object_servers.in_new_folder(object_servers.default_server()) as server:
        client = server.client("my-bucket")
        client.create_bucket()
        client.close()
        yield {**variables, **server.environment(), "AWS_ENDPOINT_URL": server.endpoint}


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_the_commands_of_a_page(page, data, can_have_a_root, environment, tmp_path):
    script = tmp_path / "page.sh"
    script.write_text("".join(commands(page)), encoding="utf-8")
    (tmp_path / "root").mkdir()
    words = ["unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child", "sh", "-c", SYSTEM, "sh",
             tmp_path / "root", data, script, *(f"{name}={value}" for name, value in environment.items())]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    trained = [line for line in done.stdout.splitlines() if line.startswith("trained on")]
    assert trained == SAYS.get(page.name, []), done.stdout


def test_every_page_is_in_the_index():
    linked = set(re.findall(r"\((\w[\w-]*\.md)\)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    assert linked == {page.name for page in PAGES} - {"index.md"}


def test_links_lead_to_pages():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), (page.name, target)


def test_the_site_needs_no_network(tmp_path):
    """Every page is in its menu, every link leads to a page, and nothing is loaded from elsewhere."""
    if not shutil.which("mkdocs"):
        pytest.skip("needs mkdocs")
    done = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
    pages = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "site").glob("*.html")}
    assert {page.with_suffix(".html").name for page in PAGES} <= set(pages)
    for name, text in pages.items():
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?([^\"'\s>]+)", text)
        assert loaded and not [address for address in loaded if "//" in address], (name, loaded)
    menu = set(re.findall(r'class="toctree-l1[^"]*"><a class="[^"]*" href="([^"#]+)"', pages["index.html"]))
    assert menu >= {page.with_suffix(".html").name for page in PAGES} - {"index.html"}, menu
