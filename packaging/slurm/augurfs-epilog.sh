#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Epilog of slurmd, beside augurfs-prolog.sh: unmounts when the last job of the node has ended, whatever it ended by.
set -eu

list=${AUGURFS_LIST:-/etc/augurfs/slurm}
state=${AUGURFS_STATE:-/run/augurfs-slurm}

mkdir -p "$state/jobs"
exec 9>"$state/lock"
flock 9
rm -f "$state/jobs/$SLURM_JOB_ID"
[ -z "$(ls -A "$state/jobs")" ] || exit 0
while read -r store point _; do
  case $store in '' | '#'*) continue ;; esac
  # -l: a process that the job has left must not keep the mount.
  if mountpoint -q "$point"; then umount -l "$point"; fi
done <"$list"
