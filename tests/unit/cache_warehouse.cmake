# SPDX-License-Identifier: Apache-2.0
augur_test(cache_warehouse
  unit/cache/shared_folder_test.cc unit/cache/warehouse_damage_test.cc unit/cache/warehouse_file_test.cc unit/cache/warehouse_process_test.cc
  unit/cache/warehouse_room_test.cc unit/cache/warehouse_scribble_test.cc unit/cache/warehouse_step_test.cc unit/cache/warehouse_support.cc
  unit/cache/warehouse_test.cc
  LAYERS cache)
