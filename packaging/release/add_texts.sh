#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# add_texts.sh STAGE [LICENCES]: adds to an installed tree what a package has beside the programs: licences, the unit of systemd, the
# files for Slurm and Kubernetes. With LICENCES, a folder of texts of libraries, the licences of all that is linked into the programs.
set -euo pipefail

stage=$(realpath "$1")
licences=${2:-}
cd "$(dirname "$0")/../.."

texts=$stage/share/doc/augurfs
mkdir -p "$texts" "$stage/lib/systemd/system"
{
  echo "AugurFS is under the Apache License 2.0:"
  echo
  cat LICENSE
  if [ -n "$licences" ]; then
    # Debian's packages whose archives the programs have in them (cmake/StaticLibraries.cmake), and the C and C++ libraries.
    for package in libfuse3-dev liburing-dev libjpeg62-turbo-dev libxxhash-dev libarchive-dev nettle-dev libacl1-dev liblzma-dev \
      libsnappy-dev libzstd-dev liblz4-dev zlib1g-dev libssl-dev libpugixml-dev libdeflate-dev libcli11-dev nlohmann-json3-dev libc6-dev \
      "libstdc++-$(g++ -dumpversion)-dev"; do
      printf '\n==== The programs have %s of Debian in them:\n\n' "$package"
      cat "/usr/share/doc/$package/copyright"
    done
    for file in "$licences"/*; do
      printf '\n==== The programs have a library of %s in them, built from the sources of Debian:\n\n' "$(basename "$file")"
      cat "$file"
    done
    printf '\n==== To link the programs with other versions of these: packaging/release.sh in the sources of AugurFS.\n'
  fi
} >"$texts/copyright"
cp CHANGELOG.md "$texts"
cp -r packaging/slurm packaging/kubernetes packaging/systemd/mnt-train.mount "$texts"
cp "packaging/systemd/augurfs@.service" "$stage/lib/systemd/system"
find "$stage" -type d -exec chmod 755 {} +
find "$stage/share" "$stage/lib" -type f ! -name '*.sh' -exec chmod 644 {} +
