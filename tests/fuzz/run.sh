#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz preset and fuzzes the decoders: tests/fuzz/run.sh [SECONDS (600)] [libFuzzer's options...]. What libFuzzer
# finds worth keeping lies in build/fuzz/found/corpus, what fails in build/fuzz/found; exit 1 when something failed.
set -euo pipefail

cd "$(dirname "$0")/../.."
seconds=${1:-600}
[ $# -eq 0 ] || shift
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then # 0 is for ever to libFuzzer
  echo "run.sh: $seconds: a number of seconds, 1 or more" >&2
  exit 2
fi
cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target decode_fuzz
found=build/fuzz/found
mkdir -p "$found/corpus"
# A decoder may take 32 MB a file (decode_once.cc); the rest is the sanitizer's. The corpus in the tree is only read.
build/fuzz/tests/decode_fuzz -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -max_len=8192 -print_final_stats=1 \
  -artifact_prefix="$found/" "$@" "$found/corpus" tests/fuzz/corpus || exit 1
