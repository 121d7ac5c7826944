# SPDX-License-Identifier: Apache-2.0
"""The libraries that are compared with views: those that read the folder otherwise, and those that first make a file of it."""

from views_row import Row

DALI = Row("DALI", script="dali_folder.py", module="nvidia.dali")
WEBDATASET = Row("WebDataset", script="web_dataset.py", module="webdataset", peer="webdataset")
STREAMING = Row("Streaming", script="mosaic_streaming.py", module="streaming", peer="streaming")
FFCV_RAW = Row("FFCV raw", script="ffcv_beton.py", module="ffcv", peer="raw.beton", cold_words=("--cold",))
FFCV_JPEG = Row("FFCV JPEG", script="ffcv_beton.py", module="ffcv", peer="jpeg.beton", cold_words=("--cold",), make_words=("--field", "jpg"))
FFCV_FIXED = Row("FFCV raw fixed crop", script="ffcv_beton.py", module="ffcv", peer="raw.beton", words=("--crop", "center"), cold_words=("--cold",))

AUGMENTED = (DALI, WEBDATASET, STREAMING, FFCV_RAW, FFCV_JPEG)
