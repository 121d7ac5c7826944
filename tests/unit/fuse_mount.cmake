# SPDX-License-Identifier: Apache-2.0
augur_test(fuse_mount
  unit/fuse/broker_test.cc unit/fuse/connection_abort_test.cc unit/fuse/mount_helper_test.cc unit/fuse/mount_kill_test.cc unit/fuse/mount_push_test.cc unit/fuse/uring_offer_test.cc
  unit/fuse/other_process.cc unit/fuse/test_mount.cc
  LAYERS fuse)

# Preloaded by tests/mount/test_old_kernel.py and test_untimely_deaths.py.
foreach(preloaded old_kernel slow_crash slow_fork)
  add_library(${preloaded} MODULE tools/${preloaded}.cc)
  set_target_properties(${preloaded} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
endforeach()
