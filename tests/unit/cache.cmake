# SPDX-License-Identifier: Apache-2.0
augur_test(cache
  unit/cache/buffer_pool_test.cc unit/cache/record_cache_stress_test.cc unit/cache/record_cache_test.cc
  LAYERS cache)
