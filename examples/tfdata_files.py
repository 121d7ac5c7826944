# SPDX-License-Identifier: Apache-2.0
"""tf.data: a list of files, shuffled by TensorFlow, read and decoded in parallel."""

import argparse
import os

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()

names = sorted(entry.name for entry in os.scandir(args.data) if entry.is_dir())
labels = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(names, list(range(len(names)))), -1)


def load(path):
    image = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), (64, 64))
    return image, labels.lookup(tf.strings.split(path, os.sep)[-2])


files = tf.data.Dataset.list_files(os.path.join(args.data, "*", "*.JPEG"), shuffle=True, seed=42)
batches = files.map(load, num_parallel_calls=2).batch(8).prefetch(2)
seen, classes = 0, set()
for images, numbers in batches:
    seen += images.shape[0]
    classes |= set(numbers.numpy().tolist())
print(f"read {seen} images of {len(classes)} classes")
