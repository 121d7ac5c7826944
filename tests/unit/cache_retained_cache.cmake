# SPDX-License-Identifier: Apache-2.0
augur_test(cache_retained_cache
  unit/cache/shared_folder_test.cc unit/cache/retained_cache_damage_test.cc unit/cache/retained_cache_file_test.cc unit/cache/retained_cache_process_test.cc
  unit/cache/retained_cache_room_test.cc unit/cache/retained_cache_scribble_test.cc unit/cache/retained_cache_shared_test.cc
  unit/cache/retained_cache_step_test.cc unit/cache/retained_cache_support.cc unit/cache/retained_cache_test.cc
  LAYERS cache)
