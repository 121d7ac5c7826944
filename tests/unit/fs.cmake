augur_test(fs unit/fs/tree_test.cc unit/fs/read_test.cc unit/fs/virtual_folder_test.cc
  unit/fs/decode_pool_test.cc unit/fs/decoded_files_test.cc unit/fs/file_reader_test.cc unit/fs/local_shards_test.cc unit/fs/hostile_test.cc unit/io/hostile_engine.cc unit/fs/read_failures_test.cc unit/fs/shard_opener_test.cc unit/fs/render_budget_test.cc unit/fs/rendered_cache_test.cc unit/fs/lasting_views_test.cc unit/fs/node_numbers_test.cc unit/fs/tree_changes_test.cc unit/fs/views_test.cc unit/fs/views_ahead_test.cc
  unit/fs/views_memory_test.cc tools/odd_jpeg.cc LAYERS fs decode views)
