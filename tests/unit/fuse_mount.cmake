# SPDX-License-Identifier: Apache-2.0
augur_test(fuse_mount
  unit/fuse/broker_test.cc unit/fuse/mount_helper_test.cc unit/fuse/mount_kill_test.cc unit/fuse/mount_push_test.cc
  unit/fuse/other_process.cc unit/fuse/test_mount.cc
  LAYERS fuse)
