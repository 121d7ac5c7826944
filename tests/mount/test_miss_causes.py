# SPDX-License-Identifier: Apache-2.0
"""READs of predicted files that the page cache did not serve are counted by their cause, on real mounts."""

import os
import random

from kernel_caches import unless_caches_are_dropped
from patience import wait_until
from prefetching import LARGE, SMALL, make_tree
from skips import needs_root
from stores import pack

pytestmark = needs_root


def test_pages_that_are_taken_back_are_counted(room, mounts, point, data, ahead):
    """The kernel may take pages that were pushed. Here a program takes them, as the kernel would. Their READs are counted apart."""
    mounts.mount(data.store, point, LARGE)
    ahead.scan()
    order = data.shuffled(5)
    taken = order[20:30]

    def follow():
        before = ahead.counters()["reads_reclaimed"]
        ahead.hint(order)
        wait_until(lambda: ahead.counters()["pushes"] >= len(order), "all files are pushed ahead: there is room for all")
        assert ahead.counters()["reads_reclaimed"] == before
        for path in taken:
            descriptor = os.open(point / path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
        ahead.follow(data, order)
        ahead.wait_for_the_end(data)
        now = ahead.counters()
        assert now["reads_reclaimed"] - before >= len(taken), now

    unless_caches_are_dropped(follow)


def test_a_long_file_is_a_stall_of_its_own(augurpack, room, mounts, point, ahead):
    """A file that is too long to be read ahead is counted by that cause, the others are not."""
    tree = room / "tree"
    sums = make_tree(tree, 40, 20_000, 3)
    (tree / "class00/00020.jpg").write_bytes(random.Random(4).randbytes(40_000_000))
    mounts.mount(pack(augurpack, tree, room / "store"), point, SMALL)
    ahead.scan()
    ahead.hint(sorted(sums))
    wait_until(lambda: ahead.counters()["pushes"] >= 5, "files are pushed ahead")
    for path in sorted(sums):
        assert (point / path).read_bytes() == (tree / path).read_bytes()
    wait_until(lambda: ahead.counters()["stalls_too_long"] == 1, lambda: f"the long file is counted: {ahead.counters()}")
