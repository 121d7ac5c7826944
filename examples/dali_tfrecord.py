# SPDX-License-Identifier: Apache-2.0
"""DALI: its reader of TFRecord files on those of a view, each with its index beside it. On a GPU give device_id=0 and device="mixed"."""

import argparse
import glob
import os

import nvidia.dali.tfrecord as tfrec
from nvidia.dali import fn, pipeline_def, types

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()
# "all" are the images of the whole mount; beside a folder train lie train-00000-of-00004 and so on.
files = sorted(glob.glob(os.path.join(args.data, ".augur", "views", "tfrecord+shards=4", "all-*")))
FEATURES = {"image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""), "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1)}


@pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=42)
def images_and_labels():
    record = fn.readers.tfrecord(path=files, index_path=[f"{file}.idx" for file in files], features=FEATURES, random_shuffle=True,
                                 initial_fill=256, name="reader")
    images = fn.resize(fn.decoders.image(record["image/encoded"], device="cpu", output_type=types.RGB), resize_x=64, resize_y=64)
    return images, record["image/class/label"] - 1  # 0 is the background there


pipeline = images_and_labels()
pipeline.build()
size = pipeline.reader_meta("reader")["epoch_size"]
seen, classes = 0, set()
while seen < size:
    _, labels = pipeline.run()
    numbers = labels.as_array().ravel().tolist()[:size - seen]  # the last batch goes on with the next epoch
    seen += len(numbers)
    classes |= set(numbers)
print(f"read {seen} images of {len(classes)} classes")
