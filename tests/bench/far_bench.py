# SPDX-License-Identifier: Apache-2.0
"""Runs the benches of stores on a server."""

import os
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
CACHE_HOME = os.environ.get("XDG_CACHE_HOME")  # where programs are kept; the tests move that of daemons


def run(program, *words, work):
    """A quick run of the bench."""
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    if CACHE_HOME:
        environment["XDG_CACHE_HOME"] = CACHE_HOME
    return subprocess.run([sys.executable, BENCH / program, *words, "--quick", "--json", "--server", "default", "--work", work], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
