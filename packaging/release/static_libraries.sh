#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the libraries that programs without shared libraries need (the preset `static`) and that Debian has no archive (.a) of,
# or, like libcurl, one that needs libraries without an archive. Prints their folder (progress goes to stderr).
#
# They are built from Debian's sources of the versions that are installed, whose signatures apt checks. They lie in
# ~/.cache/augurfs/static-<hash of the versions and of this file>, built beside their place and renamed: a build that was cut
# short never counts.
set -euo pipefail

self=$(realpath "$0")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/augurfs
mkdir -p "$cache"

# Source package, package that is installed.
rows="fmtlib libfmt-dev
spdlog libspdlog-dev
highway libhwy-dev
xxhash libxxhash-dev
curl libcurl4-openssl-dev"

# A version of a package may be a rebuild (+b1) of its source's.
versions=$(while read -r source package; do
  dpkg-query -W -f="$source=\${source:Version}\n" "$package"
done <<<"$rows")
place=$cache/static-$({ echo "$versions"; cat "$self"; } | sha256sum | cut -c1-16)
if [ -d "$place" ]; then
  echo "$place"
  exit
fi

exec 9>"$cache/static.lock"
flock 9
work=$(mktemp -d "$cache/partial-static.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
echo "static_libraries.sh: making $place (two minutes)" >&2

# The system's sources of packages, as sources of sources, in lists of our own.
mkdir -p parts lists/partial
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ -f "$file" ] || continue
  case $file in
    *.list) sed -n 's/^deb /deb-src /p' "$file" >"parts/$(basename "$file")" ;;
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" >"parts/$(basename "$file")" ;;
  esac
done
apt=(apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/parts" -o Dir::State::Lists="$work/lists"
  -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
# A list of another vendor may have no sources. What is missing in the end is an error below.
"${apt[@]}" update >update.log 2>&1 || true
# shellcheck disable=SC2086 # one word a version
"${apt[@]}" source --download-only $versions >&2 || { cat update.log >&2; exit 1; }

# apt has compared it with the archive's signed lists. What else would be checked is its maintainer's key.
unpack() { dpkg-source --no-check -x "$work/$1"_*.dsc "$work/$1" >/dev/null; } # SOURCE
build() { # SOURCE OPTIONS...: with CMake, as a static library that a position-independent program can have
  unpack "$1"
  cmake -S "$work/$1" -B "$work/$1-build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_INSTALL_PREFIX="$work/installed" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF \
    "${@:2}" >"$1.log" 2>&1 &&
    cmake --build "$work/$1-build" --target install >>"$1.log" 2>&1 ||
    { tail -30 "$1.log" >&2; echo "static_libraries.sh: $1 could not be built: see above" >&2; exit 1; }
  echo "static_libraries.sh: $1 is built" >&2
}
build fmtlib -DFMT_DOC=OFF -DFMT_TEST=OFF
build spdlog -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF -DSPDLOG_BUILD_TESTS=OFF
build highway -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_EXAMPLES=OFF
# HTTP with TLS, by the system's resolver; nothing that wants a library of its own.
build curl -DHTTP_ONLY=ON -DBUILD_CURL_EXE=OFF -DCURL_USE_OPENSSL=ON -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF \
  -DUSE_LIBIDN2=OFF -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DUSE_NGHTTP2=OFF -DENABLE_MANUAL=OFF \
  -DCURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt -DCURL_CA_PATH=/etc/ssl/certs

# Debian's archive lacks the choice of the widest instructions at run time, which its shared library has.
unpack xxhash
objects=()
for file in xxhash $([ "$(uname -m)" != x86_64 ] || echo xxh_x86dispatch); do
  gcc -O3 -fPIC -c "$work/xxhash/$file.c" -o "$work/$file.o"
  objects+=("$work/$file.o")
done
ar rcs "$work/installed/lib/libxxhash.a" "${objects[@]}"

mkdir "$work/place"
mv "$work/installed/lib"/*.a "$work/place"
mkdir "$work/place/licences"
while read -r source package; do cp "/usr/share/doc/$package/copyright" "$work/place/licences/$source"; done <<<"$rows"
mv -T "$work/place" "$place"
echo "$place"
