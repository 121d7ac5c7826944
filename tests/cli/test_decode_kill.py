# SPDX-License-Identifier: Apache-2.0
"""augurpack create --decode ended at any point, in either of its passes, leaves the old store or none, and --resume goes on."""

import io
import json
import pathlib
import random
import signal
import subprocess
import sys
import tarfile
import time

import pytest
from pack_support import PATIENCE_S, reader, run, store_tree, write

pytest.importorskip("numpy")
pytest.importorskip("PIL.Image")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mount"))
from view_tree import coded, photo  # noqa: E402

FILES = 160
# Of 160 KB each as arrays, so the second pass has some 25 shards; the first has 4 to 6.
SPEC = "npy+size=300+crop=230"
SHARDS = "--shard-size=1M"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    top = tmp_path_factory.mktemp("decode-kill") / "source"
    for number in range(FILES):
        write(top / f"n{number % 8}" / f"{number:03}.JPEG", coded(photo(400, 300, number), "JPEG", quality=80))
    write(top / "labels.csv", b"a,b\n")
    (top / "link").symlink_to("n1")
    return top


@pytest.fixture(scope="module")
def wanted(augurpack, source):
    run(augurpack, "create", "--decode", SPEC, source, source.parent / "wanted")
    return store_tree(source.parent / "wanted")


def words(source, store, spec=SPEC, *more):
    return ["create", "--decode", spec, SHARDS, *more, source, store]


