# SPDX-License-Identifier: Apache-2.0
"""DALI: its file reader and its decoder, on the CPU; on a GPU give device_id=0 and device="mixed"."""

import argparse

from nvidia.dali import fn, pipeline_def, types

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()


@pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=42)
def images_and_labels():
    encoded, labels = fn.readers.file(file_root=args.data, random_shuffle=True, initial_fill=256, name="reader")
    images = fn.resize(fn.decoders.image(encoded, device="cpu", output_type=types.RGB), resize_x=64, resize_y=64)
    return images, labels


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
