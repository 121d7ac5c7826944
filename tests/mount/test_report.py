# SPDX-License-Identifier: Apache-2.0
"""`augurctl report`: a page about epochs of a real DataLoader."""

import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree

import pytest
from patience import wait_until
from program_runs import run
from skips import needs_root
from stores import pack

pytestmark = needs_root

FILES, EPOCHS = 300, 2
LOADER_S = 120  # against a hang: a busy machine takes half a minute to import torch
SCRIPT = """
import pathlib, sys, torch
from torch.utils.data import DataLoader, Dataset

class Files(Dataset):
    def __init__(self, folder):
        self.paths = sorted(path for path in pathlib.Path(folder).iterdir() if path.name != ".augur")
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        return len(self.paths[index].read_bytes())

torch.manual_seed(42)
loader = DataLoader(Files(sys.argv[1]), batch_size=10, shuffle=True, num_workers=2)
for _ in range(int(sys.argv[2])):
    print(sum(int(batch.sum()) for batch in loader), flush=True)
"""
NUMBERS = ["reads", "read_bytes", "misses", "stalls", "pushes", "pushed_bytes", "disk_reads", "disk_bytes", "orders_found", "record_cache_hits",
           "retained_cache_hits"]


@pytest.fixture(scope="module")
def many_store(augurpack, session_room):
    tree = session_room / "report-tree"
    tree.mkdir()
    for number in range(FILES):
        (tree / f"{number:05}").write_bytes(os.urandom(30_000 + 100 * number))
    return pack(augurpack, tree, session_room / "report-store")


def page_of(path):
    """The page, as XML that names nothing outside itself, and the numbers in it by name."""
    text = path.read_text(encoding="utf-8")
    page = xml.etree.ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    assert not re.search(r"https?:|//|<script|<link|<img|src=|@import|url\((?!#)", text)
    identifiers = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(set(identifiers)) == len(identifiers)
    assert {match for match in re.findall(r"url\(#(\w+)\)", text)} <= set(identifiers)
    numbers = {}
    for element in page.iter("td"):
        if element.get("data-name"):
            numbers.setdefault(element.get("data-name"), []).append(int(element.get("data-value")))
    return page, numbers


def numbers_now(ctl, point):
    """As .augur/stats.json has them, without a READ of it."""
    return json.loads(run([ctl, "status", "--json", point]).stdout)


def is_quiet(ctl, point):
    """Reading ahead may go on for a moment, and opens are told late."""
    looks = [numbers_now(ctl, point) for _ in range(20)]
    under_way = [look["gauges"][name] for look in looks for name in ("reads_in_flight", "pushes_waiting")]
    return not any(under_way) and all(look["counters"] == looks[0]["counters"] for look in looks)


