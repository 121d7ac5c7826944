# SPDX-License-Identifier: Apache-2.0
"""torchvision's ImageFolder and torch's DataLoader."""

import report
import torch
import torchvision
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

torch.set_num_threads(1)

TRAINING = transforms.Compose([
    transforms.RandomResizedCrop(96),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
])


class Fingerprint:
    """Stands where a transform to tensors stands: the hash of all pixels, so that a batch covers every one of them."""

    def __call__(self, image):
        pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
        return torch.tensor(list(bytes.fromhex(report.digest(pixels))) + [image.width, image.height], dtype=torch.int32)


def load(run, epochs=1, transform=None, **options):
    torch.manual_seed(7)
    data = ImageFolder(report.train, transform or Fingerprint())
    loader = DataLoader(data, batch_size=16, **options)
    for _ in range(epochs):
        for images, labels in loader:
            for image, label in zip(images, labels):
                report.add(run, int(label), report.digest(image))


data = ImageFolder(report.train)
for path, label in data.samples:
    report.add("list", report.relative(path), label, data.classes[label])
for workers in (0, 1, 4):
    load(f"in_order_{workers}_workers", num_workers=workers)
    load(f"shuffled_{workers}_workers", num_workers=workers, shuffle=True)
load("persistent_workers_two_epochs", epochs=2, num_workers=2, persistent_workers=True, shuffle=True, prefetch_factor=4)
load("training_transform", epochs=1, num_workers=2, shuffle=True, transform=TRAINING)

odd = ImageFolder(report.odd, allow_empty=True)
for index, (path, label) in enumerate(odd.samples):
    report.add("odd", report.relative(path), label, report.outcome(lambda i=index: Fingerprint()(odd[i][0]).tolist()))
for path in report.files_below(report.train):
    report.add("io_decode", report.relative(path), report.digest(torchvision.io.decode_image(torchvision.io.read_file(path))))
report.write()
