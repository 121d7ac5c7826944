# SPDX-License-Identifier: Apache-2.0
"""The prefetch on real mounts: what is hinted, or recognised, is in the page cache before it is opened; and whatever is forbidden or
killed, every byte is right."""

import errno
import hashlib
import os
import pwd
import random
import signal
import subprocess
import sys

import pytest
from daemon_deaths import end_mount
from kernel_caches import drop_caches, unless_caches_are_dropped
from mounts import is_running
from patience import PATIENCE_S, wait_until
from prefetching import LARGE, SMALL, DataSet, Prediction, log_of
from program_runs import NOBODY, as_user, run
from skips import needs_root
from test_privileges import family

pytestmark = needs_root


@pytest.mark.parametrize("options", [[SMALL], [LARGE], [SMALL, "cache=none"], [SMALL, "io=pread"], [SMALL, "observe=open"]],
                         ids=lambda options: ",".join(options))
def test_hinted_reads_make_no_requests(room, mounts, point, data, ahead, options):
    mounts.mount(data.store, point, *options)
    ahead.scan()
    order = data.shuffled(1)
    ahead.assert_follows(data, order)
    ahead.wait_for_the_end(data)
    now = ahead.counters()
    # What was read is used. Files that others drop from the page cache are read and pushed again. What lies between two files may be
    # read with them where the disk seems slow, as it does on a busy machine.
    assert now["disk_bytes"] - now["gap_bytes"] <= 1.1 * (now["pushed_bytes"] + now["read_bytes"]), now


def test_without_a_scan(room, mounts, point, data, ahead):
    """The files are looked up ahead of the reader who has not, as far as there is time for it."""
    mounts.mount(data.store, point, SMALL)
    ahead.assert_follows(data, data.shuffled(2), misses_max=0.2)


def test_second_hint_is_a_further_epoch(room, mounts, point, data, ahead):
    mounts.mount(data.store, point, SMALL)
    ahead.scan()
    orders = [data.shuffled(seed) for seed in (1, 2)]
    for order in orders:
        ahead.hint(order)
    wait_until(lambda: ahead.gauges()["orders_queued"] == 2, "both are queued")
    assert ahead.gauges()["order_files"] == 2 * len(data.paths)
    ahead.follow(data, orders[0] + orders[1])
    ahead.wait_for_the_end(data)
    assert ahead.counters()["orders_accepted"] == 2


def test_an_order_in_place_of_what_a_run_has_left(room, mounts, point, data, ahead):
    mounts.mount(data.store, point, SMALL)
    ahead.scan()
    for seed in (1, 2, 3):
        ahead.hint(data.shuffled(seed))
    wait_until(lambda: ahead.gauges()["orders_queued"] == 3, "all are queued")
    order = data.shuffled(4)
    ahead.hint(order, "--replace")
    wait_until(lambda: ahead.gauges()["orders_queued"] == 1, "the others are forgotten")
    ahead.follow(data, order)
    ahead.wait_for_the_end(data)


def test_what_was_read_stays_in_the_page_cache(room, mounts, point, data, ahead):
    """Beyond memory=, as long as the machine has memory for it. The machine may take back pages of a few files (see
    assert_follows), but that it takes them of a quarter in each of four epochs is not credible."""

    def read_epochs():
        pid = mounts.mount(data.store, point, SMALL)
        try:
            ahead.scan()
            ahead.hint(data.shuffled(1))
            ahead.hint(data.shuffled(2))
            ahead.follow(data, data.shuffled(1))
            shares = []
            for seed in (2, 3, 4, 5):
                if seed > 2:
                    ahead.hint(data.shuffled(seed))
                before = ahead.counters()["disk_bytes"]
                ahead.follow(data, data.shuffled(seed))
                shares.append((ahead.counters()["disk_bytes"] - before) / data.bytes)
                if shares[-1] < 1 / 4:
                    break
            ahead.wait_for_the_end(data)
            told = f"{shares}: {ahead.status()}"
            assert ahead.counters()["dropped_files"] == 0, told
            assert shares[-1] < 1 / 4, told
            assert ahead.gauges()["page_cache_left_bytes"] > data.bytes / 2, told
        finally:
            end_mount(pid, point, "umount")

    unless_caches_are_dropped(read_epochs)


