#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 to a mounted dataset: see usage.
set -euo pipefail

photos=2500
usage() {
  cat <<END
usage: packaging/quickstart.sh [--photos N]
Installs what is needed (Debian 12, root or sudo), builds augurpack and augurfs, makes $photos photographs in ImageNet's
layout, packs and mounts them, and runs epochs of PyTorch's ImageFolder from the folder and from the mount, side by side.
Uses the torchvision of your python3, or Debian's if it has none. Takes two to six minutes on two cores; leaves nothing
mounted; can be run again. Everything is kept in build/.
END
}

while [ $# -gt 0 ]; do
  case $1 in
    --photos) photos=${2:?"--photos needs a number"}; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "quickstart.sh: $1: no such option" >&2; usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "$0")/.."
root=$PWD
build=$root/build/release
work=$root/build/quickstart
folder=$work/photos-$photos
store=$work/photos-$photos.augur
mount=$work/mount
mkdir -p "$work"

is_mounted() { mountpoint -q "$mount" 2>/dev/null || { stat "$mount" 2>&1 || true; } | grep -q 'not connected'; }
unmount() {
  for _ in 1 2 3 4 5; do
    is_mounted || return 0
    if [ "$(id -u)" -eq 0 ]; then umount "$mount" 2>/dev/null || sleep 1; else fusermount3 -u "$mount" 2>/dev/null || sleep 1; fi
  done
  if [ "$(id -u)" -eq 0 ]; then umount -l "$mount"; else fusermount3 -uz "$mount"; fi
}
# What a mount that ran at $1 times the speed of the folder shows.
verdict() {
  awk -v ratio="$1" 'BEGIN {
    if (ratio !~ /^[0-9.]+$/) print "The two rates could not be compared: see above."
    else if (ratio + 0 >= 0.97) print "1 is as fast, and a few hundredths to either side are chance: packing costs nothing here."
    else printf "The mount took %.0f %% of the speed: that is what it costs here to read through it.\n", 100 * (1 - ratio)
  }'
}
torchvision= # the process that installs it
finish() {
  [ -z "$torchvision" ] || wait "$torchvision" || true
  unmount
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

started=$SECONDS
step() { printf '\n== %s  (%d s)\n' "$1" $((SECONDS - started)); }

step "1/5 Packages"
packaging/deps.sh build photos
python=python3
if ! python3 -c 'import torchvision' 2>/dev/null; then
  echo "Your python3 has no torchvision; Debian's is used. It is installed meanwhile, messages in $work/torchvision.log."
  packaging/deps.sh torchvision >"$work/torchvision.log" 2>&1 &
  torchvision=$!
  python=/usr/bin/python3
fi

step "2/5 Build (the programs only)"
if [ ! -e "$build/CMakeCache.txt" ]; then
  # Several sources are compiled as one, which takes half the time.
  cmake --preset release -DAUGUR_TESTS=OFF -DAUGUR_BENCH=OFF -DCMAKE_UNITY_BUILD=ON
fi
cmake --build "$build" --target augurpack augurfs
unmount # of a run that was killed

step "3/5 $photos photographs in ImageNet's layout"
if [ ! -d "$folder" ]; then
  rm -rf "$folder.partial"
  /usr/bin/python3 bench/dataset.py --files "$photos" --seed 1 "$folder.partial"
  mv "$folder.partial" "$folder"
else
  echo "They are there from an earlier run: $folder"
fi

step "4/5 Pack and mount"
rm -rf "$store"
mkdir -p "$mount"
echo "+ augurpack create $folder $store"
"$build/tools/augurpack" create "$folder" "$store"
echo "+ augurfs $store $mount"
if [ ! -e /dev/fuse ]; then
  echo "quickstart.sh: /dev/fuse is missing: load the kernel's fuse module (modprobe fuse), or start the container with --device /dev/fuse --cap-add SYS_ADMIN" >&2
  exit 2
fi
"$build/tools/augurfs" "$store" "$mount"

if [ -n "$torchvision" ] && ! wait "$torchvision"; then
  cat "$work/torchvision.log" >&2
  echo "quickstart.sh: torchvision could not be installed: see above, then run this again" >&2
  exit 2
fi
torchvision=

step "5/5 PyTorch: the same training epochs from the folder and from the mount"
"$python" bench/imagefolder_epoch.py --check --rounds 3 "folder=$folder" "mount=$mount" | tee "$work/epochs.txt"

ratio=$(awk '/ratio to folder/ { print $NF }' "$work/epochs.txt")
cat <<END

What you see: an unmodified torchvision ImageFolder with a DataLoader read every photograph once an epoch, in shuffled
order, decoded, cropped and normalised it. "folder" is the plain folder on your disk, "mount" is the same tree, served
from a few large files. $ratio means that the mount ran at $ratio times the speed of the folder.
$(verdict "$ratio")
Both were in the page cache, and your processor spends most of the time decoding JPEG. So this is the case in which
a mount gains nothing, and no sample is changed. What it gains (a scan, a cold disk, a copy of a million files) is
measured by bench/compare.py; bench/README.md explains it.

Try it yourself:
  $build/tools/augurfs $store $mount
  ls $mount; your_script.py --data $mount
  fusermount3 -u $mount
It took $((SECONDS - started)) seconds. Everything made is in $work and $build.
END
