# SPDX-License-Identifier: Apache-2.0
"""list_samples.py ASKED RESULT: lists of samples as the real libraries make them.

ASKED is a JSON file with a list of [rule, root]; RESULT becomes one with the list of paths for each, or null where the library
itself fails. Rules have the names of src/datasets/sample_rule.cc, with "{}" for an extension of their own.
"""

import glob
import json
import mimetypes
import os
import pathlib
import sys

OLD_TORCHVISION = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", "webp")
TORCHVISION = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
KERAS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
# fastai/data/transforms.py; Python has .webp there from 3.13 on, and before that from the tables of most systems.
FASTAI = {ending for ending, kind in mimetypes.types_map.items() if kind.startswith("image/")} | {".webp"}
ULTRALYTICS = {"bmp", "dng", "jpeg", "jpg", "mpo", "png", "tif", "tiff", "webp", "pfm", "heic", "heif", "avif", "jp2", "jpeg2000"}


def files(paths):
    return [path for path in paths if not os.path.isdir(path)]


def image_folder(root):
    from torchvision.datasets import ImageFolder

    return [path for path, _ in ImageFolder(root, allow_empty=True).samples]


def dataset_folder(root, extensions):
    from torchvision.datasets import DatasetFolder

    return [path for path, _ in DatasetFolder(root, None, extensions=extensions, allow_empty=True).samples]


def timm_folder(root):
    from timm.data.readers.reader_image_folder import ReaderImageFolder

    return [path for path, _ in ReaderImageFolder(root).samples]


def keras_index(root, formats, labels):
    from keras.src.utils.dataset_utils import index_directory

    return list(index_directory(root, labels, formats, shuffle=False, verbose=False)[0])


def keras_flow(root):
    from keras.src.legacy.preprocessing.image import ImageDataGenerator

    return ImageDataGenerator().flow_from_directory(root, shuffle=False).filepaths


def dali_read(reader):
    """What a reader of DALI gives, one sample at a time, without decoding."""
    from nvidia.dali import fn, pipeline_def

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline():
        data = reader(fn)
        return fn.get_property(data, key="source_info")

    built = pipeline()
    built.build()
    count = built.reader_meta("reader")["epoch_size"]
    return [bytes(built.run()[0].as_array()[0]).decode(errors="surrogateescape") for _ in range(count)]


def dali_files(root, **options):
    read = dali_read(lambda fn: fn.readers.file(file_root=root, name="reader", **options)[0])
    return [os.path.join(root, path) for path in read]


def dali_numpy(root, extension):
    return dali_read(lambda fn: fn.readers.numpy(file_root=root, file_filter="*" + extension, name="reader", device="cpu"))


def tf_files(root):
    import tensorflow as tf

    found = []
    pattern = root
    for _ in range(6):
        pattern += "/*"
        found += [name.decode(errors="surrogateescape") for name in tf.io.matching_files(pattern).numpy()]
    return sorted(files(found))


def os_walk(root, ending, change=lambda walk: walk):
    return [os.path.join(folder, name) for folder, names in change((one[0], one[2]) for one in os.walk(root))
            for name in names if name.lower().endswith(ending)]


def fastai_files(root):
    """fastai/data/transforms.py, get_files."""
    found = []
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(folder, name) for name in names if not name.startswith(".") and "." + name.split(".")[-1].lower() in FASTAI]
    return found


RULES = {
    "fastai get_image_files": lambda root, _: fastai_files(root),
    "torchvision ImageFolder": lambda root, _: image_folder(root),
    "torchvision ImageFolder up to 0.8": lambda root, _: dataset_folder(root, OLD_TORCHVISION),
    "torchvision DatasetFolder {}": lambda root, extension: dataset_folder(root, (extension,)),
    "timm ImageFolder": lambda root, _: timm_folder(root),
    "Keras image_dataset_from_directory": lambda root, _: keras_index(root, KERAS, "inferred"),
    "Keras image_dataset_from_directory without labels": lambda root, _: keras_index(root, KERAS, None),
    "Keras dataset_from_directory {}": lambda root, extension: keras_index(root, (extension,), "inferred"),
    "Keras flow_from_directory": lambda root, _: keras_flow(root),
    "DALI readers.file": lambda root, _: dali_files(root),
    "DALI readers.file {}": lambda root, extension: dali_files(root, file_filters=["*" + extension]),
    "DALI readers.numpy {}": dali_numpy,
    # ultralytics/data/base.py, get_img_files; the library itself needs a GUI's worth of packages for this one line.
    "Ultralytics": lambda root, _: files(sorted(path for path in glob.glob(str(pathlib.Path(root) / "**" / "*.*"), recursive=True)
                                                if path.rpartition(".")[-1].lower() in ULTRALYTICS)),
    "sorted glob {}": lambda root, extension: files(sorted(glob.glob(f"{root}/**/*{extension}", recursive=True))),
    "sorted glob of all files": lambda root, _: tf_files(root),
    "sorted rglob {}": lambda root, extension: [str(path) for path in sorted(pathlib.Path(root).rglob("*" + extension))
                                                if not path.is_dir()],
    "path order of all files": lambda root, _: [str(path) for path in sorted(pathlib.Path(root).rglob("*")) if not path.is_dir()],
    "path order of images": lambda root, _: [str(path) for path in sorted(pathlib.Path(root).rglob("*"))
                                             if path.name.lower().endswith(TORCHVISION) and not path.is_dir()],
    "os.walk of all files": lambda root, _: os_walk(root, ""),
    "os.walk of images": lambda root, _: os_walk(root, TORCHVISION),
    "os.walk {}": lambda root, extension: [path for path in os_walk(root, "") if path.endswith(extension)],
    "sorted os.walk {}": lambda root, extension: [os.path.join(folder, name) for folder, _, names in sorted(os.walk(root))
                                                  for name in sorted(names) if name.endswith(extension)],
}


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        asked = json.load(file)
    made = []
    for rule, extension, root in asked:
        try:
            made.append(list(map(str, RULES[rule](root, extension))))
        except (FileNotFoundError, RuntimeError, ValueError) as error:
            print(f"{rule} of {root}: {error}", file=sys.stderr)
            made.append(None)
    with open(sys.argv[2], "w", encoding="ascii") as file:
        json.dump(made, file)


if __name__ == "__main__":
    main()