def test_a_page_cache_dropped_by_hand_is_no_want_of_memory(room, mounts, point, data, ahead):
    """As between two measurements. One of the next three epochs drops nothing: for want of memory all four would. (Other tests drop
    the page cache, too.)"""
    mounts.mount(data.store, point, SMALL)
    ahead.scan()
    ahead.hint(data.shuffled(1))
    ahead.follow(data, data.shuffled(1))
    drop_caches()
    dropped = []
    for seed in (2, 3, 4, 5):
        ahead.hint(data.shuffled(seed))
        before = ahead.counters()["dropped_files"]
        ahead.follow(data, data.shuffled(seed))
        dropped.append(ahead.counters()["dropped_files"] - before)
        if seed > 2 and dropped[-1] == 0:
            return
    pytest.fail(f"{dropped}: {ahead.status()}")


def test_order_by_index(room, mounts, point, data, ahead):
    """0-based indices in path order; the data set's paths are in it."""
    mounts.mount(data.store, point, SMALL)
    ahead.scan()
    order = list(range(len(data.paths)))
    random.Random(3).shuffle(order)
    ahead.assert_follows(data, [data.paths[index] for index in order], lines=order)


def test_order_from_standard_input(room, mounts, point, data, ahead, augurctl):
    mounts.mount(data.store, point, SMALL)
    ahead.scan()
    order = data.shuffled(21)
    ahead.before = ahead.status()
    done = subprocess.run([augurctl, "hint", point, "--order", "-"], input="".join(f"{path}\n" for path in order), capture_output=True,
                          text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"accepted: {len(order)} files\n", "")
    missed, _ = ahead.follow(data, order)
    assert missed <= 0.03 or ahead.status()["mount"]["progress"] != "opens", ahead.status()
    assert ahead.counters()["orders_accepted"] == 1
    wrong = subprocess.run([augurctl, "hint", point, "--order", "-"], input="class00/00000.jpg\nmissing.jpg\n", capture_output=True,
                           text=True, timeout=PATIENCE_S)
    assert wrong.returncode == 2 and wrong.stdout == "" and "line 2" in wrong.stderr, wrong


def test_order_of_a_subfolder(room, mounts, point, data, ahead):
    mounts.mount(data.store, point, SMALL)
    ahead.scan()
    part = [path for path in data.shuffled(4) if path.startswith(("class01/", "class04/"))]
    ahead.assert_follows(data, part)
    data.check(point, data.paths[0])  # and the others are as readable as ever


def test_names_twice_in_an_order(room, mounts, point, data, ahead):
    mounts.mount(data.store, point, SMALL)
    ahead.scan()
    first = data.shuffled(5)[:300]
    order = first + random.Random(6).sample(first[:200], 200) + first[250:]
    ahead.hint(order)
    for path in order:
        data.check(point, path)
    ahead.wait_for_the_end(data)


def test_wrong_lines_are_named(room, mounts, point, data, ahead):
    mounts.mount(data.store, point, SMALL)
    for lines, words in [(["class00/00000.jpg", "class00/missing.jpg"], ["line 2", "missing.jpg"]),
                         ([0, 1, len(data.paths)], ["line 3"]),
                         (["class00"], ["line 1"])]:
        done = ahead.try_hint(lines)
        assert done.returncode == 2 and done.stdout == "", done
        for word in words:
            assert word in done.stderr, done.stderr
    assert ahead.counters()["orders_accepted"] == 0 and ahead.gauges()["orders_queued"] == 0