def start(augurpack, *arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([augurpack, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def begun(store, first, second):
    """Whether the first pass has begun its shard of this number, or the second one."""
    if (store / "manifest").exists() or list(store.glob(f"shard-*-{second:05}")):
        return True
    packed = store / ".augurpack-work" / "source"
    return first is not None and bool(list(packed.glob(f"shard-*-{first:05}")))


def kill_when(packer, condition, delay_s=0.0):
    while packer.poll() is None and not condition():
        time.sleep(0.0005)
    time.sleep(delay_s)
    packer.kill()
    packer.communicate()


def kill_in_second_pass(augurpack, source, store, spec=SPEC, *more):
    """Until it was killed there. The first pass is whole then."""
    for _ in range(20):
        with start(augurpack, *words(source, store, spec, *more)) as packer:
            kill_when(packer, lambda: begun(store, None, 6))
        if not (store / "manifest").exists():
            assert list(store.glob("shard-*"))
            return
        run("rm", "-r", store)
    pytest.fail("it was always done before it was killed")


def assert_whole(augurpack, store, wanted):
    assert store_tree(store) == wanted
    reader.full_check(store)
    run(augurpack, "verify", store)
    assert [path.name for path in store.iterdir() if path.name.startswith(".") or path.name.endswith(".catalogue")] == []


@pytest.mark.parametrize("kind", ["folder", "store"])
def test_killed_at_random_moments(augurpack, source, wanted, tmp_path, kind):
    """The moments are counted in shards, since a clock says little about how far a busy machine is."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    place = source
    if kind == "store":
        place = tmp_path / "source-store"
        run(augurpack, "create", "--quiet", source, place)
    resumed = 0
    for number in range(6):
        store = tmp_path / f"store{number}"
        for _ in range(3):
            first, second = (rng.randrange(4), 99) if kind == "folder" and rng.random() < 0.5 else (None, rng.randrange(18))
            with start(augurpack, *words(place, store, SPEC, "--resume")) as packer:
                kill_when(packer, lambda a=first, b=second: begun(store, a, b), rng.uniform(0, 0.01))
            if (store / "manifest").exists():  # it was done: then it is whole
                break
        if not (store / "manifest").exists():
            resumed += json.loads(run(augurpack, *words(place, store, SPEC, "--resume", "--json")).stdout)["resumed"]
        else:
            run(augurpack, "gc", store)  # it may have been killed while it was clearing up
        assert_whole(augurpack, store, wanted)
    assert resumed > 0, "nothing was ever resumed: the test tests nothing"


def test_what_is_packed_is_not_packed_again(augurpack, source, wanted, tmp_path):
    """The source may even be gone."""
    gone = tmp_path / "source"
    run("cp", "-a", source, gone)
    kill_in_second_pass(augurpack, gone, tmp_path / "store")
    run("rm", "-r", gone / "n0", gone / "n1")
    done = run(augurpack, *words(gone, tmp_path / "store", SPEC, "--resume", "--json"))
    assert json.loads(done.stdout)["resumed"] > 0
    assert_whole(augurpack, tmp_path / "store", wanted)


def test_from_a_pipe(augurpack, source, wanted, tmp_path):
    with tarfile.open(tmp_path / "tar", "w") as tar:
        tar.add(source, arcname=".")
    store = tmp_path / "store"
    for _ in range(20):
        with open(tmp_path / "tar", "rb") as stdin, start(augurpack, *words("-", store), stdin=stdin) as packer:
            kill_when(packer, lambda: begun(store, None, 6))
        if not (store / "manifest").exists():
            break
        run("rm", "-r", store)
    done = run(augurpack, *words("-", store, SPEC, "--resume", "--json"))  # stdin is empty
    assert json.loads(done.stdout)["resumed"] > 0
    assert store_tree(store)[1] == wanted[1]


@pytest.mark.parametrize("other", ["spec", "source", "pattern", "plain"])
def test_what_was_made_of_something_else_is_not_gone_on_with(augurpack, source, wanted, tmp_path, other):
    """The files have the same names, sizes and times in all of them."""
    store = tmp_path / "store"
    place, spec, more = source, SPEC, []
    if other == "spec":
        spec += "+filter=lanczos"
    elif other == "source":
        place = tmp_path / "source"
        run("cp", "-a", source, place)
        for number, path in enumerate(sorted(place.rglob("*.JPEG"))):
            write(path, coded(photo(400, 300, 1000 + number), "JPEG"), mtime_ns=path.stat().st_mtime_ns)
    elif other == "pattern":
        more = ["--exclude", "n7"]
    if other == "plain":
        kill_in_second_pass(augurpack, source, store)
        done = run(augurpack, "create", "--resume", SHARDS, source, store)
        run(augurpack, "create", "-q", source, tmp_path / "plain")
        wanted = store_tree(tmp_path / "plain")
    else:
        kill_in_second_pass(augurpack, place, store, spec, *more)
        done = run(augurpack, *words(source, store, SPEC, "--resume"))
    assert "a killed run packed something else, or with other options: starting anew" in done.error and "removed" in done.error
    assert_whole(augurpack, store, wanted)


def test_a_plain_run_is_not_gone_on_with(augurpack, source, wanted, tmp_path):
    store = tmp_path / "store"
    with start(augurpack, "create", SHARDS, source, store) as packer:
        kill_when(packer, lambda: begun(store, None, 2))
    if (store / "manifest").exists():
        pytest.skip("it was done before it was killed")
    run(augurpack, *words(source, store, SPEC, "--resume"))
    assert_whole(augurpack, store, wanted)


def test_a_mistyped_file_of_names_costs_nothing(augurpack, source, wanted, tmp_path):
    """Though with other names the run would start anew."""
    with tarfile.open(tmp_path / "tar", "w") as tar:
        tar.add(source, arcname=".")
    store = tmp_path / "store"
    kill_in_second_pass(augurpack, tmp_path / "tar", store)
    done = run(augurpack, *words(tmp_path / "tar", store, SPEC, "--resume", "--folders-from", tmp_path / "missing"), ok=(2,))
    assert "missing" in done.error and "starting anew" not in done.error
    done = run(augurpack, *words(tmp_path / "tar", store, SPEC, "--resume", "--json"))
    assert json.loads(done.stdout)["resumed"] > 0
    assert store_tree(store)[1] == wanted[1]


@pytest.mark.parametrize("again", [True, False])
def test_without_resume_the_debris_is_cleared_with_a_message(augurpack, source, wanted, tmp_path, again):
    store = tmp_path / "store"
    kill_in_second_pass(augurpack, source, store)
    if again:
        done = run(augurpack, *words(source, store))
    else:  # as any other writer does
        done = run(augurpack, "create", source, store)
        run(augurpack, "create", "-q", source, tmp_path / "plain")
        wanted = store_tree(tmp_path / "plain")
    assert "removed" in done.error and "that an unfinished run left" in done.error
    assert_whole(augurpack, store, wanted)


def test_killed_over_an_old_store_leaves_the_old_one(augurpack, source, wanted, tmp_path):
    store = tmp_path / "store"
    write(tmp_path / "old" / "a", b"old")
    run(augurpack, "create", tmp_path / "old", store)
    for first, second in ((1, 99), (None, 5)):
        with start(augurpack, *words(source, store, SPEC, "--force")) as packer:
            kill_when(packer, lambda a=first, b=second: a is not None and list((store / ".augurpack-work" / "source").glob(f"shard-*-{a:05}"))
                      or list(store.glob(f"shard-00000002-{b:05}")))  # fmt: skip
        assert store_tree(store)[1] in ({b"a": b"old"}, wanted[1])
    if store_tree(store)[1] != wanted[1]:
        collected = run(augurpack, "gc", store)
        assert b"removed" in collected.stdout + collected.stderr and not (store / ".augurpack-work").exists()
        run(augurpack, *words(source, store, SPEC, "--force", "--resume"))
    assert_whole(augurpack, store, wanted)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("first, second", [(1, 99), (None, 5)])
def test_a_signal_stops_tidily_and_says_how_to_go_on(augurpack, source, wanted, tmp_path, number, first, second):
    store = tmp_path / "store"
    for _ in range(20):
        with start(augurpack, *words(source, store)) as packer:
            while packer.poll() is None and not begun(store, first, second):
                time.sleep(0.0005)
            packer.send_signal(number)
            _, error = packer.communicate(timeout=PATIENCE_S)
        if packer.returncode == 2:
            break
        run("rm", "-rf", store)
    assert packer.returncode == 2
    assert f"stopped by {number.name}: the same command with --resume goes on from here".encode() in error
    assert not (store / "manifest").exists()
    run(augurpack, *words(source, store, SPEC, "--resume"))
    assert_whole(augurpack, store, wanted)


def test_what_the_first_pass_left_out_is_said_again(augurpack, tmp_path):
    """And makes the exit status the same, though the source is not read again."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number in range(-1, 60):
            data = coded(photo(400, 300, max(number, 0)), "JPEG")
            info = tarfile.TarInfo(f"{number:02}.jpg" if number >= 0 else "../outside.jpg")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    write(tmp_path / "tar", buffer.getvalue())
    kill_in_second_pass(augurpack, tmp_path / "tar", tmp_path / "store", SPEC, "--on-error=skip")
    done = run(augurpack, *words(tmp_path / "tar", tmp_path / "store", SPEC, "--resume", "--json", "--on-error=skip"), ok=(1,))
    assert "outside.jpg" in done.error and done.error.count(": left out\n") == 1
    summary = json.loads(done.stdout)
    assert (summary["files"], summary["errors"]) == (60, 1) and summary["resumed"] > 0
