# SPDX-License-Identifier: Apache-2.0
"""DALI's file reader on the CPU, shuffled."""

import sys

from nvidia.dali import Pipeline, fn
from reading import BATCH, EPOCHS, Pace, note, say

pipe = Pipeline(batch_size=BATCH, num_threads=2, device_id=None, prefetch_queue_depth=2)
with pipe:
    encoded, labels = fn.readers.file(file_root=sys.argv[1], name="reader", random_shuffle=True)
    pipe.set_outputs(encoded, labels)
pipe.build()
batches = -(-pipe.reader_meta("reader")["epoch_size"] // BATCH)
epochs = []
for _ in range(EPOCHS):
    pace = Pace()
    for _ in range(batches):
        pipe.run()
        note(BATCH)
        pace.step(BATCH)
    epochs.append(pace.samples)
say(epochs)
