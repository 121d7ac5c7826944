# SPDX-License-Identifier: Apache-2.0
"""DALI's file reader on the CPU, with its memory mapping (its default) and without."""

import os

import report
from nvidia.dali import Pipeline, fn

count = sum(1 for _ in report.files_below(report.train))


def read(options):
    pipe = Pipeline(batch_size=1, num_threads=2, device_id=None, seed=12, prefetch_queue_depth=2)
    with pipe:
        encoded, labels = fn.readers.file(file_root=report.train, name="reader", **options)
        pipe.set_outputs(encoded, fn.decoders.image(encoded, device="cpu"), labels)
    return pipe


for name, options, epochs in [
    ("in_order", {}, 1),
    ("without_mmap", {"dont_use_mmap": True}, 1),
    ("shuffled", {"random_shuffle": True, "seed": 21, "initial_fill": 64}, 1),
    ("shuffled_after_epoch", {"shuffle_after_epoch": True, "seed": 21}, 2),
    ("one_shard_of_three", {"num_shards": 3, "shard_id": 1}, 1),
]:
    pipe = read(options)
    pipe.build()
    samples = pipe.reader_meta("reader")["epoch_size"]
    assert samples == count, f"{samples} samples in {os.path.basename(report.train)}, {count} files"
    for _ in range(epochs * (samples // 3 if "num_shards" in options else samples)):
        encoded, pixels, label = pipe.run()
        report.add(name, int(label.as_array()[0][0]), report.digest(encoded.as_array()), report.digest(pixels.as_array()))
report.write()
