# SPDX-License-Identifier: Apache-2.0
"""packaging/release.sh: the packages that it makes of the programs of this build, installed as a user would, in a system or an
environment that is thrown away. Programs without shared libraries, and other systems, are the script's own to try."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = ROOT / "packaging" / "release"
PROGRAMS = ["augurctl", "augurfs", "augurpack"]
LIMIT_S = 120

pytestmark = [
    pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="no release has a sanitizer"),
    pytest.mark.skipif(shutil.which("dpkg-shlibdeps") is None, reason="needs dpkg-dev"),
]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def run(*words, **options):
    done = subprocess.run([os.fspath(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
                          check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """What the script has said, and the folder."""
    build = pathlib.Path(os.environ.get("AUGUR_BUILD") or ROOT / "build" / "release").resolve()
    if not (build / "tools" / "augurfs_texts").exists() and not (build / "tools" / "augurfs.1").exists():
        pytest.skip("the manual pages are not built")
    folder = tmp_path_factory.mktemp("release")
    said = run(ROOT / "packaging" / "release.sh", "--from", build, "--no-check", folder / "out", env={**os.environ, "TMPDIR": str(folder)})
    assert [path.name for path in folder.iterdir()] == ["out"]  # it leaves nothing else
    return said, folder / "out"


@pytest.fixture(scope="session")
def version():
    (found,) = re.findall(r"^project\(augurfs VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return found


@pytest.fixture
def photos(folder):
    """Two images in a folder of a class, made here."""
    image = pytest.importorskip("PIL.Image")
    place = pathlib.Path(folder) / "photos" / "class"
    place.mkdir(parents=True)
    for number in range(2):
        image.effect_mandelbrot((320, 200 + number), (-2, -1.5, 1, 1.5), 40).convert("RGB").save(place / f"{number}.jpg")
    return place.parent


def one(folder, pattern):
    (path,) = folder.glob(pattern)
    return path


def test_it_says_what_is_in_each(released, version):
    said, out = released
    names = sorted(path.name for path in out.iterdir())
    machine = os.uname().machine
    deb = one(out, "*.deb").name
    assert names == sorted(["SHA256SUMS", "image", f"augurfs-{version}-linux-{machine}.tar.gz", deb,
                            f"augurfs-{version}-py3-none-linux_{machine}.whl"])
    for path in out.glob("augurfs*"):
        assert re.search(rf"^  {re.escape(path.name)} +[\d.]+[KM]B$", said, re.MULTILINE), said
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"{digest}  {path.name}\n" in (out / "SHA256SUMS").read_text(encoding="ascii")
    for program in PROGRAMS:
        assert re.search(rf"^  bin/{program} \(shared libraries: .*libc\.so\.6.*\) +[\d.]+MB$", said, re.MULTILINE), said
    assert {path.name for path in (out / "image").iterdir()} == {"Dockerfile", deb}


def test_what_the_debian_package_says(released, version):
    deb = one(released[1], "*.deb")
    fields = dict(re.findall(r"^(\S+): (.*)$", run("dpkg-deb", "--field", deb), re.MULTILINE))
    assert (fields["Package"], fields["Version"], fields["Architecture"]) == ("augurfs", version, run("dpkg", "--print-architecture").strip())
    depends = re.findall(r"[^,\s]+(?: \([^)]*\))?", fields["Depends"])
    assert depends[-1] == "fuse3" and {"libc6", "libcurl4", "libfuse3-3", "libarchive13"} <= {row.split()[0] for row in depends}
    rows = [row.split() for row in run("dpkg-deb", "--contents", deb).splitlines()]
    modes = {row[5].lstrip("."): (row[0], row[1]) for row in rows}
    assert {owner for _, owner in modes.values()} == {"root/root"}
    for program in PROGRAMS:
        assert modes[f"/usr/bin/{program}"][0] == "-rwxr-xr-x" and f"/usr/share/man/man1/{program}.1.gz" in modes
    assert modes["/usr/lib/systemd/system/augurfs@.service"][0] == "-rw-r--r--"
    assert modes["/usr/share/doc/augurfs/slurm/augurfs-prolog.sh"][0] == "-rwxr-xr-x"


# A root of its own over this one, in memory: $1 the room, $2 the folder that it sees as /given, $3 its commands.
SYSTEM = """
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount --rbind /dev dev
mknod -m 666 "$1/fuse" c 10 229
mount --bind "$1/fuse" dev/fuse
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mkdir given
mount --bind "$2" given
exec chroot . /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -euc "$3"
"""


def in_a_system(room, given, commands):
    words = ["unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child", "sh", "-c", SYSTEM, "sh", room, given]
    trial = subprocess.run(["unshare", "--mount", "sh", "-c", f"mount -t tmpfs t {room} && cd {room} && mkdir a b c && "
                            "mount -t overlay o -o lowerdir=/,upperdir=a,workdir=b c"], capture_output=True, text=True, check=False)
    if trial.returncode != 0:
        pytest.skip(f"this system has no overlay over its root: {trial.stderr}")
    return run(*words, commands)


@needs_root
def test_the_debian_package(released, photos, tmp_path):
    for path in (one(released[1], "*.deb"), RELEASE / "core_check.sh"):
        shutil.copy(path, photos.parent)
    photos.parent.chmod(0o755)  # an ordinary user packs and reads, too
    said = in_a_system(tmp_path, photos.parent, """
