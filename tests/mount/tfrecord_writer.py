# SPDX-License-Identifier: Apache-2.0
"""Writes TFRecord files by TensorFlow's own writer, from images in folders of classes.

    python3 tests/mount/tfrecord_writer.py FOLDER OUT

OUT/imagenet-*-of-2 has the keys of the ImageNet of TensorFlow's models, OUT/tfds/x.tfrecord-* those of TensorFlow Datasets, with its
list of labels beside it.
"""

import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402


def texts(*values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[os.fsencode(v) if isinstance(v, str) else v for v in values]))


def numbers(*values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def write(path, examples):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for features in examples:
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


def main():
    source, out = (pathlib.Path(word) for word in sys.argv[1:])
    classes = sorted(path.name for path in source.iterdir())
    images = [(path, classes.index(path.parent.name)) for path in sorted(source.glob("*/*"))]
    boxes = tf.train.Feature(float_list=tf.train.FloatList(value=[0.25, 0.5]))
    for shard in range(2):
        write(out / f"imagenet-{shard}-of-2", (
            {"image/encoded": texts(path.read_bytes()), "image/class/label": numbers(label + 1), "image/filename": texts(path.name),
             "image/class/synset": texts(classes[label]), "image/format": texts("JPEG"), "image/object/bbox/xmin": boxes,
             "image/object/bbox/label": numbers(), "image/class/text": texts("a name, another")}
            for path, label in images[shard::2]))  # fmt: skip
    (out / "tfds").mkdir()
    (out / "tfds" / "label.labels.txt").write_text("".join(f"{name}\n" for name in classes), encoding="utf-8")
    write(out / "tfds" / "x.tfrecord-00000-of-00001", (
        {"image": texts(path.read_bytes()), "label": numbers(label), "file_name": texts(path.name)} for path, label in images))  # fmt: skip


if __name__ == "__main__":
    main()
