#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# memcached for -o fleet-cache= (src/fleet/FLEET.md) on each node of a job, for as long as the job lasts. In slurm.conf:
#   Prolog=/etc/slurm/augurfs_fleet.sh
#   Epilog=/etc/slurm/augurfs_fleet.sh
# Each job has a port of its own. In the job's script:
#   port=$((20000 + SLURM_JOB_ID % 10000))
#   fleet=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed "s/\$/:$port/" | paste -sd_ -)
#   srun --ntasks-per-node=1 augurfs s3://BUCKET/train.augur "$MOUNT" -o "fleet-cache=$fleet"
# AUGURFS_FLEET_LISTEN is the address of the private network (default: that of the node's name), AUGURFS_FLEET_MEGABYTES the memory
# (default: a quarter of the node's).
# A prolog that fails drains the node: without a cache the job is only slower, so this never fails.
run=${AUGURFS_FLEET_RUN:-/run}
pid_file=$run/augurfs-fleet-$SLURM_JOB_ID.pid

case $SLURM_SCRIPT_CONTEXT in
  prolog_slurmd)
    listen=${AUGURFS_FLEET_LISTEN:-${SLURMD_NODENAME:-$(hostname)}}
    megabytes=${AUGURFS_FLEET_MEGABYTES:-$(awk '/^MemTotal:/ { print int($2 / 4096) }' /proc/meminfo)}
    memcached -d -P "$pid_file" -u "$SLURM_JOB_USER" -M -I 2m -t 4 -c 4096 -U 0 -l "$listen" \
      -p "$((20000 + SLURM_JOB_ID % 10000))" -m "$megabytes"
    ;;
  epilog_slurmd)
    # memcached removes the file when it ends, and the system when it starts.
    [ ! -f "$pid_file" ] || kill "$(cat "$pid_file")"
    ;;
esac
exit 0
