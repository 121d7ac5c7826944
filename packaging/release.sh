#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the packages of a release and tries each in new systems: see usage.
set -euo pipefail

suites="bookworm trixie bullseye"
usage() {
  cat <<END
usage: packaging/release.sh [--from BUILD] [--no-check] [--suites "NAMES"] [--roots FOLDER] [OUTDIR]
Builds programs that need no shared library, and makes of them, in OUTDIR (build/release-packages):
  a Debian package, for Debian 11 to 13, Ubuntu 22.04 and 24.04
  a tarball, for any Linux on this processor
  a wheel, for pip
  a folder from which docker, podman or buildah make an image
Then it installs each in new systems, packs and mounts photographs there, and compares all bytes; the tarball also in a system
without any library. Prints what is in each, with sizes. Debian 12, as root or with sudo; the checks need root. Takes a quarter of an hour on two cores.
  --from BUILD      packs the programs of this build folder, which need shared libraries: all is then for this release of Debian alone
  --no-check        does not try them
  --suites "NAMES"  releases of Debian to try them in, or of Ubuntu with the address of its archive: jammy=ADDRESS [$suites]
  --roots FOLDER    keeps the new systems there, and takes those that are there [made anew each time]
END
}

# Of an option with a value: its name, what it names, the value.
value() { [ -n "${3-}" ] || { echo "release.sh: $1: $2 missing behind it" >&2; exit 2; }; }

build= check=1 roots= outdir=
while [ $# -gt 0 ]; do
  case $1 in
    --from) value "$1" "a build folder is" "${2-}"; build=$(realpath "$2"); shift 2 ;;
    --no-check) check=; shift ;;
    --suites) value "$1" "the names of releases are" "${2-}"; suites=$2; shift 2 ;;
    --roots) value "$1" "a folder is" "${2-}"; roots=$(realpath -m "$2"); shift 2 ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "release.sh: $1: no such option" >&2; usage >&2; exit 2 ;;
    *) [ -z "$outdir" ] || { usage >&2; exit 2; }; outdir=$(realpath -m "$1"); shift ;;
  esac
done

cd "$(dirname "$0")/.."
here=$PWD/packaging/release
outdir=${outdir:-$PWD/build/release-packages}
work=$(mktemp -d "${TMPDIR:-/tmp}/augur-release.XXXXXX")
# A root that was cut short is no root.
trap 'rm -rf --one-file-system "$work" ${roots:+"$roots"/*.partial}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

started=$SECONDS
step() { printf '\n== %s  (%d s)\n' "$1" $((SECONDS - started)); }

static=
if [ -z "$build" ]; then
  static=1
  build=$PWD/build/static
  step "Packages and libraries"
  packaging/deps.sh release
  libraries=$("$here/static_libraries.sh")
  step "Build (tools/static_names.cc answers the linker's warnings about getaddrinfo and the like)"
  cmake --preset static -DAUGUR_STATIC_FOLDER="$libraries" >/dev/null
  cmake --build "$build"
fi
for program in augurfs augurpack augurctl; do
  [ -x "$build/tools/$program" ] || { echo "release.sh: $build/tools/$program is not built" >&2; exit 2; }
done

step "Packages of the release"
version=$(sed -n 's/^project(augurfs VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
machine=$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)}
# What is for this machine alone need not be small.
LEVEL=9
[ -n "$static" ] || LEVEL=1
export SOURCE_DATE_EPOCH LEVEL
stage=$work/stage
cmake --install "$build" --prefix "$stage" --strip >/dev/null
"$here/add_texts.sh" "$stage" ${static:+"${libraries}/licences"}
mkdir -p "$outdir/image"
# Of an earlier run; what else is there stays.
rm -f "$outdir"/augurfs_*_*.deb "$outdir"/augurfs-*-linux-*.tar.gz "$outdir"/augurfs-*-py3-none-*.whl "$outdir"/image/augurfs_*_*.deb

name=augurfs-$version-linux-$machine
tarball=$outdir/$name.tar.gz
tar -C "$work" --transform "s,^stage,$name," --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  -cf - stage | gzip -n"$LEVEL" >"$tarball"
deb=$("$here/make_deb.sh" "$stage" "$version" ${static:+--static} "$outdir")
# PEP 600: the C library need not be new, as there is none.
platform=linux_$machine
[ -z "$static" ] || platform=manylinux_2_17_$machine.musllinux_1_1_$machine
wheel=$(python3 "$here/make_wheel.py" "$stage" "$version" "$platform" "$outdir")
cp packaging/container/Dockerfile "$deb" "$outdir/image"
(cd "$outdir" && sha256sum -- augurfs_*.deb augurfs-*-linux-*.tar.gz augurfs-*.whl >SHA256SUMS)

size() { numfmt --to=si --suffix=B --format=%.1f "$(stat -c %s "$1")"; }
echo "$outdir:"
for file in "$deb" "$tarball" "$wheel"; do printf '  %-70s %8s\n' "$(basename "$file")" "$(size "$file")"; done
echo "in each:"
for program in augurfs augurpack augurctl; do
  needs=$(readelf -d "$stage/bin/$program" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | paste -sd ' ' -)
  printf '  %-70s %8s\n' "bin/$program (shared libraries: ${needs:-none})" "$(size "$stage/bin/$program")"
done
(cd "$stage" && find share lib -type f | sort | while read -r file; do printf '  %-70s %8s\n' "$file" "$(size "$file")"; done)
echo "the Debian package depends on: $(dpkg-deb -f "$deb" Depends)"

[ -n "$check" ] || exit 0
step "Photographs to try them with"
/usr/bin/python3 bench/dataset.py --quiet --files 60 --seed 1 "$work/photos"
"$here/check_packages.sh" "$outdir" "$work/photos" "${roots:-$work/roots}" "$suites"
step "All are tried"
