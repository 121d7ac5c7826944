# SPDX-License-Identifier: Apache-2.0
"""DALI on the CPU: its file reader, the decoder that decodes only what the random crop needs, flip, normalize."""

import clock
from nvidia.dali import Pipeline, fn, types
from transforms_free import MEAN, SIDE, STD

args = clock.parser(__doc__).parse_args()

pipe = Pipeline(batch_size=clock.BATCH, num_threads=max(1, args.workers), device_id=None, prefetch_queue_depth=2)
with pipe:
    encoded, labels = fn.readers.file(file_root=args.root, name="reader", random_shuffle=True, initial_fill=1024)
    images = fn.decoders.image_random_crop(encoded, device="cpu", output_type=types.RGB)
    images = fn.resize(images, resize_x=SIDE, resize_y=SIDE, interp_type=types.INTERP_LINEAR)
    images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mirror=fn.random.coin_flip(),
                                      mean=[255 * value for value in MEAN], std=[255 * value for value in STD])
    pipe.set_outputs(images, labels)
pipe.build()
size = pipe.reader_meta("reader")["epoch_size"]
state = {"left": 0}  # of the batch that goes over the end of an epoch: the next one begins with it


def epoch():
    seen = state["left"]
    while seen < size:
        seen += len(pipe.run()[1])
    state["left"] = seen - size
    return size


clock.run(epoch, args.epochs)
