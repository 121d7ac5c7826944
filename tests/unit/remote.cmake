# SPDX-License-Identifier: Apache-2.0
augur_test(remote
  unit/remote/content_range_test.cc unit/remote/copied_shards_test.cc unit/remote/fleet_shards_test.cc
  unit/remote/fleet_sweep_test.cc unit/remote/sweep_cursor_test.cc
  unit/remote/index_copy_test.cc
  unit/remote/remote_generation_test.cc unit/remote/s3_answers_test.cc unit/remote/s3_error_test.cc
  unit/remote/stored_object_test.cc unit/fleet/memcached_server.cc unit/store/test_store.cc
  LAYERS remote store fleet cache control io
  LIBS PkgConfig::xxhash PkgConfig::crypto)
