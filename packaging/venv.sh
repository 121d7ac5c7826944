#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the virtual environment of the tests, or finds it, and prints its path (on standard output; progress goes to stderr).
# `venv.sh other-pillow` does the same for a folder with the packages of tests/requirements-other-pillow.txt, for PYTHONPATH in
# front of the environment: two versions of one package do not fit into it. `venv.sh botocore`, `examples`, `kubernetes` and
# `formats` (readers of MDS, Zarr and TFDS) do it for tests/requirements-NAME.txt, which no other test needs.
#
# It lies in ~/.cache/augurfs/venv-<hash of tests/requirements.txt and of the Python version>, so it is kept between runs and
# clones and made anew when a requirement changes. It is built beside its place and renamed: one that was cut short never
# counts. pip takes only files whose SHA-256 is in tests/requirements.lock. What could not be installed is listed in its file `skipped`, and tried again by the next run.
set -euo pipefail

self=$(realpath "$0")
cd "$(dirname "$self")/.."
requirements=$PWD/tests/requirements.txt
lock=$PWD/tests/requirements.lock # each package with the hash of its file; packaging/lock.py makes it
# Without these no test runs at all.
base=(numpy pillow pytest xxhash)
python=/usr/bin/python3

cache=${XDG_CACHE_HOME:-$HOME/.cache}/augurfs
mkdir -p "$cache"
hash_of() { { "$python" --version; cat "$1"; } | sha256sum | cut -c1-16; }
hash=$(hash_of "$requirements")
venv=$cache/venv-$hash

if [ $# -gt 0 ]; then
  others=$PWD/tests/requirements-$1.txt
  [ -f "$others" ] || { echo "venv.sh: no $others" >&2; exit 2; }
  folder=$cache/$1-$(hash_of "$others")
  if [ ! -d "$folder" ]; then
    venv=$("$self")
    partial=$(mktemp -d "$cache/partial-$1.XXXXXX")
    trap 'rm -rf "$partial"' EXIT
    echo "venv.sh: making $folder" >&2
    # What is there as source alone is built with what the environment has: pip would fetch tools for it without their hashes.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps --require-hashes \
      --no-build-isolation --target "$partial" -r "$others" >&2 </dev/null
    # Who comes second finds the name taken, by the same packages.
    mv -T "$partial" "$folder" 2>/dev/null || [ -d "$folder" ]
  fi
  echo "$folder"
  exit
fi

exec 9>"$cache/venv-$hash.lock"
if ! flock -n 9; then
  echo "venv.sh: another run is making $venv; waiting for it" >&2
  flock 9
fi

# The part of the lock that begins with this line of the requirements: it and what it needs, with their hashes.
part_of() { awk -v head="## $1" '$0 == head { on = 1; next } /^## / { on = 0 } on && NF' "$lock"; }

install() { # VENV LINE
  local rows
  if ! grep -qxF "## $2" "$lock"; then
    echo "venv.sh: $lock has no part for $2: run packaging/lock.py" >&2
    return 1
  fi
  rows=$(mktemp)
  part_of "$2" >"$rows"
  if [ ! -s "$rows" ]; then # what came before needs it, and has brought it
    rm -f "$rows"
    return 0
  fi
  # No file that is not the one in the lock, and none that is not in it.
  local status=0
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps --require-hashes \
    -r "$rows" >&2 </dev/null || status=$?
  rm -f "$rows"
  return "$status"
}

pins() { grep -vE '^[[:space:]]*(#|$)' "$requirements"; }

is_base() { printf '%s\n' "${base[@]}" | grep -qx "${1%%==*}"; }

if [ ! -d "$venv" ]; then
  partial=$cache/partial-$hash
  rm -rf "$partial"
  echo "venv.sh: making $venv (about 8 GB, three minutes)" >&2
  "$python" -m venv "$partial"
  for pin in $(pins); do
    if is_base "$pin"; then install "$partial" "$pin"; fi
  done
  pins | while read -r pin; do is_base "$pin" || echo "$pin"; done >"$partial/skipped"
  mv "$partial" "$venv"
fi

if [ -s "$venv/skipped" ]; then
  : >"$venv/skipped.new"
  while read -r pin; do
    echo "venv.sh: installing $pin" >&2
    install "$venv" "$pin" || echo "$pin" >>"$venv/skipped.new"
  done <"$venv/skipped"
  mv "$venv/skipped.new" "$venv/skipped"
fi
echo "$venv"
