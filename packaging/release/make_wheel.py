#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel whose programs pip puts into an environment's bin: make_wheel.py STAGE VERSION PLATFORM OUTDIR. STAGE is an installed
tree (bin, share). PLATFORM is a platform tag (PEP 425, PEP 600). Prints the path of the wheel. Uses no network and no package but
Python's own."""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

METADATA = """\
Metadata-Version: 2.1
Name: augurfs
Version: {version}
Summary: A read-only FUSE file system that makes unmodified training scripts read images faster
License: Apache-2.0
Requires-Python: >=3.6
Classifier: Environment :: Console
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Topic :: System :: Filesystems
Description-Content-Type: text/markdown

The programs of AugurFS: `augurpack` packs a folder of images, `augurfs` mounts it as the same folder, and `augurctl` shows what the
mount does.

A mount needs `/dev/fuse`. An ordinary user also needs `fusermount3`, of the system's package `fuse3`.

```
augurpack create /data/train /data/train.augur
augurfs /data/train.augur /mnt/train
python train.py --data /mnt/train
fusermount3 -u /mnt/train
```
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: augurfs
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


class Wheel:
    """A zip file with a RECORD of what is in it."""

    def __init__(self, path, moment):
        self.archive = zipfile.ZipFile(path, "w")
        self.level = int(os.environ.get("LEVEL", 9))
        self.moment = time.gmtime(max(moment, 315532800))[:6]  # a zip knows no year before 1980
        self.rows = []

    def add(self, name, content, mode=0o644):
        entry = zipfile.ZipInfo(name, self.moment)
        entry.external_attr = (0o100000 | mode) << 16
        self.archive.writestr(entry, content, zipfile.ZIP_DEFLATED, self.level)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.rows.append(f"{name},sha256={digest},{len(content)}")

    def close(self, record):
        rows = "".join(f"{row}\n" for row in [*self.rows, f"{record},,"])
        self.add(record, rows.encode())
        self.archive.close()


def main(stage, version, platform, folder):
    stage = pathlib.Path(stage)
    path = pathlib.Path(folder) / f"augurfs-{version}-py3-none-{platform}.whl"
    info, data = f"augurfs-{version}.dist-info", f"augurfs-{version}.data"
    wheel = Wheel(path, int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    for program in sorted((stage / "bin").iterdir()):
        wheel.add(f"{data}/scripts/{program.name}", program.read_bytes(), 0o755)
    for page in sorted((stage / "share" / "man").rglob("*.1")):
        wheel.add(f"{data}/data/{page.relative_to(stage)}", page.read_bytes())
    for text in sorted((stage / "share" / "doc" / "augurfs").glob("copyright")):
        wheel.add(f"{info}/licenses/{text.name}", text.read_bytes())
    wheel.add(f"{info}/METADATA", METADATA.format(version=version).encode())
    wheel.add(f"{info}/WHEEL", WHEEL.format(platform=platform).encode())
    wheel.close(f"{info}/RECORD")
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: make_wheel.py STAGE VERSION PLATFORM OUTDIR")
    main(*sys.argv[1:])
