# SPDX-License-Identifier: Apache-2.0
"""WebDataset: a pipeline over the tar files of a view, whose shards are split among ranks and workers."""

import argparse
import glob
import os

import torch
import webdataset as wds
from torchvision import transforms

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
args = parser.parse_args()
transform = transforms.Compose([transforms.Resize(64), transforms.CenterCrop(64), transforms.ToTensor()])

# "all" are the images of the whole mount; beside a folder train lie train-000000.tar and so on.
shards = sorted(glob.glob(os.path.join(args.data, ".augur", "views", "tar+shards=4+shuffle=42", "all-*.tar")))
dataset = wds.DataPipeline(
    wds.SimpleShardList(shards),
    wds.split_by_node,
    wds.split_by_worker,
    wds.tarfile_to_samples(),
    wds.decode("pil"),
    wds.to_tuple("jpg;png", "cls"),
    wds.map_tuple(transform, int),
    wds.batched(8),
)
seen, classes = 0, set()
for images, labels in torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2):
    seen += len(images)
    classes.update(labels.tolist())
print(f"read {seen} images of {len(classes)} classes")
