#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs Debian 12 packages. Does nothing when all are there.
set -euo pipefail

usage() {
  cat <<'END'
usage: packaging/deps.sh WHAT...
  build        what building and running augurfs and augurpack needs
  python       Python, without more
  photos       what the dataset maker (bench/dataset.py) needs
  torchvision  Debian's PyTorch and torchvision for /usr/bin/python3, without CUDA
  release      all of build and photos, and what packaging/release.sh needs beside them
  test         all of build and photos, and what packaging/test.sh needs beside them
  -n           as the first word: only print the packages that are missing
Needs root or sudo, and only when something is missing.
END
}

build=(build-essential cmake ninja-build pkg-config
  libfuse3-dev fuse3 liburing-dev libjpeg62-turbo-dev libxxhash-dev libarchive-dev libspdlog-dev libcli11-dev
  nlohmann-json3-dev libhwy-dev libdeflate-dev libssl-dev zlib1g-dev libcurl4-openssl-dev libpugixml-dev
  libsnappy-dev libzstd-dev)
python=(python3)
photos=(python3 python3-pil plasma-workspace-wallpapers)
torchvision=(python3-torchvision)
# For archives (.a) in place of shared libraries, and for the packages.
release=("${build[@]}" "${photos[@]}" libacl1-dev libfmt-dev liblz4-dev liblzma-dev libzstd-dev nettle-dev
  binutils buildah busybox-static debootstrap dpkg-dev util-linux)
test=("${build[@]}" "${photos[@]}" libgtest-dev libgmock-dev libbenchmark-dev liblmdb-dev libspng-dev libturbojpeg0-dev
  libjpeg-turbo-progs
  ccache clang-16 clang-tidy-16 clang-format-16 libclang-rt-16-dev git
  python3-venv
  fio memcached squashfs-tools squashfuse erofs-utils e2fsprogs
  attr curl faketime file fuse-overlayfs libarchive-tools lz4 man-db mkdocs openssl procps strace systemd-container unzip util-linux zip zstd)

print_only=
wanted=()
for what in "$@"; do
  case $what in
    build | python | photos | torchvision | release | test)
      declare -n list=$what
      wanted+=("${list[@]}")
      ;;
    -n) print_only=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "deps.sh: $what: not one of build, python, photos, torchvision, release, test" >&2; usage >&2; exit 2 ;;
  esac
done
if [ ${#wanted[@]} -eq 0 ]; then
  usage >&2
  exit 2
fi

if ! command -v apt-get >/dev/null; then
  echo "deps.sh: this is not Debian or a relative of it (no apt-get). Install the counterparts of these packages yourself:" >&2
  echo "  ${wanted[*]}" >&2
  exit 2
fi

missing=()
for package in $(printf '%s\n' "${wanted[@]}" | sort -u); do
  if [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null)" != "ii " ]; then
    missing+=("$package")
  fi
done

if [ ${#missing[@]} -eq 0 ]; then
  echo "deps.sh: $*: all packages are installed"
  exit 0
fi
if [ -n "$print_only" ]; then
  printf '%s\n' "${missing[@]}"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "deps.sh: ${#missing[@]} packages are missing, and installing needs root, but there is no sudo. As root, run:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 2
  fi
  as_root=(sudo)
fi

echo "deps.sh: installing ${#missing[@]} packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update
# sudo drops the environment, so the front end is named to it again.
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
  install --no-install-recommends "${missing[@]}" </dev/null
echo "deps.sh: done"