def test_another_users_hint_is_refused(room, mounts, point, data, ctl, ahead):
    mounts.mount(data.store, point, SMALL, "allow_other")
    stranger = Prediction(ctl, point, as_user())
    done = stranger.try_hint(data.paths)
    assert done.returncode == 2 and "only root and the user who mounted" in done.stderr
    assert ahead.counters()["orders_accepted"] == 0


def test_drop(room, mounts, point, data, ahead):
    mounts.mount(data.store, point, LARGE)
    ahead.scan()
    order = data.shuffled(7)
    ahead.hint(order)
    ahead.follow(data, order[:200])
    dropped = ahead.drop()
    assert dropped["push_window_bytes"] > 0 or dropped["retained_cache_bytes"] > 0
    for path in order[200:]:
        data.check(point, path)
    ahead.wait_for_the_end(data)


def test_push_off(room, mounts, point, data, ahead):
    """Every read is a request, and memory answers it."""
    mounts.mount(data.store, point, SMALL, "push=off")
    ahead.scan()
    order = data.shuffled(8)
    ahead.hint(order)
    wait_until(lambda: ahead.counters()["disk_reads"] > 0 and ahead.gauges()["reads_in_flight"] == 0, "the first reads have ended")
    for path in order:
        data.check(point, path)
    now = ahead.counters()
    assert now["pushes"] == 0 and now["reads"] >= len(order)
    assert now["misses"] < now["reads"] and now["reads_not_pushed"] > 0


