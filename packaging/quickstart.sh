#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 to a mounted dataset: see usage.
set -euo pipefail

photos=1200
usage() {
  cat <<END
usage: packaging/quickstart.sh [--quick] [--photos N]
Installs what is needed (Debian 12, root or sudo), builds the programs, makes $photos photographs in ImageNet's layout, packs
and mounts them, and shows in one table how fast PyTorch reads the folder and the mount: from a cold disk, from slow disks, and
from memory. Uses the torchvision of your python3, or Debian's if it has none. Takes three to eight minutes on two cores; leaves
nothing mounted; can be run again. Everything is kept in build/.
  --quick     measures for one minute: no slow disks
  --photos N  another number of photographs
END
}

quick=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1; shift ;;
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
cmake --build "$build" --target augurpack augurfs augurctl
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

step "5/5 PyTorch: the same script, from the folder and from the mount"
unmount # each row has a mount of its own
"$python" bench/gains.py ${quick:+--quick} "$folder" "$store" "$work/measured"

cat <<END

The script is an unmodified torchvision ImageFolder with a DataLoader; it read every photograph once an epoch, in shuffled
order, and decoded, cropped and normalised it. "folder" is the plain folder on your disk, "mount" is the same tree, served
from a few large files. Each figure is one run: some hundredths to either side are chance. Where decoding JPEG is all that
the script waits for, a mount gains nothing; the two rows of views show what decoding ahead gains.
How it is measured, and figures of other machines: bench/README.md, bench/RESULTS.md.

Try it yourself:
  $build/tools/augurfs $store $mount
  ls $mount; your_script.py --data $mount
  $build/tools/augurctl status $mount
  fusermount3 -u $mount
It took $((SECONDS - started)) seconds. Everything made is in $work and $build.
END
