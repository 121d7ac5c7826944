# SPDX-License-Identifier: Apache-2.0
augur_test(prefetch_engine
  unit/prefetch_engine/fake_mount.cc unit/prefetch_engine/faulty_engine.cc unit/prefetch_engine/follow_test.cc
  unit/prefetch_engine/fault_test.cc unit/prefetch_engine/full_queue_test.cc unit/prefetch_engine/pushed_pages_test.cc unit/prefetch_engine/read_before_test.cc unit/prefetch_engine/staged_files_test.cc unit/prefetch_engine/start_test.cc unit/prefetch_engine/stop_test.cc
  unit/prefetch_engine/hostile_test.cc unit/prefetch_engine/hurry_test.cc unit/io/hostile_engine.cc unit/prefetch_engine/turn_test.cc unit/prefetch_engine/unhinted_test.cc unit/prefetch_engine/warm_test.cc
  LAYERS prefetch fs)
