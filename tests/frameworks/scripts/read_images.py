# SPDX-License-Identifier: Apache-2.0
"""What one reader makes of many files: read_images.py READER LIST RESULT.

LIST has a path a line. RESULT is a pickled list: an array of height x width x channels, or height x width as the reader gives
it, or the error's text. A process of its own for each library, since not all of them bear each other.
"""

import os
import pathlib
import pickle
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")


def pil_readers():
    import numpy
    from PIL import Image, ImageOps

    def as_it_is(path):
        with Image.open(path) as image:
            return numpy.array(image)

    def rgb(path):
        with Image.open(path) as image:
            return numpy.array(image.convert("RGB"))

    def turned(path):
        with Image.open(path) as image:
            return numpy.array(ImageOps.exif_transpose(image).convert("RGB"))

    return {"PIL.Image.open": as_it_is, "PIL.Image.open().convert('RGB')": rgb, "PIL.ImageOps.exif_transpose": turned}


def cv2_readers():
    import cv2
    import numpy

    def read(path, flags):
        image = cv2.imread(path, flags)
        assert image is not None, "imread gives None"
        return image if image.ndim == 2 else image[:, :, ::-1]

    def decode(path):
        image = cv2.imdecode(numpy.fromfile(path, numpy.uint8), cv2.IMREAD_COLOR)
        assert image is not None, "imdecode gives None"
        return image[:, :, ::-1]

    return {
        "cv2.imread": lambda path: read(path, cv2.IMREAD_COLOR),
        "cv2.imread(IMREAD_UNCHANGED)": lambda path: read(path, cv2.IMREAD_UNCHANGED),
        "cv2.imdecode": decode,
    }


def torchvision_readers():
    from torchvision.io import ImageReadMode, decode_image, decode_jpeg, read_file

    def read(path, mode, **options):
        return decode_image(read_file(path), mode=mode, **options).permute(1, 2, 0).numpy()

    return {
        "torchvision.io.decode_image": lambda path: read(path, ImageReadMode.UNCHANGED),
        "torchvision.io.decode_image(RGB)": lambda path: read(path, ImageReadMode.RGB),
        "torchvision.io.decode_image(apply_exif_orientation)":
            lambda path: read(path, ImageReadMode.RGB, apply_exif_orientation=True),
        "torchvision.io.decode_jpeg": lambda path: decode_jpeg(read_file(path)).permute(1, 2, 0).numpy(),
    }


def tensorflow_readers():
    import tensorflow as tf

    return {
        "tf.io.decode_image": lambda path: tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False).numpy(),
        "tf.io.decode_image(channels=0)": lambda path: tf.io.decode_image(tf.io.read_file(path), expand_animations=False).numpy(),
        "tf.io.decode_jpeg": lambda path: tf.io.decode_jpeg(tf.io.read_file(path), channels=3).numpy(),
        "tf.io.decode_jpeg(INTEGER_ACCURATE)":
            lambda path: tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method="INTEGER_ACCURATE").numpy(),
        "tf.io.decode_png": lambda path: tf.io.decode_png(tf.io.read_file(path), channels=3).numpy(),
        "tf.io.decode_bmp": lambda path: tf.io.decode_bmp(tf.io.read_file(path), channels=3).numpy(),
        "tf.io.decode_and_crop_jpeg":
            lambda path: tf.io.decode_and_crop_jpeg(tf.io.read_file(path), [0, 0, 1, 1], channels=3).numpy(),
        "tf.io.extract_jpeg_shape": lambda path: tf.io.extract_jpeg_shape(tf.io.read_file(path)).numpy(),
    }


def keras_readers():
    import keras
    import numpy
    import tensorflow as tf

    def directory(path):
        # The directory of a file holds it alone. A resize to the size that an image has changes no pixel.
        with_size = tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False).shape[:2]
        batches = keras.utils.image_dataset_from_directory(
            os.path.dirname(path), labels=None, image_size=tuple(with_size), batch_size=1, shuffle=False, verbose=False)
        return next(iter(batches)).numpy()[0].astype(numpy.uint8)

    return {
        "keras.utils.image_dataset_from_directory": directory,
        "keras.utils.load_img": lambda path: numpy.array(keras.utils.load_img(path)),
    }


def dali_readers():
    from nvidia.dali import fn, pipeline_def

    # One pipeline a file: one that failed once is not used again.
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline(path, options):
        encoded, _ = fn.readers.file(files=[path])
        return fn.decoders.image(encoded, device="cpu", **options)

    def read(path, **options):
        pipe = pipeline(path, options)
        pipe.build()
        (images,) = pipe.run()
        return images.at(0).copy()

    return {
        "nvidia.dali decoders.image": read,
        "nvidia.dali decoders.image(adjust_orientation=False)": lambda path: read(path, adjust_orientation=False),
    }


FAMILIES = {"PIL": pil_readers, "cv2": cv2_readers, "torchvision": torchvision_readers, "tensorflow": tensorflow_readers,
            "keras": keras_readers, "nvidia.dali": dali_readers}


def result_of(read, path):
    try:
        return read(path)
    except Exception as error:  # noqa: BLE001: whatever a reader raises is what the test asks about
        return f"{type(error).__name__}: {error}"


def main():
    family, paths, result = sys.argv[1], pathlib.Path(sys.argv[2]).read_text().splitlines(), sys.argv[3]
    with open(result, "wb") as file:
        pickle.dump({name: [result_of(read, path) for path in paths] for name, read in FAMILIES[family]().items()}, file)


if __name__ == "__main__":
    main()
