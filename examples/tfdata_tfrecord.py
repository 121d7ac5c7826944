# SPDX-License-Identifier: Apache-2.0
"""tf.data: the TFRecord files of a view, several of them at a time, as TensorFlow's ImageNet scripts read theirs."""

import argparse
import os

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()
FEATURES = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "image/class/label": tf.io.FixedLenFeature([], tf.int64)}


def parse(record):
    example = tf.io.parse_single_example(record, FEATURES)
    image = tf.image.resize(tf.io.decode_jpeg(example["image/encoded"], channels=3), (64, 64))
    return image, example["image/class/label"] - 1  # 0 is the background there


# "all" are the images of the whole mount; beside a folder train lie train-00000-of-00004 and so on.
files = tf.data.Dataset.list_files(os.path.join(args.data, ".augur", "views", "tfrecord+shards=4", "all-*"), shuffle=True, seed=42)
records = files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=2)
batches = records.shuffle(64, seed=42).map(parse, num_parallel_calls=2).batch(8).prefetch(2)
seen, classes = 0, set()
for images, numbers in batches:
    seen += images.shape[0]
    classes |= set(numbers.numpy().tolist())
print(f"read {seen} images of {len(classes)} classes")
