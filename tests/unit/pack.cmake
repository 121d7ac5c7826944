# SPDX-License-Identifier: Apache-2.0
augur_test(pack
  unit/http/fault_server.cc
  unit/pack/bucket_source_test.cc
  unit/pack/glob_test.cc
  unit/pack/gzip_stream_test.cc
  unit/pack/listing_test.cc
  unit/pack/member_path_test.cc
  unit/pack/object_stream_test.cc
  unit/pack/read_ahead_test.cc
  unit/pack/read_window_test.cc
  unit/pack/render_window_test.cc
  unit/pack/ring_arena_test.cc unit/pack/shallow_json_test.cc unit/pack/tar_tail_test.cc
  unit/pack/view_walk_test.cc
  unit/pack/walk_test.cc
  LAYERS pack store decode views s3 http LIBS PkgConfig::ssl)
add_executable(container_mutate
  fuzz/container_mutate.cc fuzz/container_once.cc fuzz/mend_sums.cc fuzz/mutate.cc fuzz/mutate_files.cc)
target_include_directories(container_mutate PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(container_mutate PRIVATE augur_pack PkgConfig::deflate)
if(AUGUR_FUZZ)
  add_executable(container_fuzz fuzz/container_fuzz.cc fuzz/container_once.cc fuzz/mend_sums.cc)
  target_include_directories(container_fuzz PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(container_fuzz PRIVATE augur_pack -fsanitize=fuzzer)
endif()
