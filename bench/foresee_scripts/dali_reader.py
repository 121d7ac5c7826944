# SPDX-License-Identifier: Apache-2.0
"""DALI's file reader on the CPU, shuffled."""

import argparse

from nvidia.dali import Pipeline, fn
from reading import BATCH, EPOCHS, Pace, note, say

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--shards", type=int, default=1)
parser.add_argument("--shard", type=int, default=0)
parser.add_argument("--stick", action="store_true")
args = parser.parse_args()

pipe = Pipeline(batch_size=BATCH, num_threads=2, device_id=None, prefetch_queue_depth=2)
with pipe:
    encoded, labels = fn.readers.file(file_root=args.root, name="reader", random_shuffle=True, num_shards=args.shards, shard_id=args.shard,
                                       stick_to_shard=args.stick)
    pipe.set_outputs(encoded, labels)
pipe.build()
batches = -(-pipe.reader_meta("reader")["epoch_size"] // args.shards // BATCH)
epochs = []
for _ in range(EPOCHS):
    pace = Pace()
    for _ in range(batches):
        pipe.run()
        note(BATCH)
        pace.step(BATCH)
    epochs.append(pace.samples)
say(epochs)
