# SPDX-License-Identifier: Apache-2.0
"""Keras: image_dataset_from_directory and fit."""

import argparse

import keras

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()

dataset = keras.utils.image_dataset_from_directory(args.data, image_size=(64, 64), batch_size=8, seed=42, verbose=False)
classes = len(dataset.class_names)
model = keras.Sequential([keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(classes)])
model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(dataset, epochs=1, verbose=0)
print(f"trained on {sum(len(labels) for _, labels in dataset)} images of {classes} classes")
