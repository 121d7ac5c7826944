# SPDX-License-Identifier: Apache-2.0
"""timm: its reader of TensorFlow Datasets, which finds the data set of a view by its name, and its loader."""

import argparse

import timm.data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    args = parser.parse_args()
    # "train" is the folder of that name, or, where there is none of this kind, the whole mount.
    folder = f"{args.data}/.augur/views/tfrecord+keys=tfds+name=photos+shards=4"
    dataset = timm.data.create_dataset("tfds/photos", root=folder, split="train")
    loader = timm.data.create_loader(dataset, input_size=(3, 64, 64), batch_size=8, use_prefetcher=False, num_workers=2)
    seen, classes = 0, set()
    for images, labels in loader:
        seen += len(images)
        classes.update(labels.tolist())
    print(f"read {seen} images of {len(classes)} classes")


if __name__ == "__main__":
    main()
