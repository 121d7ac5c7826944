# SPDX-License-Identifier: Apache-2.0
"""keras.utils.image_dataset_from_directory; it decodes, there is no other way."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
from reading import BATCH, EPOCHS, Pace, note, say  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--seed", type=int)
args = parser.parse_args()

data = keras.utils.image_dataset_from_directory(args.root, image_size=(32, 32), batch_size=BATCH, seed=args.seed, verbose=False)
epochs = []
for _ in range(EPOCHS):
    pace = Pace()
    for images, _ in data:
        note(len(images))
        pace.step(len(images))
    epochs.append(pace.samples)
say(epochs)