def watch(ctl, point, path):
    """A report that has begun."""
    process = subprocess.Popen([ctl, "report", point, "-o", path, "--seconds", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "watching for 600 s; Ctrl-C ends that, and the page is written\n"
    return process


def test_epochs_of_a_loader(room, mounts, point, many_store, ctl):
    """The numbers are those of stats.json, and there is an article for each epoch."""
    pytest.importorskip("torch")
    mounts.mount(many_store, point)
    before = numbers_now(ctl, point)
    path = room / "epochs.html"
    reporting = watch(ctl, point, path)
    try:
        done = run([sys.executable, "-c", SCRIPT, point, str(EPOCHS)], timeout=LOADER_S)
        assert done.returncode == 0, done.stderr
        assert len(set(done.stdout.split())) == 1
        wait_until(lambda: is_quiet(ctl, point), lambda: numbers_now(ctl, point))
    finally:
        reporting.send_signal(signal.SIGINT)
        said, complaint = reporting.communicate(timeout=60)
    after = numbers_now(ctl, point)
    assert (reporting.returncode, complaint) == (0, ""), complaint
    assert re.fullmatch(rf"{re.escape(str(path))}: [\d,]+ accesses in {EPOCHS} epochs\n", said), said
    page, numbers = page_of(path)
    for name in NUMBERS:
        grown = after["counters"][name] - before["counters"][name]
        assert numbers.get(name, [0]) == [grown], name
    assert numbers["orders_found"] == [1]
    waited = after["histograms"]["read_wait_us"]["sum"] - before["histograms"]["read_wait_us"]["sum"]
    assert numbers["read_wait_us"] == [waited]
    assert sum(numbers["epoch_reads"]) == numbers["reads"][0]
    articles = list(page.iter("article"))
    assert len(articles) == EPOCHS == len(numbers["epoch_files"])
    assert all(FILES * 3 // 4 <= count <= FILES for count in numbers["epoch_files"]), numbers["epoch_files"]
    pictures = [[title.text for title in article.iter("title")] for article in articles]
    assert pictures[0] == pictures[1] and len(pictures[0]) == 6
    assert "order found" in [text.text for text in articles[0].iter("text")]
    assert "order found" not in [text.text for text in articles[1].iter("text")]


HOT_SCRIPT = """
import os, random, sys, time
names = sorted(name for name in os.listdir(sys.argv[1]) if name != ".augur")
for epoch in range(int(sys.argv[2])):
    for name in random.Random(epoch if sys.argv[3] == "seeded" else None).sample(names, len(names)):
        with open(os.path.join(sys.argv[1], name), "rb") as file:
            file.read()
        time.sleep(0.003)
    time.sleep(0.3)
"""


def report_of(ctl, point, path, epochs, how="seeded"):
    """What the command says of a run of so many epochs, and its page."""
    reporting = watch(ctl, point, path)
    try:
        done = run([sys.executable, "-c", HOT_SCRIPT, point, str(epochs), how])
        assert done.returncode == 0, done.stderr
    finally:
        reporting.send_signal(signal.SIGINT)
        said, complaint = reporting.communicate(timeout=60)
    assert (reporting.returncode, complaint) == (0, ""), complaint
    return said, page_of(path)[0]


@pytest.mark.parametrize("how", ["seeded", "unseeded"])
def test_epochs_that_the_page_cache_serves_are_told_apart(how, room, mounts, point, many_store, ctl):
    """Of the later epochs no file makes a READ, and the daemon looks for no order once it has seen that. Unseeded, and with nothing to
    keep, it has never followed one."""
    mounts.mount(many_store, point, "cache=ram" if how == "seeded" else "cache=none")
    said, page = report_of(ctl, point, room / "hot.html", 5, how)
    assert "in 5 epochs" in said, said
    assert len(list(page.iter("article"))) == 5
    seen = [int(cell.get("data-value")) for cell in page.iter("td") if cell.get("data-name") == "epoch_files"]
    assert all(FILES * 3 // 4 <= count <= FILES for count in seen), seen


def test_a_page_that_cannot_tell_epochs_apart_says_so(room, mounts, point, many_store, ctl):
    mounts.mount(many_store, point, "predict=off")
    said, page = report_of(ctl, point, room / "blind.html", epochs=1)
    assert "0 accesses; the daemon saw no opens" in said, said
    text = "".join(page.itertext())
    assert "saw no opens here, as the mount works out no orders (-o predict=off" in text
    assert "The whole time" in text and len(list(page.iter("article"))) == 1


def test_what_it_says_when_it_cannot(room, mounts, point, small_store, ctl):
    """A wrong place is told before the watch, and a mount that goes away costs no page."""
    mounts.mount(small_store, point)
    done = run([ctl, "report", point])
    assert done.returncode == 2 and "add -o PATH" in done.stderr
    done = run([ctl, "report", point, "-o", room / "none" / "page.html"])
    assert done.returncode == 2 and "none/page.html: " in done.stderr and "No such file" in done.stderr
    done = run([ctl, "report", room, "-o", room / "page.html"])
    assert done.returncode == 2 and "no AugurFS is mounted here" in done.stderr
    assert not (room / "page.html").exists()
    reporting = watch(ctl, point, room / "page.html")
    try:
        assert run(["umount", point]).returncode == 0
    finally:
        said, complaint = reporting.communicate(timeout=60)
    assert reporting.returncode == 0 and "the page ends there" in complaint and "accesses in 0 epochs" in said
    assert len(list(page_of(room / "page.html")[0].iter("article"))) == 1
    assert sorted(path.name for path in room.iterdir() if path.name.startswith("page")) == ["page.html"]
