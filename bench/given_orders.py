# SPDX-License-Identifier: Apache-2.0
"""Orders that are given to a mount, and what the mount says about itself afterwards."""

import json
import os
import random

import mounts

MIB = 1 << 20
# What the daemon may allocate at least, beside records that it keeps; see 'augurfs --help', memory.
MEMORY_MIN = 32 * MIB
# With less, the daemon has no room for orders.
MEMORY_FOR_ORDERS_MIN = 64 * MIB


def listed(listing, limit=0):
    """The paths of a listing, or the first of them."""
    with open(listing, encoding="utf-8", errors="surrogateescape") as lines:
        paths = [line.rstrip("\n") for line in lines]
    return paths[:limit] if limit else paths


def size_of(tree, paths):
    return sum(os.lstat(os.path.join(tree, path)).st_size for path in paths)


def write_order(file, paths):
    with open(file, "w", encoding="utf-8", errors="surrogateescape") as out:
        out.writelines(path + "\n" for path in paths)
    return file


def write_shuffled(folder, paths, epochs, seed):
    """Order files of so many epochs, each another shuffle."""
    files = []
    for epoch in range(epochs):
        shuffled = list(paths)
        random.Random(seed * 1000 + epoch).shuffle(shuffled)
        files.append(write_order(os.path.join(folder, f"order-{seed}-{epoch}"), shuffled))
    return files


def torch_permutation(count, seed):
    """torch.randperm(count) of a generator with this seed, without torch: what a DistributedSampler of one rank reads."""
    words = [seed & 0xFFFFFFFF]  # of MT19937, as its authors initialise it
    for number in range(1, 624):
        words.append((1812433253 * (words[-1] ^ words[-1] >> 30) + number) & 0xFFFFFFFF)
    twister = random.Random()
    twister.setstate((3, (*words, len(words)), None))
    order = list(range(count))
    for place in range(count - 1):
        other = place + twister.getrandbits(32) % (count - place)
        order[place], order[other] = order[other], order[place]
    return order


def write_sampled(folder, paths, seed):
    """The order file of an epoch as a DistributedSampler of one rank reads it, whose seed and epoch add up to this one."""
    return write_order(os.path.join(folder, f"sampled-{seed}"), [paths[index] for index in torch_permutation(len(paths), seed)])


def hint(point, file):
    """Queues an order; returns when it is accepted."""
    mounts.run(mounts.program("augurctl"), "hint", point, "--order", file)


def status(point):
    """What the mount counts: {"counters": {name: number}, "gauges": {name: number}, ...}."""
    return json.loads(mounts.run(mounts.program("augurctl"), "status", point, "--json"))


def counted(before, after):
    """By how much each counter has grown."""
    return {name: after["counters"][name] - before["counters"][name] for name in after["counters"]}


def family(pid):
    """The process and all that it has started, as far as they still run."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has just ended
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def cpu_seconds(pid):
    """CPU time of a process, and of those that it has started together."""
    seconds = []
    for one in family(pid):
        with open(f"/proc/{one}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        seconds.append((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
    return seconds[0], sum(seconds[1:])
