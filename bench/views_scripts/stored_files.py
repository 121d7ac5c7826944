# SPDX-License-Identifier: Apache-2.0
"""The images' own files in each container of a framework, by that framework's reader, decoded and cut to 224x224: tf.data over TFRecord,
DALI over TFRecord or a folder, WebDataset over tar files, MosaicML's StreamingDataset over MDS."""

import glob
import io
import os

import clock

SIDE = 224


def tfrecord(args):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    threads = max(1, args.workers)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    keys = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "image/class/label": tf.io.FixedLenFeature([], tf.int64)}

    def sample(record):
        found = tf.io.parse_single_example(record, keys)
        image = tf.image.resize(tf.io.decode_jpeg(found["image/encoded"], channels=3), [256, 256])
        return tf.image.resize_with_crop_or_pad(image, SIDE, SIDE), found["image/class/label"]

    files = tf.data.Dataset.list_files(os.path.join(args.root, "all-*-of-?????"), shuffle=True)
    return (files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=threads).shuffle(1000)
            .map(sample, num_parallel_calls=threads).batch(clock.BATCH).prefetch(2))


def torch_loader(args, data):
    import torch

    torch.set_num_threads(1)
    return torch.utils.data.DataLoader(data, clock.BATCH, num_workers=args.workers)


def steps():
    from torchvision import transforms

    return transforms.Compose([transforms.Resize(256), transforms.CenterCrop(SIDE), transforms.PILToTensor()])


def opened(data):
    from PIL import Image

    return Image.open(io.BytesIO(data)).convert("RGB")


def web_dataset(args):
    import webdataset

    transform = steps()
    shards = sorted(glob.glob(os.path.join(args.root, "all-*.tar")))
    data = webdataset.WebDataset(shards, shardshuffle=len(shards)).shuffle(1000).to_tuple("jpg", "cls")
    return torch_loader(args, data.map_tuple(lambda image: transform(opened(image)), int))


def streaming(args):
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    transform = steps()

    class Images(StreamingDataset):
        def __getitem__(self, index):
            sample = super().__getitem__(index)
            return transform(sample["image"].convert("RGB")), sample["label"]

    with clock.quiet_stdout():
        clean_stale_shared_memory()
        return torch_loader(args, Images(local=os.path.join(args.root, "all.mds"), shuffle=True, batch_size=clock.BATCH))


def dali(args):
    from nvidia.dali import Pipeline, fn, types
    from nvidia.dali import tfrecord as tf

    pipe = Pipeline(batch_size=clock.BATCH, num_threads=max(1, args.workers), device_id=None, prefetch_queue_depth=2)
    with pipe:
        if args.storage == "dali":
            encoded, labels = fn.readers.file(file_root=args.root, name="reader", random_shuffle=True, initial_fill=1024)
        else:
            shards = sorted(glob.glob(os.path.join(args.root, "all-*-of-?????")))
            features = {"image/encoded": tf.FixedLenFeature((), tf.string, ""), "image/class/label": tf.FixedLenFeature([1], tf.int64, -1)}
            read = fn.readers.tfrecord(path=shards, index_path=[shard + ".idx" for shard in shards], features=features, name="reader",
                                       random_shuffle=True, initial_fill=1024)
            encoded, labels = read["image/encoded"], read["image/class/label"]
        images = fn.resize(fn.decoders.image(encoded, device="cpu", output_type=types.RGB), resize_shorter=256)
        pipe.set_outputs(fn.crop(images, crop=(SIDE, SIDE)), labels)
    pipe.build()
    size, left = pipe.reader_meta("reader")["epoch_size"], 0  # of the batch that goes over the end of an epoch: the next begins with it

    def epoch():
        nonlocal left
        seen = left
        while seen < size:
            seen += len(pipe.run()[1])
        left = seen - size
        return size

    return epoch


STORAGES = {"tfrecord": tfrecord, "webdataset": web_dataset, "streaming": streaming}


def main():
    parser = clock.parser(__doc__)
    parser.add_argument("--storage", choices=[*STORAGES, "dali", "dali-tfrecord"], required=True)
    args = parser.parse_args()
    if args.storage in STORAGES:
        clock.of_loader(STORAGES[args.storage](args), args.epochs)
    else:
        clock.run(dali(args), args.epochs)


if __name__ == "__main__":
    main()
