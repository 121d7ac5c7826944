# SPDX-License-Identifier: Apache-2.0
"""JAX: a model of JAX, fed by PyTorch's DataLoader with arrays of NumPy."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torchvision


def to_array(image):
    return np.asarray(image.resize((64, 64)), dtype=np.float32) / 255


def stack(samples):
    images, labels = zip(*samples, strict=True)
    return np.stack(images), np.asarray(labels)


def loss(parameters, images, labels):
    logits = images.reshape(len(images), -1) @ parameters
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    args = parser.parse_args()
    torch.manual_seed(42)
    dataset = torchvision.datasets.ImageFolder(args.data, to_array)
    # JAX has threads, which a forked worker would not have.
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2, collate_fn=stack,
                                         multiprocessing_context="spawn")
    parameters = jnp.zeros((3 * 64 * 64, len(dataset.classes)))
    gradient = jax.jit(jax.grad(loss))
    seen = 0
    for images, labels in loader:
        parameters -= 0.01 * gradient(parameters, images, labels)
        seen += len(images)
    print(f"trained on {seen} images of {len(dataset.classes)} classes")


if __name__ == "__main__":
    main()
