# SPDX-License-Identifier: Apache-2.0
"""augurpack create --decode: the store of a view, from any source. That its bytes are those of a mount is tested beside the mount."""

import io
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tarfile
import time

import pytest
from pack_support import PATIENCE_S, reader, run, store_tree, wait_until_taken, write

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mount"))
from view_tree import MANY, NPY_NAMES, TRUNCATED, coded, images, make_view_tree, npy_path, others, photo  # noqa: E402

SPEC = "npy+size=16+crop=12"
LINES = 30


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("decode") / "tree"
    top.mkdir()
    make_view_tree(top)
    (top / TRUNCATED).unlink()
    return top


@pytest.fixture(scope="module")
def store(augurpack, tree):
    run(augurpack, "create", "--quiet", tree, tree.parent / "store")
    return tree.parent / "store"


@pytest.fixture(scope="module")
def decoded(augurpack, store):
    run(augurpack, "create", "--decode", SPEC, store, store.parent / "decoded")
    return store_tree(store.parent / "decoded")


@pytest.fixture(scope="module")
def tar(tree):
    with tarfile.open(tree.parent / "tree.tar", "w", format=tarfile.PAX_FORMAT) as file:
        file.add(tree, arcname=".")
    return tree.parent / "tree.tar"


def create(augurpack, *words, **options):
    return run(augurpack, "create", "--json", "--decode", *words, **options)


