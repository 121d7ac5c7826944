# SPDX-License-Identifier: Apache-2.0
"""What tests do with buckets and with programs that use them."""

import pathlib
import time


def put_folder(bucket, folder, prefix):
    """All files of a folder, under keys that begin with the prefix."""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            bucket.put(f"{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes())


def wait_until(is_so, patience_s=60):
    end = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)
