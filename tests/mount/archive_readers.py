# SPDX-License-Identifier: Apache-2.0
"""What libraries make of archives, and of the folder itself. They run in a process of their own, as torch and TensorFlow do not
bear each other, and a test process with their threads would not fork well."""

import os
import pickle
import subprocess
import sys
import traceback


def image_folder(folder):
    """torchvision's samples, with the images told by content: [(path, label)] and the classes."""
    import torchvision
    from archive_tree import is_image

    found = torchvision.datasets.ImageFolder(folder, is_valid_file=is_image, allow_empty=True)
    return found.samples, found.classes


def web_dataset(urls):
    """[(bytes, label)] of a pipeline over all shards."""
    import webdataset

    return [(one.get("jpg", one.get("png")), int(one["cls"])) for one in webdataset.WebDataset(urls, shardshuffle=False)]


def timm_labels(name, root, split):
    """The length that timm tells, and the labels that it reads."""
    import timm.data

    dataset = timm.data.create_dataset(name, root=root, split=split)
    return len(dataset), [int(label) for _, label in dataset]


def tfrecord(keys, paths):
    """A dict for each record, by tf.data, which checks each checksum."""
    import tensorflow

    text = tensorflow.io.FixedLenFeature([], tensorflow.string)
    number = tensorflow.io.FixedLenFeature([], tensorflow.int64)
    features = {"image": text, "file_name": text, "label": number}
    if keys == "imagenet":
        words = ("encoded", "format", "filename", "colorspace", "class/synset", "class/text")
        features = {f"image/{word}": text for word in words}
        features.update({f"image/{word}": number for word in ("class/label", "height", "width", "channels")})
        features["image/object/bbox/xmin"] = tensorflow.io.VarLenFeature(tensorflow.float32)  # of the published scripts
    return [
        {
            key: value.numpy()
            for key, value in tensorflow.io.parse_single_example(record, features).items()
            if isinstance(value, tensorflow.Tensor)
        }
        for record in tensorflow.data.TFRecordDataset(paths)
    ]


def interleaved(pattern):
    """The images of all files that have the pattern, several files at a time, as the ImageNet scripts read them."""
    import tensorflow

    features = {"image/encoded": tensorflow.io.FixedLenFeature([], tensorflow.string)}
    files = tensorflow.data.Dataset.list_files(pattern, shuffle=True, seed=1)
    records = files.interleave(tensorflow.data.TFRecordDataset, cycle_length=5, num_parallel_calls=5)
    return [tensorflow.io.parse_single_example(one, features)["image/encoded"].numpy() for one in records]


def dali(paths, count):
    """[(bytes, label)] by DALI's reader, with the indexes beside the files."""
    import nvidia.dali
    from nvidia.dali import tfrecord as tf

    @nvidia.dali.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline():
        read = nvidia.dali.fn.readers.tfrecord(
            path=paths,
            index_path=[path + ".idx" for path in paths],
            features={
                "image/encoded": tf.FixedLenFeature((), tf.string, ""),
                "image/class/label": tf.FixedLenFeature([1], tf.int64, -1),
            },
        )
        return read["image/encoded"], read["image/class/label"]

    built = pipeline()
    built.build()
    batches = [built.run() for _ in range(count)]
    return [(images.at(0).tobytes(), int(labels.at(0)[0])) for images, labels in batches]


def tfds(folder, name, split):
    """[(label, file name)] by both ways to a builder."""
    import tensorflow_datasets

    builders = (tensorflow_datasets.builder_from_directory(folder), tensorflow_datasets.builder(name, data_dir=folder))
    return [
        sorted((int(one["label"]), os.fsdecode(one["file_name"].numpy())) for one in builder.as_dataset(split=split))
        for builder in builders
    ]


def streaming(folder):
    """[(bytes, label, name)] by MosaicML's StreamingDataset, and the labels that a loader of two workers gives."""
    import streaming
    import torch

    streaming.base.util.clean_stale_shared_memory()
    dataset = streaming.StreamingDataset(local=folder, remote=None, batch_size=1, shuffle=False)
    found = [dataset[i] for i in range(len(dataset))]
    labels = sorted(one["label"] for one in torch.utils.data.DataLoader(dataset, batch_size=1, num_workers=2, collate_fn=as_is))
    return [(one["image"].fp.getvalue(), one["label"], one["name"]) for one in found], labels


class H5Images:
    """What scripts write: a dataset over one file, opened where it is made or in each worker."""

    def __init__(self, path, early):
        self.path = path
        self.file = self.open() if early else None
        self.count = self.open()["labels"].shape[0]

    def open(self):
        import h5py

        return h5py.File(self.path, "r")

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if self.file is None:
            self.file = self.open()
        return i, self.file["images"][i], int(self.file["labels"][i])


class ZarrImages(H5Images):
    def open(self):
        import zarr

        return zarr.open_group(self.path, mode="r")


def as_is(batch):
    return batch[0]


def load(kind, path, early, context, workers):
    """[(array, label)] in order, by a DataLoader that shuffles."""
    import torch

    dataset = (H5Images if kind == "h5" else ZarrImages)(path, early)
    loader = torch.utils.data.DataLoader(dataset, shuffle=True, collate_fn=as_is, num_workers=workers, multiprocessing_context=context)
    found = sorted(loader, key=lambda one: one[0])
    assert [one[0] for one in found] == list(range(len(dataset)))
    return [one[1:] for one in found]


def h5(path):
    """All datasets, each read at once; texts as bytes."""
    import h5py

    with h5py.File(path, "r") as file:
        return {name: list(dataset[:]) if name == "encoded" else dataset[:] for name, dataset in file.items()}


def zarr_arrays(path, part):
    """The version, images, labels and names of classes of a group, and a part of the images."""
    import zarr

    group = zarr.open_group(path, mode="r")
    images = group["images"]
    return group.metadata.zarr_format, images[:], group["labels"][:], group["labels"].attrs.get("classes"), images[slice(*part)]


def zarr_image(path, i):
    import zarr

    return zarr.open_group(path, mode="r")["images"][i]


class Readers:
    """The process. `call` gives what a function above returns, and raises Missing where its library is not installed."""

    class Missing(Exception):
        pass

    def __init__(self, apart=False):
        self.apart = apart

    def __enter__(self):
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "-1"}
        if self.apart:  # packages that no other test needs
            environment["PYTHONPATH"] = os.environ.get("AUGUR_FORMATS", "")
        self.process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def call(self, function, *arguments):
        pickle.dump((function, arguments), self.process.stdin)
        self.process.stdin.flush()
        kind, answer = pickle.load(self.process.stdout)
        if kind == "missing":
            raise self.Missing(answer)
        assert kind == "done", answer
        return answer


def serve(asked, answers):
    while True:
        try:
            function, arguments = pickle.load(asked)
        except EOFError:
            return
        try:
            answer = ("done", globals()[function](*arguments))
        except ImportError as error:
            answer = ("missing", str(error))
        except Exception:  # the test shows it
            answer = ("error", traceback.format_exc())
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what libraries print is no answer
        serve(sys.stdin.buffer, answers)
