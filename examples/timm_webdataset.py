# SPDX-License-Identifier: Apache-2.0
"""timm: its reader of WebDataset, which finds the tar files of a view by their _info.json, and its loader."""

import argparse

import timm.data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    args = parser.parse_args()
    # "all" is the split of the whole mount; beside a folder train it is "train".
    dataset = timm.data.create_dataset("wds/", root=f"{args.data}/.augur/views/tar+shards=4", split="all")
    loader = timm.data.create_loader(dataset, input_size=(3, 64, 64), batch_size=8, use_prefetcher=False, num_workers=2)
    seen, classes = 0, set()
    for images, labels in loader:
        seen += len(images)
        classes.update(labels.tolist())
    print(f"read {seen} images of {len(classes)} classes")


if __name__ == "__main__":
    main()