dpkg --install /given/augurfs_*.deb >/dev/null
sh /given/core_check.sh /given/photos
! [ -x /usr/bin/systemd-analyze ] || systemd-analyze verify --man=no augurfs@test.service
man -w augurfs
dpkg --verify augurfs
dpkg --purge augurfs >/dev/null
! command -v augurfs
""")
    assert "/usr/bin/augurfs: augurfs" in said and "2 files are the same" in said and "as an ordinary user" in said and "/usr/share/man/man1/augurfs.1.gz" in said, said


@needs_root
def test_the_tarball(released, photos, tmp_path):
    run("tar", "-xzf", one(released[1], "*.tar.gz"), "--strip-components=1", "-C", tmp_path)
    path = f"{tmp_path}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert "2 files are the same" in run(RELEASE / "core_check.sh", photos, env={"PATH": path})
    assert "Apache License" in (tmp_path / "share" / "doc" / "augurfs" / "copyright").read_text(encoding="utf-8")


def test_the_wheel(released, version, photos, tmp_path):
    """pip installs it without a network; the environment then knows of it, has its programs, and can be rid of it."""
    wheel = one(released[1], "*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        text = archive.read(f"augurfs-{version}.dist-info/METADATA")
    metadata = pytest.importorskip("packaging.metadata").Metadata.from_email(text, validate=True)
    assert (metadata.name, str(metadata.version), metadata.description_content_type) == ("augurfs", version, "text/markdown")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path)
    python = tmp_path / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    run(*pip, "install", "--no-index", wheel)
    script = """
import importlib.metadata as m
d = m.distribution("augurfs")
print(d.version, d.metadata["License"], d.metadata["Requires-Python"], d.requires)
"""
    assert run(python, "-c", script).strip() == f"{version} Apache-2.0 >=3.6 None"
    for program in PROGRAMS:
        assert run(tmp_path / "bin" / program, "--version").splitlines()[0] == f"{program} {version}"
    assert (tmp_path / "share" / "man" / "man1" / "augurfs.1").is_file()
    if os.geteuid() == 0:
        path = f"{tmp_path}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        assert "2 files are the same" in run(RELEASE / "core_check.sh", photos, env={"PATH": path})
    run(*pip, "uninstall", "--yes", "augurfs")
    assert not list((tmp_path / "bin").glob("augur*"))


def text_of(*names):
    return ROOT.joinpath(*names).read_text(encoding="utf-8")


def test_every_library_has_an_archive_and_a_licence():
    """What this test does not build: a new library must be known to the build without shared libraries, and to the packages."""
    needed = re.findall(r"^augur_dependency\((\w+) \S+ \S+ (\S+)\)$", text_of("cmake", "Dependencies.cmake"), re.MULTILINE)
    assert len(needed) > 8
    static = text_of("cmake", "StaticLibraries.cmake")
    built = re.findall(r"^\S+ (\S+-dev)$", text_of("packaging", "release", "static_libraries.sh").replace('"', "\n"), re.MULTILINE)
    texts = text_of("packaging", "release", "add_texts.sh")
    for target, package in needed:
        assert f"augur_static(PkgConfig::{target} " in static, target
        assert package in built or re.search(rf"\b{re.escape(package)}\b", texts), f"{package}: no licence"


def test_bad_words(tmp_path):
    """Exit status 2, the usage, and nothing made."""
    for words in (["--suite", "x"], [tmp_path / "a", "b"], ["--from", tmp_path, "--no-check", tmp_path / "a"]):
        done = subprocess.run([ROOT / "packaging" / "release.sh", *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 2 and done.stdout in ("",) or "not built" in done.stderr, done
        assert not (tmp_path / "a").exists()
