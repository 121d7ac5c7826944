augur_test(store
  unit/store/entry_refusal_test.cc
  unit/store/hash_test.cc
  unit/store/header_refusal_test.cc
  unit/store/identity_test.cc
  unit/store/index_blocks_test.cc
  unit/store/manifest_test.cc
  unit/store/open_test.cc
  unit/store/refusal.cc
  unit/store/refusal_test.cc
  unit/store/rights_test.cc
  unit/store/root_hash_test.cc
  unit/store/sha256_test.cc
  unit/store/shard_refusal_test.cc
  unit/store/shard_test.cc
  unit/store/store_test.cc
  unit/store/test_store.cc
  unit/store/verify_test.cc
  LAYERS store
  LIBS PkgConfig::xxhash PkgConfig::crypto)
