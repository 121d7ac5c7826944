# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's two usual ways to read a folder of images, on plain pixels, beside the JPEGs. It decodes JPEG by the fast DCT, so its own
pixels of the folder differ a little; that the views hold Pillow's is checked as for the other scenarios."""

from views_check import Check
from views_row import Row, compare

SCRIPTS = {"Keras directory": "keras_directory.py", "tf.data": "tf_data.py"}


def _rows(script):
    base = {"script": script, "module": "tensorflow"}
    return (Row("folder", **base), Row("mount", view="", **base), Row("png", view="pixels", **base), Row("png 256", view="pixels+size=256", **base))


def tensorflow(rows):
    """keras.utils.image_dataset_from_directory, then list_files, decode_jpeg, resize."""
    found = []
    for name, script in SCRIPTS.items():
        people = rows.able(_rows(script))
        if not people:
            continue
        Check(rows).views(people)
        for workers in rows.args.workers:
            found += compare(rows, people, f"{name}, {workers} thread{'s' * (workers != 1)}", workers)
    return found