def test_listing_order_is_recognised(room, mounts, point, augurpack, ctl):
    folder = room / "long"
    folder.mkdir()
    data = DataSet(augurpack, folder, 1500, 8_000)
    mounts.mount(data.store, point, SMALL, "cache=none")
    ahead = Prediction(ctl, point)
    ahead.scan()
    for path in data.paths[:100]:
        data.check(point, path)
    wait_until(lambda: ahead.counters()["pushes"] > 100, "the pass is recognised")
    for begin in range(100, len(data.paths), 8):
        rest = sum(data.sizes[path] for path in data.paths[begin:])
        wait_until(lambda: ahead.gauges()["push_window_bytes"] >= min(1_000_000, rest // 2), "files are there")
        for path in data.paths[begin:begin + 8]:
            data.check(point, path)
    assert ahead.counters()["reads"] <= 0.6 * len(data.paths)


def test_listing_order_of_a_process_a_file_is_recognised(room, mounts, point, data, ahead):
    """As `find -exec` and a shell's loop read. No process reads enough for its order to be found by the prediction."""
    mounts.mount(data.store, point, SMALL, "cache=none")
    for path in data.paths[:60]:
        done = subprocess.run(["cat", point / path], capture_output=True, check=True)
        assert hashlib.blake2b(done.stdout).digest() == data.sums[path], path
    wait_until(lambda: ahead.counters()["pushes"] > 20, lambda: f"the pass is recognised: {ahead.status()}")
    for path in data.paths[60:]:
        data.check(point, path)


# Few watches, a killed helper, an ordinary user.

# Takes all inotify instances of its user, says so, and has them until its input ends.
TAKE_INSTANCES = """
import ctypes, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
libc = ctypes.CDLL(None, use_errno=True)
while libc.inotify_init() >= 0: pass
print(ctypes.get_errno(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def user_without_inotify():
    """An ordinary user of whom nobody else here makes use, and to whom no inotify instance is given any more. The limits of
    the system are not touched: other programs live by them, and a killed test would leave them so."""
    user = pwd.getpwnam("games").pw_uid
    with subprocess.Popen([*as_user(user), sys.executable, "-c", TAKE_INSTANCES], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, cwd="/") as taker:
        try:
            assert taker.stdout.readline() == f"{errno.EMFILE}\n"
            yield user
        finally:
            taker.kill()


@pytest.fixture
def mount_without_inotify(room, mounts, point, data, ahead, users_may_mount, user_without_inotify):
    """Mounts as a user who has no inotify instance left, with these further options; returns the log."""
    def mount(*options):
        users_may_mount.write_text("user_allow_other\n", encoding="ascii")
        runtime = room / "runtime"
        runtime.mkdir(mode=0o700)
        for path in (point, runtime):
            os.chown(path, user_without_inotify, user_without_inotify)
        log = runtime / "log"
        ahead.prefix = as_user(user_without_inotify)
        mounts.mount(data.store, point, SMALL, "allow_other", *options, f"log={log}", prefix=ahead.prefix,
                     env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)})
        return log
    return mount


def test_no_inotify(data, ahead, mount_without_inotify):
    """Without opens, READs of some files tell where the reader is: more requests, and a message."""
    log = mount_without_inotify()
    ahead.scan()
    order = data.shuffled(18)
    ahead.assert_follows(data, order, misses_max=0.3)
    assert "max_user_instances" in log.read_text(encoding="utf-8")
    assert ahead.status()["mount"]["progress"] == "sentinels"
    assert 0 < ahead.counters()["sentinels"]


def test_asked_opens_need_no_inotify(data, ahead, mount_without_inotify):
    """With observe=open the requests say what is opened: no sentinels, and each open counts."""
    log = mount_without_inotify("observe=open")
    ahead.scan()
    order = data.shuffled(18)
    ahead.assert_follows(data, order)
    status = ahead.status()
    assert status["mount"]["progress"] == "opens"
    assert status["counters"]["sentinels"] == 0 and status["counters"]["opens"] == len(order) * status["counters"]["orders_accepted"]
    assert "max_user_instances" not in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("predict", ["on", "off"])
def test_asked_opens_are_counted(room, mounts, point, data, ahead, predict):
    mounts.mount(data.store, point, SMALL, "observe=open", f"predict={predict}")
    for path in data.paths[:5] * 2:
        data.check(point, path)
    assert ahead.counters()["opens"] == 10


def test_killed_helper(room, mounts, point, data, ahead):
    pid = mounts.mount(data.store, point, SMALL, f"log={room / 'log'}")
    ahead.scan()
    order = data.shuffled(19)
    ahead.hint(order)
    ahead.follow(data, order[:200])
    helper = family(pid)["augur-helper"]
    os.kill(helper, signal.SIGKILL)
    wait_until(lambda: not is_running(helper), "the helper is dead")
    for path in order[200:]:
        data.check(point, path)
    wait_until(lambda: "helper process has ended" in log_of(room), "the message")
    again = data.shuffled(20)
    ahead.hint(again)
    for path in again:
        data.check(point, path)
    assert is_running(pid)
    assert run(["umount", point]).returncode == 0


def test_store_appended_to_while_mounted(room, mounts, point, own_data, augurpack, ahead):
    """The mount shows its generation, and looks ahead in it."""
    mounts.mount(own_data.store, point, SMALL)
    ahead.scan()
    order = own_data.shuffled(21)
    ahead.hint(order)
    ahead.follow(own_data, order[:100])
    more = room / "more"
    more.mkdir()
    (more / "another.jpg").write_bytes(b"new")
    done = run([augurpack, "append", "--quiet", more, own_data.store])
    assert done.returncode == 0, done.stderr
    for path in order[100:]:
        own_data.check(point, path)
    again = own_data.shuffled(22)
    ahead.hint(again)
    for path in again:
        own_data.check(point, path)
    assert not (point / "another.jpg").exists()


def test_an_ordinary_user(room, mounts, point, data, ctl, ahead, users_may_mount):
    """By fusermount3, without any privilege."""
    users_may_mount.write_text("user_allow_other\n", encoding="ascii")
    os.chown(point, NOBODY, NOBODY)
    runtime = room / "runtime"
    runtime.mkdir(mode=0o700)
    os.chown(runtime, NOBODY, NOBODY)
    pid = mounts.mount(data.store, point, SMALL, "allow_other", prefix=as_user(), env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)})
    ahead.scan()
    order = data.shuffled(23)
    ahead.prefix = as_user()
    ahead.assert_follows(data, order)
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), "the daemon ends")
