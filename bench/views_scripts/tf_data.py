# SPDX-License-Identifier: Apache-2.0
"""tf.data as in TensorFlow's guide to loading images: list_files, read, decode_jpeg, resize, in --workers parallel calls."""

import os

import clock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

args = clock.parser(__doc__).parse_args()
workers = max(1, args.workers)
tf.config.threading.set_inter_op_parallelism_threads(workers)
tf.config.threading.set_intra_op_parallelism_threads(workers)
names = tf.constant(sorted(os.listdir(args.root)))


def sample(path):
    label = tf.argmax(tf.strings.split(path, os.sep)[-2] == names)
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, [224, 224]), label


data = (tf.data.Dataset.list_files(os.path.join(args.root, "*", "*"), shuffle=True).map(sample, num_parallel_calls=workers)
        .batch(clock.BATCH).prefetch(tf.data.AUTOTUNE))
clock.of_loader(data, args.epochs)
