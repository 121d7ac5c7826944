# SPDX-License-Identifier: Apache-2.0
augur_test(cache
  unit/cache/buffer_pool_test.cc unit/cache/record_cache_stress_test.cc unit/cache/record_cache_test.cc
  unit/cache/sealable_buffer_test.cc
  LAYERS cache)
augur_test(cache_disk
  unit/cache/disk_cache_test.cc unit/cache/disk_cache_damage_test.cc unit/cache/disk_cache_folder_test.cc
  unit/cache/disk_cache_index_test.cc unit/cache/disk_cache_process_test.cc unit/cache/disk_cache_room_test.cc
  unit/cache/disk_cache_support.cc unit/cache/retained_cache_support.cc unit/cache/write_behind_test.cc
  LAYERS cache io)