def large(width, height, seed, mode="RGB"):
    """A photograph of many pixels, quickly made."""
    return coded(photo(width // 10, height // 10, seed, mode).resize((width, height)), "JPEG")


def names_left(store):
    return sorted(path.name for path in store.iterdir() if not path.name.startswith(("shard-", "index-")))


def in_seconds(tree):
    """Without what an archive need not have: the root, and parts of seconds to the last one."""
    return {path: (kind, mode, time // 10**9, detail) for path, (kind, mode, time, detail) in tree.items() if path}


# ---------------------------------------------------------------------------------------------- sources


def test_a_photograph_with_a_long_header(augurpack, tmp_path):
    """9 MiB of segments in front of the image, as depth maps and previews are: an image, from a folder, a tar, and a tar by name."""
    plain = coded(photo(40, 30, 5), "JPEG")
    segment = b"\xff\xe2\xff\xff" + bytes(65533)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "x.jpg").write_bytes(plain[:2] + segment * 144 + plain[2:])
    with tarfile.open(tmp_path / "tree.tar", "w") as file:
        file.add(tmp_path / "tree" / "x.jpg", arcname="x.jpg")
    run(augurpack, "adopt", tmp_path / "tree.tar", tmp_path / "adopted")
    wanted = numpy.asarray(Image.open(io.BytesIO(plain)).convert("RGB"))
    for source in ("tree", "tree.tar", "adopted"):
        create(augurpack, "npy", tmp_path / source, tmp_path / f"npy-{source}")
        _, contents = store_tree(tmp_path / f"npy-{source}")
        assert set(contents) == {b"x.npy"}, source
        assert numpy.array_equal(numpy.load(io.BytesIO(contents[b"x.npy"])), wanted)


def test_what_is_made_of_each_image(decoded):
    """Against Pillow, and as NumPy loads it."""
    _, contents = decoded
    wanted = {npy_path(path) for path in images()} | {f"many/{number:05d}.npy" for number in range(MANY)}
    assert set(contents) == {os.fsencode(path) for path in wanted}
    for path, data in images().items():
        pixels = numpy.load(io.BytesIO(contents[os.fsencode(npy_path(path))]))
        whole = Image.open(io.BytesIO(data)).convert("RGB")
        small = whole.resize(tuple(int(16 * side / min(whole.size)) for side in whole.size), Image.BILINEAR)
        left, top = (round((side - 12) / 2) for side in small.size)
        assert numpy.array_equal(pixels, numpy.asarray(small.crop((left, top, left + 12, top + 12)))), path


@pytest.mark.parametrize("source", ["folder", "tar", "stdin", "zip", "adopted"])
def test_any_source_makes_the_same(augurpack, tree, tar, decoded, tmp_path, source):
    out = tmp_path / "out"
    if source == "folder":
        create(augurpack, SPEC, tree, out)
    elif source == "tar":
        create(augurpack, SPEC, tar, out)
    elif source == "stdin":
        with open(tar, "rb") as stdin:
            create(augurpack, SPEC, "-", out, stdin=stdin)
    elif source == "zip":
        if shutil.which("zip") is None:
            pytest.skip("zip is not installed")
        run("zip", "-qry", tmp_path / "tree.zip", ".", cwd=tree)
        create(augurpack, SPEC, tmp_path / "tree.zip", out)
    else:
        run(augurpack, "adopt", "--quiet", tar, tmp_path / "adopted")
        create(augurpack, SPEC, tmp_path / "adopted", out)
    assert names_left(out) == ["lock", "manifest"]
    made = store_tree(out)
    if source == "folder":
        assert made == decoded
    else:
        assert in_seconds(made[0]) == in_seconds(decoded[0]) and made[1] == decoded[1]
    reader.full_check(out)
    run(augurpack, "verify", out)


def test_pixels_keep_what_is_no_image(augurpack, tree, store, tmp_path):
    summary = json.loads(create(augurpack, "pixels+as=ppm", store, tmp_path / "out").stdout)
    assert (summary["left_out"], summary["errors"]) == (0, 0)
    _, contents = store_tree(tmp_path / "out")
    through = [*others(), *(path for path, data in images().items() if data[:2] != b"\xff\xd8")]
    for path in through:
        assert contents[os.fsencode(path)] == (tree / path).read_bytes()
    assert contents[b"photos/rgb.JPEG"].startswith(b"P6\n60 40\n255\n")
    assert contents[b"photos/grey.jpg"].startswith(b"P5\n")
    with reader.Store(tmp_path / "out") as made:  # what is known of a record is what its own bytes say
        image = {child.name: child.image for child in made.children(find(made, "photos"))}
    assert image[b"mask.png"].kind == 2 and image[b"rgb.JPEG"].kind == 0


def find(store, name):
    return next(child for child in store.children(store.entry(0)) if child.name == os.fsencode(name))


def test_a_png_of_a_view_is_an_image_again(augurpack, store, tmp_path):
    create(augurpack, "pixels+size=20", store, tmp_path / "small")
    create(augurpack, "pixels+all+as=bmp", tmp_path / "small", tmp_path / "bmp")
    _, contents = store_tree(tmp_path / "bmp")
    with Image.open(io.BytesIO(contents[b"photos/rgb.JPEG"])) as image:
        assert (image.format, image.size) == ("BMP", (30, 20))


def test_a_large_file_goes_through(augurpack, tmp_path):
    source = tmp_path / "source"
    write(source / "a.jpg", coded(photo(30, 20, 1), "JPEG"))
    write(source / "b.bin", os.urandom((9 << 20) + 5))
    write(source / "c.jpg", coded(photo(30, 20, 2), "JPEG"))
    create(augurpack, "pixels", source, tmp_path / "out")
    assert store_tree(tmp_path / "out")[1][b"b.bin"] == (source / "b.bin").read_bytes()
    run(augurpack, "verify", tmp_path / "out")


def test_names_of_any_bytes_and_names_that_clash(augurpack, tmp_path):
    jpeg, png = coded(photo(9, 8, 1), "JPEG"), coded(photo(9, 8, 2), "PNG")
    source = tmp_path / "source"
    files = {b"\xff\xfe.jpg": jpeg, b"new\nline.jpg": jpeg, b"x.jpg": jpeg, b"x.png": png, b"y.jpg": jpeg, b"y.npy": b"taken",
             b"z": jpeg, b"z.jpg": jpeg, b"l" * 251 + b".jpg": jpeg, b"n" * 255: jpeg, b".jpg": jpeg}  # fmt: skip
    for name, data in files.items():
        write(os.path.join(os.fsencode(source), b"d", name), data)
    done = create(augurpack, "npy", source, tmp_path / "out")
    names = {path[2:] for path in store_tree(tmp_path / "out")[1]}
    assert names == {b"\xff\xfe.npy", b"new\nline.npy", b"x.jpg.npy", b"x.png.npy", b"y.jpg.npy", b"z.npy", b"z.jpg.npy",
                     b"l" * 251 + b".npy", b".jpg.npy"}  # fmt: skip
    left = json.loads(done.stdout)["left_out_names"]
    assert any("name would be too long" in text and "n" * 255 in text for text in left)
    assert any(text.endswith("d/y.npy: the view does not show it") for text in left)


# ---------------------------------------------------------------------------------------------- choosing


@pytest.mark.parametrize("words", [["--include", "*.png"], ["--exclude", "a.jpg", "--exclude", "many"],
                                   ["--include", "photos/*"], ["--exclude", "*.npy", "--include", "clash/**"]])  # fmt: skip
def test_patterns_go_by_the_names_of_the_source(augurpack, tree, store, tmp_path, words):
    create(augurpack, "npy", *words, tree, tmp_path / "from-folder")
    create(augurpack, "npy", *words, store, tmp_path / "from-store")
    made = store_tree(tmp_path / "from-store")
    assert made == store_tree(tmp_path / "from-folder")
    names = set(made[1])
    if words == ["--include", "*.png"]:  # and what is left out takes no name
        assert names == {b"photos/mask.npy", b"clash/a.npy"}
    if "many" in words:
        assert b"clash/a.npy" in names and not any(name.startswith(b"many") for name in names)
    if "*.npy" in words:
        assert names == {b"clash/a.jpg.npy", b"clash/a.png.npy", b"clash/b.npy"}


def test_what_is_left_out_is_counted(augurpack, store, tmp_path):
    done = run(augurpack, "create", "--decode", "npy", store, tmp_path / "out")
    count = MANY + len(others())
    assert f"left out: {count} items that are not shown, the first: {store}/".encode() in done.stdout and done.error == ""
    summary = json.loads(create(augurpack, "npy", "--force", store, tmp_path / "out").stdout)
    assert summary["left_out"] == count and f"{store}/labels.csv: the view does not show it" in summary["left_out_names"]
    assert summary["files"] == MANY + len(images()) and summary["images"] == 0 and summary["generation"] == 2
    assert summary["duplicates"] == MANY - 1


def test_a_wrong_spec(augurpack, store, tmp_path):
    done = run(augurpack, "create", "--decode", "npy+sise=3", store, tmp_path / "out", ok=(2,))
    assert done.error.startswith("augurpack: --decode: view 'npy+sise=3'") and "layout=hwc" in done.error
    assert not (tmp_path / "out").exists()


def test_append_has_no_such_option(augurpack, store, tmp_path):
    assert "--decode" in run(augurpack, "append", "--decode", "npy", store, tmp_path / "out", ok=(2,)).error


# ---------------------------------------------------------------------------------------------- failures


@pytest.fixture
def bad(tmp_path):
    source = tmp_path / "bad"
    for number in range(20):
        write(source / f"{number:02}.jpg", coded(photo(40, 30, number), "JPEG"))
    write(source / "07.jpg", coded(photo(64, 64, 7), "JPEG")[:-400])
    return source


@pytest.mark.parametrize("kind", ["folder", "store"])
def test_an_image_that_cannot_be_decoded(augurpack, bad, tmp_path, kind):
    source = bad
    if kind == "store":
        source = tmp_path / "store"
        run(augurpack, "create", "--quiet", bad, source)
    stopped = run(augurpack, "create", "--decode", "npy", source, tmp_path / "out", ok=(2,))
    assert stopped.error == (f"augurpack: {source}/07.jpg: JPEG: truncated: the file ends before its image does; get it whole, "
                             "or add tolerant to the view: --on-error=skip leaves such files out, and goes on from here with --resume\n")
    skipped = create(augurpack, "npy", "--on-error=skip", source, tmp_path / "skipped", ok=(1,))
    assert f"{source}/07.jpg: JPEG: truncated" in skipped.error and skipped.error.endswith(": left out\n")
    summary = json.loads(skipped.stdout)
    assert (summary["files"], summary["errors"]) == (19, 1)
    assert b"07.npy" not in store_tree(tmp_path / "skipped")[1]
    # As it says; the same command alone would meet it again.
    run(augurpack, "create", "--decode", "npy", "--resume", source, tmp_path / "out", ok=(2,))
    create(augurpack, "npy", "--on-error=skip", "--resume", source, tmp_path / "out", ok=(1,))
    assert store_tree(tmp_path / "out")[1] == store_tree(tmp_path / "skipped")[1]
    tolerant = json.loads(create(augurpack, "npy+tolerant", source, tmp_path / "tolerant").stdout)
    assert (tolerant["files"], tolerant["errors"]) == (20, 0)


def test_a_damaged_record_of_the_source(augurpack, bad, tmp_path):
    """It is named, whether it would be decoded or passed on."""
    (bad / "07.jpg").write_bytes(b"no image")
    run(augurpack, "create", "--quiet", bad, tmp_path / "store")
    shard = tmp_path / "store" / "shard-00000001-00000"
    damaged = bytearray(shard.read_bytes())
    for name in ("03.jpg", "07.jpg"):
        damaged[damaged.find((bad / name).read_bytes()) + 5] ^= 1
    shard.write_bytes(damaged)
    done = create(augurpack, "pixels", "--on-error=skip", tmp_path / "store", tmp_path / "out", ok=(1,))
    assert json.loads(done.stdout)["errors"] == 2
    for name in ("03.jpg", "07.jpg"):
        assert f"{tmp_path}/store/{name}: " in done.error and "checksum mismatch" in done.error
    assert len(store_tree(tmp_path / "out")[1]) == 18


def test_what_is_no_source(augurpack, tmp_path, store):
    out = tmp_path / "out"
    write(tmp_path / "text", b"neither")
    assert "neither a tar nor a zip" in run(augurpack, "create", "--decode", "npy", tmp_path / "text", out, ok=(2,)).error
    assert not out.exists()
    assert "No such file" in run(augurpack, "create", "--decode", "npy", tmp_path / "gone", out, ok=(2,)).error
    assert not out.exists()
    assert "is the store itself" in run(augurpack, "create", "--force", "--decode", "npy", store, store, ok=(2,)).error


def test_a_folder_is_a_store_when_it_is_one(augurpack, tree, tmp_path):
    """A file `manifest` does not make a store; a store whose manifest is broken stays one, and is refused."""
    source = tmp_path / "source"
    write(source / "manifest", b"1 a.jpg\n")
    write(source / "a.jpg", coded(photo(30, 20, 1), "JPEG"))
    create(augurpack, "npy", source, tmp_path / "out")
    assert set(store_tree(tmp_path / "out")[1]) == {b"a.npy"}
    run(augurpack, "create", "--quiet", tree, tmp_path / "store")
    (tmp_path / "store" / "manifest").write_bytes(b"nonsense")
    assert "manifest" in run(augurpack, "create", "--decode", "npy", tmp_path / "store", tmp_path / "other", ok=(2,)).error
    assert not (tmp_path / "other").exists()


def test_there_is_a_store_already(augurpack, store, tmp_path):
    write(tmp_path / "old" / "a", b"old")
    run(augurpack, "create", tmp_path / "old", tmp_path / "out")
    assert "--force" in run(augurpack, "create", "--decode", "npy", store, tmp_path / "out", ok=(2,)).error
    assert store_tree(tmp_path / "out")[1] == {b"a": b"old"}


# ---------------------------------------------------------------------------------------------- progress, memory


def test_each_pass_has_its_line(augurpack, tmp_path):
    """The source comes through a pipe that pauses, and takes longer to decode than the bar waits between two drawings."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number in range(LINES):
            data = large(1600, 1200, number)
            info = tarfile.TarInfo(f"{number}.jpg")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    archive = buffer.getvalue()
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen([augurpack, "create", "--threads=1", "--decode", "npy", "-", tmp_path / "out"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=theirs) as packer:  # fmt: skip
            os.close(theirs)
            packer.stdin.write(archive[: len(archive) // 2])
            packer.stdin.flush()
            wait_until_taken(packer.stdin)  # else it may begin after the pause
            time.sleep(0.5)
            packer.stdin.write(archive[len(archive) // 2 :])
            packer.stdin.close()
            seen = b""
            try:
                while chunk := os.read(ours, 65536):
                    seen += chunk
            except OSError:  # how Linux says that the other end is closed
                pass
            assert packer.wait(PATIENCE_S) == 0
    finally:
        os.close(ours)
    assert 0 <= seen.find(b"packing: ") < seen.find(b"decoding: "), seen
    assert b" of %d files" % LINES in seen[seen.find(b"decoding: "):], "the whole is known before it begins"
    assert b"decoding: " in seen and b"packing: " not in seen[seen.find(b"decoding: "):]


@pytest.mark.skipif("AUGUR_SANITIZER" in os.environ, reason="a sanitizer's own memory cannot be told from the packer's")
def test_memory(augurpack, tmp_path):
    """Photographs of 12 megapixels on many threads; and one comes through that needs more than all of it."""
    source = tmp_path / "source"
    for number in range(12):
        write(source / f"{number:02}.jpg", large(4000, 3000, number % 3))
    run(augurpack, "create", "--quiet", source, tmp_path / "store")
    write(tmp_path / "small" / "a.jpg", coded(photo(30, 20, 1), "JPEG"))
    run(augurpack, "create", "--quiet", tmp_path / "small", tmp_path / "out")
    peaks = {}
    for name, words in {"many": ["npy+size=256+crop=224", "--threads=16"], "whole": ["npy", "--threads=16"]}.items():
        with subprocess.Popen([augurpack, "create", "-q", "--force", "--decode", *words, tmp_path / "store", tmp_path / "out"]) as packer:
            peaks[name] = peak_anonymous(packer)
            assert packer.wait(PATIENCE_S) == 0
    print({name: peak >> 20 for name, peak in peaks.items()}, "MiB")
    write(source / "06-large.jpg", large(8000, 8000, 1, "L"))
    create(augurpack, "npy+size=256+crop=224", "--force", source, tmp_path / "out")
    assert all(0 < peak <= 256 << 20 for peak in peaks.values()), {name: peak >> 20 for name, peak in peaks.items()}
    assert b"06-large.npy" in store_tree(tmp_path / "out")[1]


def peak_anonymous(process):
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                rows = dict(line.split(":", 1) for line in status)
            peak = max(peak, int(rows["RssAnon"].split()[0]) << 10)
        except (FileNotFoundError, ProcessLookupError, KeyError):
            break
    return peak
