# SPDX-License-Identifier: Apache-2.0
"""Our decoders and our resize give the same bytes as Pillow, of every version that there is a rule for.

pixels_compare.py makes the cases and runs once in each Pillow: 13 (of tests/requirements.txt), 12 (other-pillow of
packaging/venv.sh) and Debian's own, which has the libjpeg that we use. AUGUR_TEST_SEED=N takes other cases than those of every
run; `packaging/test.sh --sanitizers` draws one, and a failure prints it.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import mounts  # of bench/
import pytest

COMPARE = pathlib.Path(__file__).with_name("pixels_compare.py")
# Cases of each group in each Pillow: 20 s of one core each.
CASES = {"odd_set": 1, "jpeg": 1200, "odd_jpeg": 900, "png": 1500, "odd_png": 1500, "truncated": 800, "missing_scans": 200, "lossless": 400,
         "scaled": 200, "resize": 3500, "both": 400}
PILLOWS = {
    "13": CASES,
    "12": CASES,
    # 9.4 opens some PNGs in other modes, and its libjpeg knows no lossless JPEG; it is here for broken files, which another libjpeg
    # repairs otherwise.
    "debian": {**{group: count for group, count in CASES.items() if group not in ("odd_set", "png", "lossless")}, "broken": 2500},
}


def compare(pillow, seed):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    python = sys.executable
    if pillow == "12":
        if not os.environ.get("AUGUR_OTHER_PILLOW"):
            return "AUGUR_OTHER_PILLOW is not set: it is what `packaging/venv.sh other-pillow` prints"
        environment["PYTHONPATH"] = os.environ["AUGUR_OTHER_PILLOW"]
    elif pillow == "debian":
        python = "/usr/bin/python3"
    words = [python, COMPARE, mounts.program("pixel_dump"), seed, *(f"{name}={count}" for name, count in PILLOWS[pillow].items())]
    run = subprocess.run(list(map(str, words)), capture_output=True, text=True, errors="replace", timeout=600, env=environment,
                         stdin=subprocess.DEVNULL)
    assert run.returncode == 0, f"AUGUR_TEST_SEED={seed}: {run.stderr[-3000:]}"
    return json.loads(run.stdout)


@pytest.fixture(scope="session")
def results():
    """{Pillow: what pixels_compare.py printed, or why it did not run}. The cases of one Pillow are one process."""
    seed = int(os.environ.get("AUGUR_TEST_SEED") or 1)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = {pillow: pool.submit(compare, pillow, seed) for pillow in PILLOWS}
    return {"seed": seed, **{pillow: run.result() for pillow, run in runs.items()}}


@pytest.mark.parametrize("pillow", PILLOWS)
def test_no_byte_differs(results, pillow):
    result = results[pillow]
    if isinstance(result, str):
        pytest.skip(result)
    if pillow != "debian":
        assert result["pillow"].partition(".")[0] == pillow
    lines = "\n".join(result["differences"])
    assert result["count"] == 0, f"Pillow {result['pillow']}, AUGUR_TEST_SEED={results['seed']}: {result['count']} differ:\n{lines}"
    assert result["cases"] == PILLOWS[pillow]
