# SPDX-License-Identifier: Apache-2.0
"""Every benchmark runs, on little data, so that none of them rots. What is checked is that it measured what it says: names,
counts, equality. No figure is."""

import hashlib
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))
import contenders  # noqa: E402
import mounts  # noqa: E402

FILES = 60
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: loop mounts and dropping caches")


def call(*words, exit_code=0, timeout=600):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout)
    assert done.returncode == exit_code, f"{words[0]}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def make(out, *options):
    return call(sys.executable, BENCH / "dataset.py", "--quiet", *options, out)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    out = tmp_path_factory.mktemp("bench") / "tree"
    make(out, "--files", FILES, "--seed", 3)
    return out


@pytest.fixture(autouse=True)
def nothing_left_mounted(tmp_path):
    yield
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as lines:
        left = [line for line in lines if str(tmp_path) in line]
    assert not left


def hashes(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def test_dataset_is_the_same_for_the_same_seed_on_any_number_of_cores(tree, tmp_path):
    make(tmp_path / "again", "--files", FILES, "--seed", 3, "--jobs", 1)
    make(tmp_path / "other", "--files", FILES, "--seed", 4)
    assert hashes(tree) == hashes(tmp_path / "again")
    assert not set(hashes(tree).values()) & set(hashes(tmp_path / "other").values())


def test_dataset_looks_like_imagenet(tmp_path):
    make(tmp_path / "tree", "--files", 400)
    paths = [path for path in (tmp_path / "tree").rglob("*") if path.is_file()]
    assert len(paths) == 400
    for path in paths:
        folder, _, number = path.stem.partition("_")
        assert path.parent.name == folder and len(folder) == 9 and folder[0] == "n" and folder[1:].isdigit()
        assert number.isdigit() and path.suffix == ".JPEG"
        assert path.read_bytes()[:3] == b"\xff\xd8\xff"
    assert len({path.name for path in paths}) == 400
    sizes = [path.stat().st_size for path in paths]
    # 400 values of a log-normal distribution with mean 110,000 and sigma 0.55: their mean has a standard error of 3 %.
    assert 95_000 < statistics.mean(sizes) < 125_000
    assert 0.4 < statistics.stdev(map(math.log, sizes)) < 0.7


def test_odd_set_has_what_it_promises(tmp_path):
    from PIL import Image

    make(tmp_path / "out", "--files", 0, "--odd")
    odd = tmp_path / "out" / "odd"
    formats = odd / "formats"
    for name, mode, kind in [("cmyk.JPEG", "CMYK", "JPEG"), ("grey.JPEG", "L", "JPEG"), ("png_named.JPEG", "RGB", "PNG"),
                             ("palette.png", "P", "PNG"), ("grey_16_bit.png", "I;16", "PNG")]:
        with Image.open(formats / name) as image:
            assert (image.mode, image.format) == (mode, kind), name
    with Image.open(formats / "progressive.JPEG") as image:
        assert image.info.get("progressive")
    for orientation in range(1, 9):
        with Image.open(formats / f"orientation_{orientation}.JPEG") as image:
            assert image.getexif()[0x0112] == orientation
    with pytest.raises(OSError):
        Image.open(odd / "broken" / "truncated.JPEG").load()
    assert (odd / "broken" / "zero_bytes.JPEG").stat().st_size == 0
    names = os.listdir(os.fsencode(odd / "names"))
    assert b"not_utf8_\xff\xfe\x80.JPEG" in names and "日本の写真.JPEG".encode() in names and max(map(len, names)) == 255
    links = odd / "links"
    assert os.readlink(links / "symlink.JPEG") == "file.JPEG" and not (links / "dangling.JPEG").exists()
    assert (links / "hard_link.JPEG").samefile(links / "file.JPEG")


def test_dataset_refuses_a_folder_with_files(tree):
    done = call(sys.executable, BENCH / "dataset.py", "--files", 5, tree, exit_code=1)
    assert "is there already" in done.stderr


def test_readfiles_reads_every_byte(tree):
    wanted = sum(path.stat().st_size for path in tree.rglob("*.JPEG"))
    for options in ([], ["--order", "shuffle", "--seed", 5, "--threads", 3]):
        result = json.loads(call(mounts.program("readfiles"), "--root", tree, *options).stdout)
        assert (result["files"], result["bytes"], result["failures"]) == (FILES, wanted, 0)
        assert result["p50_us"] <= result["p90_us"] <= result["p99_us"] <= result["max_us"]


def test_readfiles_takes_a_list_and_names_what_fails(tree, tmp_path):
    some = sorted(str(path.relative_to(tree)) for path in tree.rglob("*.JPEG"))[:7]
    (tmp_path / "list").write_text("\n".join(some + ["gone.JPEG"]) + "\n")
    result = json.loads(call(mounts.program("readfiles"), "--root", tree, "--list", tmp_path / "list", exit_code=1).stdout)
    assert (result["files"], result["failures"]) == (7, 1)
    assert result["first_failure"].endswith("gone.JPEG: No such file or directory")


def compare(tmp_path, *options):
    done = call(sys.executable, BENCH / "compare.py", *options, "--json", "--no-touch", "--work", tmp_path)
    assert not list(tmp_path.iterdir()), "the working folder was left"
    assert not os.listdir(os.environ["XDG_CACHE_HOME"]), "a daemon remembers what was read"
    return json.loads(done.stdout)["tables"]


def contender_names(cold):
    return {kind.name for kind in contenders.ALL if (os.geteuid() == 0 or not kind.root_only) and (cold or not kind.cold_only)}


def test_compare_hot(tree, tmp_path):
    tables = compare(tmp_path, "hot", "--tree", tree, "--rounds", 2, "--threads", "1,3")
    assert len(tables) == 2
    for table in tables:
        assert set(table["rounds"]) == contender_names(cold=False)
        assert all(len(values) == 2 and min(values) > 0 for values in table["rounds"].values())


@root_only
def test_compare_cold(tree, tmp_path):
    tables = compare(tmp_path, "cold", "--tree", tree, "--rounds", 1, "--threads", "2", "--disk-seconds", "0.2")
    assert [set(table["rounds"]) - {"disk, O_DIRECT"} for table in tables] == [contender_names(cold=True)] * 2
    assert {"augurfs", "augurfs predict=off"} < set(tables[0]["rounds"])


def test_compare_scan(tree, tmp_path):
    tables = compare(tmp_path, "scan", "--tree", tree, "--rounds", 1)
    assert len(tables) == (4 if os.geteuid() == 0 else 2)


def test_compare_pack_adopt_and_index(tree, tmp_path):
    packed, synced, adopted, index = compare(tmp_path, "pack", "adopt", "index", "--tree", tree, "--rounds", 1, "--index-files", "100,2000")
    assert set(adopted["rounds"]) == {"cat", "augurpack adopt"}
    assert set(packed["rounds"]) == set(synced["rounds"]) == {"mksquashfs", "augurpack"}
    assert [row["files"] for row in index["rows"]] == [100, 2000]
    assert all(row["before_scan_kib"]["VmRSS"] > 0 for row in index["rows"])


def test_compare_epoch(tree, tmp_path):
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    (table,) = compare(tmp_path, "epoch", "--tree", tree, "--rounds", 1, "--only", "augurfs")
    assert set(table["rounds"]) == {"folder", "augurfs"} and f"{FILES} samples compared equal" in table["title"]


def test_epoch_refuses_folders_that_differ(tree, tmp_path):
    pytest.importorskip("torchvision", reason="framework not installed: torchvision")
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", tree, copy], check=True)
    paths = sorted(copy.rglob("*.JPEG"))
    paths[0].write_bytes(paths[1].read_bytes())
    done = call(sys.executable, BENCH / "imagefolder_epoch.py", "--check", "--rounds", 1, "--workers", 0, f"a={tree}", f"b={copy}", exit_code=1)
    assert "differs" in done.stderr


@pytest.mark.parametrize("job", sorted(path.stem for path in (BENCH / "fio").glob("*.fio")))
def test_fio_jobs(job, tmp_path):
    done = call(sys.executable, BENCH / "fio_compare.py", "--only", job, "--jobs", "1,3", "--rounds", 1, "--seconds", "0.2", "--files", 2,
                "--file-mib", 3, "--json", "--work", tmp_path)
    tables = json.loads(done.stdout)["tables"]
    assert len(tables) == (4 if os.geteuid() == 0 else 2)
    assert all(set(table["rounds"]) == {"folder", "augurfs"} for table in tables)
    assert not list(tmp_path.iterdir())
