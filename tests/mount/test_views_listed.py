# SPDX-License-Identifier: Apache-2.0
"""What augurctl says of the views of a mount: SEMANTICS.md, Views, W14."""

import errno
import json
import os
import re

import pytest
from kernel_caches import drop_caches
from mounts import statistics
from program_runs import run
from skips import needs_root
from system_calls import errno_of

pytest.importorskip("numpy")
pytest.importorskip("PIL.Image")

from view_fixtures import files_below, view, view_store, view_tree  # noqa: E402, F401
from view_tree import TRUNCATED, npy_path  # noqa: E402

pytestmark = needs_root


def test_augurctl_lists_views(room, mounts, point, view_store, augurctl):
    """W14"""
    mounts.mount(view_store, point, "memory=64M")
    done = run([augurctl, "views", point])
    assert (done.returncode, done.stderr) == (0, "") and "no view was used" in done.stdout
    assert view(point, "npy").is_dir() and view(point, "npy+size=100+crop=100").is_dir()
    listed = json.loads(run([augurctl, "views", point, "--json"]).stdout)
    by_name = {row["view"]: row for row in listed["views"]}
    sizes = [os.stat(view(point, "npy") / path).st_size for path in files_below(view(point, "npy")) if path.endswith(".npy")]
    assert by_name["npy"] == {"view": "npy", "place": ".augur/views/npy", "images": len(sizes), "bytes": sum(sizes),
                              "largest_bytes": by_name["npy"]["largest_bytes"], "fits": sum(sizes) <= listed["bytes_max"], "reads": 0, "hits": 0,
                              "images_decoded": 0, "decode_errors": 0, "rendered_bytes": 0, "decode_us": 0}
    for _ in range(3):
        assert (view(point, "npy") / npy_path("top.jpg")).read_bytes()
        drop_caches()
    npy = {row["view"]: row for row in json.loads(run([augurctl, "views", point, "--json"]).stdout)["views"]}["npy"]
    assert 3 <= npy["reads"] and 2 <= npy["hits"] < npy["reads"]
    assert "made already" in run([augurctl, "views", point]).stdout
    assert by_name["npy+size=100+crop=100"]["fits"] is False  # 36 MB of arrays
    table = run([augurctl, "views", point]).stdout
    assert re.search(r"^\.augur/views/npy\+size=100\+crop=100 +\d+ images, .*does not fit.*will lose against the JPEGs", table, re.MULTILINE)
    assert max(sizes) < by_name["npy"]["largest_bytes"] < listed["making_bytes_max"] <= listed["bytes_max"]
    assert "takes" not in table
    assert view(point, "npy+crop=3000").is_dir()  # 27 MB each
    table = run([augurctl, "views", point]).stdout
    assert re.search(r"crop=3000 .*its largest image takes .* to make.* mount with memory= of about", table)


def test_what_a_view_cost_is_counted_for_it_alone(room, mounts, point, view_store, augurctl):
    """W14"""
    mounts.mount(view_store, point, "memory=128M")
    top, truncated = (view(point, "npy") / npy_path(name) for name in ("top.jpg", TRUNCATED))
    assert top.read_bytes() and (view(point, "pixels") / "top.jpg").read_bytes()
    for _ in range(2):
        assert errno_of(truncated.read_bytes) == errno.EIO
    rows = {row["view"]: row for row in json.loads(run([augurctl, "views", point, "--json"]).stdout)["views"]}
    cost = {name: [row[key] for key in ("images_decoded", "decode_errors", "rendered_bytes")] for name, row in rows.items()}
    pixels_size = os.stat(view(point, "pixels") / "top.jpg").st_size
    assert cost["npy"] == [1, cost["npy"][1], os.stat(top).st_size] and cost["npy"][1] >= 2
    assert cost["pixels"] == [1, 0, pixels_size]
    counters = statistics(point)["counters"]
    assert [sum(numbers) for numbers in zip(*cost.values(), strict=True)] == \
        [counters["images_decoded"], counters["decode_errors"], counters["rendered_bytes"]]
    assert sum(row["decode_us"] for row in rows.values()) == statistics(point)["histograms"]["decode_time_us"]["sum"]
    table = run([augurctl, "views", point]).stdout
    assert re.search(r"views/npy .*; decoded 1 images to .* us each; could not decode one \d+ times, see the log", table)


def test_augurctl_lists_the_root(room, mounts, point, view_store, augurctl):
    """W14"""
    mounts.mount(view_store, point, "view=npy")
    assert run([augurctl, "views", point]).stdout.startswith("the root  ")
