# SPDX-License-Identifier: Apache-2.0
"""info, ls, verify, gc and extract, on stores that create made."""

import json
import os
import re
import resource
import shutil
import stat
import subprocess
import tempfile

import pytest
from cli_support import describe, make_source, refuse, run, succeed


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="augur-cli-") as path:
        yield path
        for top, names, _ in os.walk(path):  # a test may leave folders that are closed to us
            for name in names:
                if not os.path.islink(os.path.join(top, name)):
                    os.chmod(os.path.join(top, name), 0o700)


@pytest.fixture
def source(folder):
    path = os.path.join(folder, "source")
    make_source(path)
    return path


@pytest.fixture
def store(folder, source, augurpack):
    path = os.path.join(folder, "store")
    done = run(augurpack, "create", "--quiet", source, path)
    assert done.returncode == 0, done.stderr
    return path


def test_an_existing_store_is_refused(augurpack, source, store):
    assert "--force" in refuse(2, augurpack, "create", "--quiet", source, store)
    assert run(augurpack, "create", "--quiet", "--force", source, store).returncode == 0


def test_a_broken_pipe_is_success(augurpack, folder):
    names = os.path.join(folder, "names")
    os.mkdir(names)
    for number in range(2000):  # 400 KB of names: more than a pipe holds
        with open(os.path.join(names, f"{number:0200d}"), "wb"):
            pass
    store = os.path.join(folder, "store")
    succeed(augurpack, "create", "--quiet", names, store)
    with subprocess.Popen([augurpack, "ls", store], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"0" * 200 + b"\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


def test_a_full_disk_is_an_error(augurpack, store):
    with open("/dev/full", "wb") as full:
        done = run(augurpack, "ls", store, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"augurpack: standard output: No space left on device: make room on that disk, or choose another one\n"


def test_extract_says_what_it_did(augurpack, source, store, folder):
    done = os.path.join(folder, "out")
    seen = [mode for mode, _, _ in describe(source).values()]
    sizes = [len(content) for mode, _, content in describe(source).values() if stat.S_ISREG(mode)]
    size = succeed(augurpack, "extract", store, done).removeprefix(f"{done}: wrote ").rstrip("\n")
    assert size.startswith(f"{sum(map(stat.S_ISREG, seen))} files, {sum(map(stat.S_ISDIR, seen)) - 1} folders and 2 links, ")
    assert size.endswith(f"{sum(sizes) / (1 << 20):.1f} MiB")
    assert succeed(augurpack, "extract", "--quiet", "--force", store, done) == ""
    assert succeed(augurpack, "extract", "--force", store, done, "nothing") == f"{done}: wrote 1 file, 0 folders and 0 links, 0 bytes\n"


# ---------------------------------------------------------------------------------------------- info, ls, verify, gc


def test_info_counts_what_is_there(augurpack, source, store):
    info = json.loads(succeed(augurpack, "info", "--json", store))
    seen = describe(source)
    modes = [mode for mode, _, _ in seen.values()]
    sizes = [len(content) for mode, _, content in seen.values() if stat.S_ISREG(mode)]
    assert info["generation"] == 1
    assert info["files"] == sum(map(stat.S_ISREG, modes))
    assert info["directories"] == sum(map(stat.S_ISDIR, modes))
    assert info["symlinks"] == sum(map(stat.S_ISLNK, modes))
    assert info["tree_bytes"] == info["record_bytes"] == sum(sizes)
    assert info["images"] == 0
    assert info["dead_bytes"] == 0
    assert [shard["kind"] for shard in info["shards"]] == ["own"]
    assert info["own_shard_bytes"] == os.path.getsize(os.path.join(store, info["shards"][0]["locator"]))
    text = succeed(augurpack, "info", store)
    assert re.search(r"^generation +1$", text, re.MULTILINE)
    assert re.search(rf"^tree .*\({sum(sizes)} bytes\)$", text, re.MULTILINE)


def test_info_shows_the_bytes_that_no_file_uses(augurpack, folder, source, store):
    other = os.path.join(folder, "other")
    os.mkdir(other)
    with open(os.path.join(other, "run"), "wb") as file:
        file.write(b"12345")
    os.mkdir(os.path.join(other, "a"))
    shutil.copy(os.path.join(other, "run"), os.path.join(other, "a"))
    succeed(augurpack, "append", "--quiet", "--replace", other, store)
    # Ten bytes of a/run have given way; its new bytes are stored once for two files.
    info = json.loads(succeed(augurpack, "info", "--json", store))
    assert info["generation"] == 2
    assert info["dead_bytes"] == os.path.getsize(os.path.join(source, "a", "run")) == 10


def test_ls_lists_one_level_or_all(augurpack, source, store):
    def shown(path):
        return path.replace(b"\\", rb"\x5C").replace(b"\xff", rb"\xFF").replace(b"\n", rb"\x0A").decode()

    everything = sorted(describe(source), key=lambda path: path.split(b"/"))
    top = [shown(path) for path in everything if b"/" not in path and path != b"."]
    assert succeed(augurpack, "ls", store).splitlines() == top
    assert succeed(augurpack, "ls", "-R", store).splitlines() == [shown(path) for path in everything if path != b"."]
    assert succeed(augurpack, "ls", store, "a").splitlines() == ["a/b", "a/run"]
    assert succeed(augurpack, "ls", "-R", store, "/a/").splitlines() == ["a/b", "a/b/large", "a/b/link", "a/run"]
    assert succeed(augurpack, "ls", store, "a/run").splitlines() == ["a/run"]
    assert succeed(augurpack, "ls", "-R", store, "a/run").splitlines() == ["a/run"]
    assert succeed(augurpack, "ls", store, "empty") == ""
    assert refuse(2, augurpack, "ls", store, "a/none") == f"augurpack: {store}: no such path in the store: 'a/none'"
    # A link is shown, not followed.
    assert "no such path" in refuse(2, augurpack, "ls", store, "a/b/link/x")


def test_ls_long_shows_modes_sizes_times_and_targets(augurpack, store):
    lines = {}
    for line in succeed(augurpack, "ls", "-lR", store).splitlines():
        mode, size, when, path = line.split(None, 3)
        lines[path] = (mode, size, when)
    assert lines["a/run"] == ("-rws--x--x", "10", "1969-12-31T00:00:00Z")
    assert lines["a/b/link -> ../run"] == ("lrwxrwxrwx", "6", "2001-09-09T01:46:40Z")
    assert lines["empty"][0::2] == ("drwxr-xr-x", "2001-02-03T04:05:06Z")
    assert lines["shut/read-only"][:2] == ("-r--r--r--", "1")
    assert lines["a/b/large"][1] == str(256 * 4096 * 3 + 4)


def test_verify_says_what_it_checked(augurpack, source, store):
    entries = len(describe(source))
    text = succeed(augurpack, "verify", store)
    assert text.count("\n") == 1 and "no defects" in text and f" {entries} entries" in text
    report = json.loads(succeed(augurpack, "verify", "--json", store))
    assert (report["entries"], report["records"], report["shards"]) == (entries, 4, 1)
    assert (report["defects"], report["first_defects"]) == (0, [])
    assert succeed(augurpack, "verify", "--quiet", store) == ""


def damage(store, content):
    """Flips a bit in the stored bytes of the file that holds `content`."""
    for name in os.listdir(store):
        if name.startswith("shard-"):
            path = os.path.join(store, name)
            with open(path, "r+b") as file:
                at = file.read().find(content)
                if at >= 0:
                    file.seek(at + len(content) - 1)
                    last = file.read(1)
                    file.seek(at + len(content) - 1)
                    file.write(bytes([last[0] ^ 1]))
                    return
    raise AssertionError("the bytes are in no shard")


def test_verify_names_a_defect_and_ends_with_1(augurpack, store):
    damage(store, b"#!/bin/sh\n")
    done = run(augurpack, "verify", "--json", store)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["defects"] == 1
    assert "a/run" in report["first_defects"][0] and "checksum mismatch" in report["first_defects"][0]
    assert b"a/run" in done.stderr and done.stderr.startswith(b"augurpack: ")
    done = run(augurpack, "verify", store)
    assert done.returncode == 1 and b": 1 defect\n" in done.stdout
    # The answer is the exit status, whoever listens to the rest.
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert run(augurpack, "verify", store, stdout=writer).returncode == 1
    finally:
        os.close(writer)


def test_verify_of_a_store_that_does_not_open_ends_with_1(augurpack, store):
    with open(os.path.join(store, "manifest"), "ab") as file:
        file.write(b"more\n")
    done = run(augurpack, "verify", store)
    assert done.returncode == 1
    assert b"manifest" in done.stderr and b"1 defect" in done.stdout
    assert b"manifest" in run(augurpack, "info", store).stderr


def test_a_store_that_does_not_open_is_told_with_the_cure(augurpack, store, folder):
    """Each command that reads; nothing is made or changed."""
    cure = "copy it back from where the store came from, or pack the store again"
    out = os.path.join(folder, "out")
    for name, size, cause in (("index-00000001", 100, "100 bytes, the manifest says"), ("index-00000001", 70_000, "truncated or replaced"),
                              ("manifest", 50, "it does not end with a checksum line"), ("manifest", 0, "the first line is not")):
        damaged = os.path.join(folder, f"{name}-{size}")
        shutil.copytree(store, damaged)
        os.truncate(os.path.join(damaged, name), size)
        for words in (["info", damaged], ["ls", damaged], ["extract", damaged, out]):
            text = refuse(2, augurpack, *words)
            assert f"{name}: " in text and cause in text and text.endswith(cure)
        assert not os.path.exists(out) and os.path.getsize(os.path.join(damaged, name)) == size
    for path in (os.path.join(folder, "nowhere"), os.path.join(store, "manifest"), "/dev/null"):
        assert refuse(2, augurpack, "info", path).endswith("give the folder that 'augurpack create' has made")
    text = refuse(2, augurpack, "create", store, os.path.join(folder, "no", "store"))
    assert text.endswith("make the one above it first")


def test_gc_removes_what_the_current_generation_does_not_need(augurpack, folder, source, store):
    other = os.path.join(folder, "other")
    os.mkdir(other)
    with open(os.path.join(other, "x"), "wb") as file:
        file.write(b"x" * 5000)
    succeed(augurpack, "create", "--quiet", "--force", other, store)
    before = set(os.listdir(store))
    text = succeed(augurpack, "gc", store)
    after = set(os.listdir(store))
    removed = before - after
    assert "index-00000001" in removed and "index-00000002" in after
    assert text.startswith(f"removed {len(removed)} file")
    assert succeed(augurpack, "ls", store) == "x\n"
    assert succeed(augurpack, "verify", "--quiet", store) == ""
    assert succeed(augurpack, "gc", store) == "removed 0 files, 0 bytes\n"


# ---------------------------------------------------------------------------------------------- extract


@pytest.mark.parametrize("threads", ["1", "4"])
def test_extract_brings_everything_back(augurpack, folder, source, store, threads):
    out = os.path.join(folder, "out")
    assert succeed(augurpack, "extract", "--quiet", "--special-modes", "--threads", threads, store, out) == ""
    assert describe(out) == describe(source)


def test_extract_takes_paths(augurpack, folder, source, store):
    out = os.path.join(folder, "out")
    succeed(augurpack, "extract", store, out, "a/b", "nothing", "a/b/link")
    whole = describe(source)
    wanted = {path: whole[path] for path in [b"a", b"a/b", b"a/b/large", b"a/b/link", b"nothing"]}
    seen = describe(out)
    del seen[b"."]  # the folder that we asked for keeps its own mode and time
    assert seen == wanted
    error = refuse(2, augurpack, "extract", store, os.path.join(folder, "out2"), "a/b", "none")
    assert error.endswith("no such path in the store: 'none'")
    assert not os.path.exists(os.path.join(folder, "out2"))


def test_extract_replaces_nothing_unless_forced(augurpack, folder, source, store):
    out = os.path.join(folder, "out")
    os.makedirs(os.path.join(out, "a"))
    with open(os.path.join(out, "a", "run"), "wb") as file:
        file.write(b"mine")
    done = run(augurpack, "extract", store, out)
    assert done.returncode == 2
    assert done.stderr.decode() == f"augurpack: {out}/a/run: it is there already; --force replaces files that are there\n"
    with open(os.path.join(out, "a", "run"), "rb") as file:
        assert file.read() == b"mine"
    succeed(augurpack, "extract", "--force", "--special-modes", store, out)
    assert describe(out) == describe(source)
    succeed(augurpack, "extract", "--force", "--special-modes", store, out)  # also over folders that are read-only by now
    assert describe(out) == describe(source)


def test_extract_never_writes_through_a_link(augurpack, folder, source, store):
    out, outside = os.path.join(folder, "out"), os.path.join(folder, "outside")
    os.mkdir(out)
    os.mkdir(outside)
    with open(os.path.join(outside, "run"), "wb") as file:
        file.write(b"precious")
    os.symlink(outside, os.path.join(out, "a"))
    os.symlink(os.path.join(outside, "run"), os.path.join(out, "nothing"))
    before = describe(outside)
    assert run(augurpack, "extract", store, out).returncode == 2
    assert describe(outside) == before
    succeed(augurpack, "extract", "--force", "--special-modes", store, out)
    assert describe(outside) == before
    assert describe(out) == describe(source)


def test_extract_does_not_put_a_file_in_the_place_of_a_folder(augurpack, folder, store):
    out = os.path.join(folder, "out")
    os.makedirs(os.path.join(out, "nothing", "mine"))
    done = run(augurpack, "extract", "--force", store, out)
    assert done.returncode == 2
    assert f"{out}/nothing: a folder is in the place of a file".encode() in done.stderr
    assert os.path.isdir(os.path.join(out, "nothing", "mine"))


def test_extract_leaves_out_what_is_damaged_and_says_so(augurpack, folder, source, store):
    damage(store, b"#!/bin/sh\n")
    out = os.path.join(folder, "out")
    done = run(augurpack, "extract", store, out)
    assert done.returncode == 2
    assert b"augurpack: a/run: left out: " in done.stderr and b"checksum mismatch" in done.stderr
    wanted = describe(source)
    del wanted[b"a/run"]
    assert describe(out) == wanted


def test_extract_goes_as_deep_as_a_path_can(augurpack, folder):
    depth = 1500  # over the usual limit of descriptors, within PATH_MAX
    source, store, out = (os.path.join(folder, name) for name in ("source", "store", "out"))
    os.mkdir(source)
    here = os.open(source, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    succeed(augurpack, "create", "--quiet", source, store)

    def usual_limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    succeed(augurpack, "extract", store, out, preexec_fn=usual_limit)
    assert succeed(augurpack, "ls", "-R", store).splitlines()[-1] == "d/" * depth + "leaf"
    assert run("find", out, "-name", "leaf", "-printf", "%d").stdout == str(depth + 1).encode()
    run("rm", "-rf", source, out)  # deeper than os.walk can follow
