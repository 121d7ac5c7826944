# SPDX-License-Identifier: Apache-2.0
"""tf.data pipelines, and Keras' image_dataset_from_directory."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import report
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE


def load(path):
    return path, tf.io.decode_jpeg(tf.io.read_file(path), channels=3)


def take(run, dataset):
    for path, pixels in dataset.as_numpy_iterator():
        report.add(run, report.relative(path), report.digest(pixels))


pattern = os.path.join(report.train, "*", "*.JPEG")
take("list_files_in_order", tf.data.Dataset.list_files(pattern, shuffle=False).map(load))
tf.random.set_seed(11)
take("list_files_shuffled", tf.data.Dataset.list_files(pattern, shuffle=True, seed=5).map(load, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE))

tf.random.set_seed(11)
take("interleave", tf.data.Dataset.list_files(os.path.join(report.train, "*"), shuffle=False)
     .interleave(lambda folder: tf.data.Dataset.list_files(tf.strings.join([folder, "/*.JPEG"]), shuffle=False),
                 cycle_length=4, block_length=2, num_parallel_calls=AUTOTUNE, deterministic=True)
     .shuffle(64, seed=3)
     .map(load, num_parallel_calls=4)
     .prefetch(AUTOTUNE))

cached = tf.data.Dataset.list_files(pattern, shuffle=False).map(load, num_parallel_calls=AUTOTUNE).cache()
for _ in range(2):  # the second time from TensorFlow's memory
    take("cache_two_epochs", cached)

for path in sorted(tf.io.matching_files(os.path.join(report.odd, "*", "*")).numpy()):
    report.add("odd_bytes", report.relative(path), report.outcome(lambda p=path: report.digest(tf.io.read_file(p).numpy())))
    report.add("odd_decoded", report.relative(path),
               report.outcome(lambda p=path: report.digest(tf.io.decode_image(tf.io.read_file(p), expand_animations=False))))
for where, folders, files in sorted(tf.io.gfile.walk(report.train)):  # it walks in the order of readdir, which is the file system's own
    report.add("gfile_walk", report.relative(where), sorted(folders), sorted(files))

for name, options in {
    "keras_in_order": {"shuffle": False},
    "keras_shuffled": {"shuffle": True, "seed": 9},
    "keras_validation_split": {"shuffle": True, "seed": 9, "validation_split": 0.25, "subset": "validation"},
}.items():
    data = tf.keras.utils.image_dataset_from_directory(report.train, image_size=(96, 96), batch_size=16, verbose=False, **options)
    report.add(name, data.class_names)
    for images, labels in data:
        for image, label in zip(images.numpy(), labels.numpy()):
            report.add(name, int(label), report.digest(image))
report.write()
