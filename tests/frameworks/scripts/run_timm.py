# SPDX-License-Identifier: Apache-2.0
"""timm's folder reader, dataset and loader."""

import report
import timm.data
import torch

torch.set_num_threads(1)
reader = timm.data.create_reader("", root=report.train)
for index in range(len(reader)):
    file, label = reader[index]
    with file:
        report.add("reader", reader.filename(index), label, report.digest(file.read()))

data = timm.data.create_dataset("", root=report.train)
for index in range(len(data)):
    image, label = data[index]
    report.add("dataset", label, report.digest(image.tobytes()))

for name, training in (("loader_validation", False), ("loader_training", True)):
    torch.manual_seed(5)
    loader = timm.data.create_loader(timm.data.create_dataset("", root=report.train), input_size=(3, 96, 96), batch_size=16,
                                     is_training=training, num_workers=2, use_prefetcher=False, persistent_workers=False)
    for images, labels in loader:
        for image, label in zip(images, labels):
            report.add(name, int(label), report.digest(image))
report.write()
