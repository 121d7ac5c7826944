# SPDX-License-Identifier: Apache-2.0
"""tf.data's list_files(shuffle=True) and a parallel map that reads."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402
from reading import BATCH, EPOCHS, Pace, note, say  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--seed", type=int)
parser.add_argument("--shards", type=int, default=1)
parser.add_argument("--shard", type=int, default=0)
args = parser.parse_args()

paths = tf.data.Dataset.list_files(os.path.join(args.root, "*", "*"), shuffle=True, seed=args.seed)
paths = paths.shard(args.shards, args.shard)
data = paths.map(lambda path: tf.strings.length(tf.io.read_file(path)), num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH)
epochs = []
for _ in range(EPOCHS):
    pace = Pace()
    for sizes in data:
        note(len(sizes))
        pace.step(len(sizes))
    epochs.append(pace.samples)
say(epochs)
