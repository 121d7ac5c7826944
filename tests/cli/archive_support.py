# SPDX-License-Identifier: Apache-2.0
"""What other programs make of an archive: the trees that GNU tar, bsdtar and Python's zipfile unpack."""

import os
import shutil
import subprocess
import zipfile

import pytest
from pack_support import PATIENCE_S


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")


def contents(top):
    """path (bytes) -> bytes, of the files below a folder."""
    files = {}
    top = os.fsencode(top)
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    files[os.path.relpath(path, top)] = file.read()
    return files


def unpacked(tool, archive, folder, *options):
    """(exit status, files) of what GNU tar, bsdtar or zipfile unpacks into a new folder."""
    folder.mkdir()
    if tool == "zipfile":
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder)
        return 0, contents(folder)
    need(tool)
    done = subprocess.run([tool, "-x", "-f", archive, "-C", folder, *options], capture_output=True, timeout=PATIENCE_S, check=False)
    return done.returncode, contents(folder)
