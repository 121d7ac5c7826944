#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_packages.sh OUTDIR PHOTOS ROOTS SUITES: installs each package of OUTDIR in new systems of these releases of Debian, or of Ubuntu
# with the address of its archive (jammy=ADDRESS). It runs core_check.sh there; the tarball also in a system of busybox alone, which has
# no C library. Makes the systems in the folder ROOTS, with debootstrap, where they are not there. The image is made by buildah. Needs root.
#
# A trial has an overlay in memory over its system, and mount and process namespaces, which all end with it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
outdir=$(realpath "$1") photos=$(realpath "$2") roots=$(realpath -m "$3") suites=$4
[ "$(id -u)" -eq 0 ] || { echo "check_packages.sh: needs root; release.sh --no-check makes the packages without it" >&2; exit 2; }
[ -e /dev/fuse ] || { echo "check_packages.sh: /dev/fuse is missing: modprobe fuse" >&2; exit 2; }
mkdir -p "$roots"
# What the trials see.
room=$(mktemp -d)
trap 'rm -rf --one-file-system "$room"' EXIT
chmod 755 "$room"
mkdir "$room/root" "$room/given"
cp "$outdir"/augurfs_*_*.deb "$outdir"/augurfs-*-linux-*.tar.gz "$outdir"/augurfs-*-py3-none-*.whl "$here/core_check.sh" "$room/given"
cp -r "$photos" "$room/given/photos"
chmod -R a+rX "$room/given"

mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | sort | uniq -c | sort -rn | awk '/debian$/ { print $2; exit }')
make_root() { # SUITE [ADDRESS OF UBUNTU'S ARCHIVE]
  [ ! -d "$roots/$1" ] || return 0
  echo "making a system of $1"
  rm -rf "$roots/$1.partial"
  local from=("$1" "$roots/$1.partial" "$mirror")
  # Debian's debootstrap knows all of Ubuntu's by one script. It checks signatures where it has Ubuntu's keys, apt does in any case.
  [ -z "${2-}" ] || from=(--components=main,universe "$1" "$roots/$1.partial" "$2" gutsy)
  debootstrap --variant=minbase "${from[@]}" >"$roots/$1.log" 2>&1 ||
    { tail -3 "$roots/$1.log" >&2; rm -rf "$roots/$1.partial"; echo "check_packages.sh: no system of $1 can be made" >&2; return 1; }
  rm -f "$roots/$1.log"
  mv "$roots/$1.partial" "$roots/$1"
}

make_bare_root() {
  rm -rf "$roots/bare"
  mkdir -p "$roots/bare/bin" "$roots/bare/dev" "$roots/bare/proc" "$roots/bare/etc" "$roots/bare/tmp" "$roots/bare/usr/local"
  cp "$(command -v busybox)" "$roots/bare/bin/busybox"
  chroot "$roots/bare" /bin/busybox --install -s /bin
}

# $1: the system, $2: the room, $3: commands of the trial.
trial='
set -e
mount -t tmpfs tmpfs "$2/root"
cd "$2/root"
mkdir upper work root
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/root/upper,workdir=$2/root/work" root
cd root
mount --rbind /dev dev
# As udev has it: for every user.
mknod -m 666 "$2/root/fuse" c 10 229
mount --bind "$2/root/fuse" dev/fuse
mount -t proc proc proc
# Every system that was started has it, and fusermount3 wants it.
[ -e etc/mtab ] || ln -s /proc/self/mounts etc/mtab
mkdir -p given
mount --bind "$2/given" given
cp -L /etc/resolv.conf etc/resolv.conf
exec env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot . sh -euc "$3"'
try() { # SYSTEM WHAT COMMANDS
  local started=$SECONDS libc
  libc=$(chroot "$roots/$1" dpkg-query -W -f 'glibc ${Version}' libc6 2>/dev/null || echo "no C library")
  printf '\n-- %s in %s (%s)\n' "$2" "$1" "$libc"
  timeout --kill-after=10 600 unshare --mount --propagation private --pid --fork --kill-child sh -c "$trial" sh "$roots/$1" "$room" "$3" \
    </dev/null || { echo "check_packages.sh: $2 FAILED in $1" >&2; failed=1; return 0; }
  echo "passed in $((SECONDS - started)) s"
}

failed=
quiet='>/tmp/log 2>&1 || { cat /tmp/log; exit 1; }'
apt="apt-get update $quiet; apt-get install -y --no-install-recommends"
core='sh /given/core_check.sh /given/photos'
make_bare_root
try bare "the tarball" "tar -xzf /given/augurfs-*.tar.gz -C /usr/local --strip-components=1; $core"
for wanted in $suites; do
  IFS== read -r suite archive <<<"$wanted"
  make_root "$suite" "$archive" || { failed=1; continue; }
  try "$suite" "the tarball" "tar -xzf /given/augurfs-*.tar.gz -C /usr/local --strip-components=1; $core"
  try "$suite" "the Debian package" "$apt /given/augurfs_*.deb $quiet; $core; apt-get purge -y augurfs $quiet; ! command -v augurfs"
  try "$suite" "the wheel" "$apt python3-venv fuse3 $quiet; python3 -m venv /root/e
    /root/e/bin/pip install --no-index --no-deps --disable-pip-version-check --quiet /given/augurfs-*.whl
    chmod a+rx /root /root/e; PATH=/root/e/bin:\$PATH; $core; pip uninstall -y augurfs >/dev/null; ! command -v augurfs"
done

# The image, on the first system, in place of that which the Dockerfile names.
suite=${suites%%[ =]*}
if [ -n "$suite" ] && [ -d "$roots/$suite" ]; then
  store() { buildah --root "$room/store" --runroot "$room/run" --storage-driver vfs "$@"; }
  make_image() {
    local base made
    base=$(store from scratch) && store add --quiet "$base" "$roots/$suite" / && store commit --quiet "$base" localhost/base &&
      store bud --isolation chroot --build-arg BASE=localhost/base --tag localhost/augurfs "$outdir/image" &&
      made=$(store from localhost/augurfs) && ln -sfn "$(store mount "$made")" "$roots/image"
  }
  if make_image >"$room/image.log" 2>&1; then
    try image "the image on $suite" "$core"
    rm "$roots/image"
  else
    tail -5 "$room/image.log" >&2
    echo "check_packages.sh: the image could not be made" >&2
    failed=1
  fi
fi
[ -z "$failed" ]
