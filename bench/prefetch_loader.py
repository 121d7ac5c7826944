# SPDX-License-Identifier: Apache-2.0
"""A PyTorch DataLoader's epoch with a cold cache, its order given, beside what is hot and what is preloaded."""

import json
import os
import pathlib
import shlex

import contenders
import measure
import mounts
from measure import Table, say

PROGRAM = pathlib.Path(__file__).resolve().parent / "loader_epoch.py"


def missing(python):
    """Why no DataLoader can run there, or nothing."""
    try:
        mounts.run(python, "-c", "import torchvision, PIL, numpy")
    except RuntimeError:
        return f"{python} has no torchvision (choose another with --python)"
    return ""


def loader(args):
    """npy files, then JPEG; time to the first batch, of the epoch, and in next(loader)."""
    if why_not := missing(args.python):
        say(f"left out: loader: {why_not}")
        return []
    arrays = os.path.join(args.work, "npy")
    tree = os.path.join(arrays, "tree")
    os.makedirs(tree)
    mounts.run(args.python, PROGRAM, "--make-arrays", args.arrays, tree)
    array_listing = os.path.join(arrays, "listing")
    measure.write_listing(tree, array_listing)
    return [*compare(args, "npy", tree, array_listing, arrays), *compare(args, "jpeg", args.tree, args.listing, args.work)]


def compare(args, kind, tree, listing, work):
    people = contenders.prepared(tree, work, ["augurfs", "erofs after cat"])
    names = {"folder": "folder, cold", "augurfs": "augurfs, cold, order given", "erofs after cat": "erofs after cat"}
    titles = {"first_batch_s": "time to the first batch", "epoch_s": "whole epoch", "waited_s": "time in next(loader)"}
    tables = {field: Table(f"DataLoader epoch, {kind}, {title}", "s", names["folder"]) for field, title in titles.items()}
    order = os.path.join(work, f"loader-order-{kind}")
    for number in range(args.rounds):
        base = [args.python, PROGRAM, "--listing", listing, "--kind", kind, "--seed", number]
        mounts.run(*base, "--root", tree, "--write-order", order)
        results = {}
        for one in measure.in_turn(people, number):
            measure.drop_caches()
            with one.mounted() as path:
                one.before()
                words = [*base, "--root", path]
                if one.name == "augurfs":
                    words += ["--hint", shlex.join([mounts.program("augurctl"), "hint", path, "--order", order])]
                results[names[one.name]] = json.loads(mounts.run(*words))
                if one.name == "folder":
                    results["folder, hot"] = json.loads(mounts.run(*words))
        if len({(result["samples"], result["checksum"]) for result in results.values()}) != 1:
            raise RuntimeError(f"loader: {kind}: the contenders gave other samples, or in another order: {results}")
        for name in ("folder, cold", "folder, hot", names["augurfs"], "erofs after cat"):
            for field, table in tables.items():
                if name in results:
                    table.add(name, results[name][field])
        say(f"loader, {kind}: round {number + 1} of {args.rounds}")
    return list(tables.values())
