# SPDX-License-Identifier: Apache-2.0
augur_test(order
  unit/order/file_path_test.cc
  unit/order/order_file_test.cc
  unit/order/path_order_test.cc
  unit/order/sequence_detector_test.cc
  LAYERS order)
