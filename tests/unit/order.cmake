# SPDX-License-Identifier: Apache-2.0
augur_test(order
  unit/order/file_path_test.cc
  unit/order/order_file_test.cc
  unit/order/path_order_test.cc
  unit/order/sequence_detector_test.cc
  LAYERS order)
augur_test(cache_policy unit/cache/policy_belady_test.cc unit/cache/policy_keep_test.cc LAYERS cache)
