#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 to a mounted dataset: see usage.
set -euo pipefail

photos=1200
usage() {
  cat <<END
usage: packaging/quickstart.sh [--quick] [--photos N]
       packaging/quickstart.sh --script COMMAND --data FOLDER [--quick]
Installs what is needed (Debian 12, root or sudo), builds the programs, makes $photos photographs in ImageNet's layout, packs
and mounts them, and shows in one table how fast PyTorch reads the folder and the mount: from a cold disk, from slow disks, and
from memory. Uses the torchvision of your python3, or Debian's if it has none. Takes three to eight minutes on two cores; leaves
nothing mounted; can be run again. Everything is kept in build/.
  --quick     measures for one minute: no slow disks
  --photos N  another number of photographs

With your own script and data, it runs COMMAND on the folder first, then packs FOLDER. It shows in one table how long COMMAND takes on the
folder, on the mount, on decoded images, on a bucket of a local S3 server 30 ms away, and on a tar and a zip that are adopted, and what
augurctl doctor says.
  --script COMMAND  as 'train.py --epochs 1 --data {}': {} becomes the path of the data; without {} the path is the last word. Nothing in
                    the script is changed. It runs twice in each row, so give it few epochs. A first word that ends in .py is run by your
                    python3, or by Debian's if yours lacks a module that Debian's has, as torchvision
  --data FOLDER     what the script reads; it is only read
  --quick           one run each of the folder, the mount and the decoded images
END
}

refuse() {
  echo "quickstart.sh: $1" >&2
  exit 2
}

quick=
script=
data=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1; shift ;;
    --script) [ -n "${2-}" ] || refuse "--script: the command is missing, as 'train.py --data {}'"; script=$2; shift 2 ;;
    --data) [ -n "${2-}" ] || refuse "--data: the folder is missing"; data=$2; shift 2 ;;
    --photos) [ -n "${2-}" ] || refuse "--photos: the number is missing, as 1200"; photos=$2; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "quickstart.sh: $1: no such option" >&2; usage >&2; exit 2 ;;
  esac
done

if [ -n "$script$data" ]; then
  [ -n "$script" ] || refuse "--data $data: --script is missing: the command that reads the data"
  [ -n "$data" ] || refuse "--script $script: --data is missing: the folder that it reads"
  [ -d "$data" ] || refuse "--data $data: no such folder"
  [ -n "$(find -L "$data" -type f -print -quit)" ] || refuse "--data $data: there is no file in it"
  # xargs reads quotes as a shell does.
  program=$(xargs -n1 printf '%s\n' <<<"$script" 2>/dev/null | sed -n 1p) || program=
  case $program in
    "") refuse "--script $script: no program in it, or a quote that does not end" ;;
    *.py | */*) [ -f "$program" ] || refuse "--script $program: no such file, seen from $PWD" ;;
    *) command -v "$program" >/dev/null || refuse "--script $program: no such program" ;;
  esac
  data=$(realpath "$data")
fi

from=$PWD
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

build_programs() {
  if [ ! -e "$build/CMakeCache.txt" ]; then
    # Several sources are compiled as one, which takes half the time.
    cmake --preset release -DAUGUR_TESTS=OFF -DAUGUR_BENCH="$1" -DCMAKE_UNITY_BUILD=ON
  fi
  cmake --build "$build" --target augurpack augurfs augurctl
}
need_fuse() {
  [ -e /dev/fuse ] || refuse "/dev/fuse is missing: load the kernel's fuse module (modprobe fuse), or start the container with --device /dev/fuse --cap-add SYS_ADMIN"
}

if [ -n "$script" ]; then
  need_fuse
  work=$root/build/quickstart/own
  store=$work/data.augur
  mount=$work/mount
  mkdir -p "$work"
  unmount # of a run that was killed
  rm -rf "$work"
  own_script() { (cd "$from" && python3 "$root/bench/own_script.py" ${quick:+--quick} "$@" "$script" "$data" "$work"); }
  # Before all that takes minutes: what is wrong in the command shows here.
  step "1/4 Your script, on the folder: $script"
  command -v python3 >/dev/null || packaging/deps.sh python
  own_script --folder || exit $?
  step "2/4 Packages"
  packaging/deps.sh build
  step "3/4 Build (the programs only)"
  build_programs ON
  # The line to the bucket; a build without the benchmarks has none.
  [ -n "$quick" ] || cmake --build "$build" --target netlag || true
  step "4/4 Pack, and your script on what is packed"
  own_script || exit $?
  cat <<END

Each figure is one run, and other programs change it: run this on a machine that does nothing else. "Times as fast" is the time of the
same run on the folder by that of the row. The first run has nothing in memory, so it waits for the disk most.
Try it yourself:
  $build/tools/augurfs $store /mnt    # then your script, with /mnt in place of $data
  $build/tools/augurctl doctor /mnt
  umount /mnt
It took $((SECONDS - started)) seconds. Everything made is in $work and $build.
END
  exit 0
fi

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
build_programs OFF
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
need_fuse
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
