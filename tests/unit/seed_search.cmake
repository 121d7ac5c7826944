# SPDX-License-Identifier: Apache-2.0
augur_test(seed_search
  unit/seed_search/core_contention_test.cc unit/seed_search/done.cc unit/seed_search/mt19937_scan_test.cc unit/seed_search/remainder_test.cc
  unit/seed_search/searcher_test.cc unit/seed_search/seed_scan_test.cc
  LAYERS seed_search)
