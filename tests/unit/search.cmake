# SPDX-License-Identifier: Apache-2.0
augur_test(search
  unit/search/chain_scan_test.cc unit/search/courtesy_test.cc unit/search/done.cc unit/search/remainder_test.cc
  unit/search/searcher_test.cc unit/search/seed_scan_test.cc unit/search/share_budget_test.cc
  LAYERS search)
