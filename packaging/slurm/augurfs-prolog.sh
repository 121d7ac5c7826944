#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prolog of slurmd: mounts stores on a node before a job begins there, once for all jobs of the node. In slurm.conf:
#   Prolog=/etc/slurm/augurfs-prolog.sh
#   Epilog=/etc/slurm/augurfs-epilog.sh
#   PrologFlags=Alloc
# /etc/augurfs/slurm has a line for each mount: STORE MOUNTPOINT [OPTIONS]. Lines that begin with # are left out. Without OPTIONS it is
# allow_other, so that the users of all jobs can read. A store that cannot be mounted is an error, and Slurm drains the node.
set -eu

list=${AUGURFS_LIST:-/etc/augurfs/slurm}
state=${AUGURFS_STATE:-/run/augurfs-slurm}

mkdir -p "$state/jobs"
exec 9>"$state/lock"
flock 9
while read -r store point options; do
  case $store in '' | '#'*) continue ;; esac
  # The second asks the daemon: of one that has died nothing is left but the mount point, which augurfs clears.
  if mountpoint -q "$point" && stat "$point/." >/dev/null 2>&1; then continue; fi
  mkdir -p "$point" 2>/dev/null || true
  # The daemon is no part of the job: it leaves this process, and does not have its lock.
  augurfs "$store" "$point" -o "${options:-allow_other}" 9>&-
done <"$list"
: >"$state/jobs/$SLURM_JOB_ID"
