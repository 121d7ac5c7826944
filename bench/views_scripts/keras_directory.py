# SPDX-License-Identifier: Apache-2.0
"""keras.utils.image_dataset_from_directory, 224x224, shuffled; --workers are TensorFlow's threads."""

import os

import clock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow  # noqa: E402

args = clock.parser(__doc__).parse_args()
tensorflow.config.threading.set_inter_op_parallelism_threads(max(1, args.workers))
tensorflow.config.threading.set_intra_op_parallelism_threads(max(1, args.workers))
data = tensorflow.keras.utils.image_dataset_from_directory(args.root, image_size=(224, 224), batch_size=clock.BATCH, verbose=False)
clock.of_loader(data, args.epochs)
