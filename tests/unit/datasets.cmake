# SPDX-License-Identifier: Apache-2.0
augur_test(datasets
  unit/datasets/class_labels_test.cc
  unit/datasets/epoch_order_test.cc
  unit/datasets/file_path_test.cc
  unit/datasets/order_file_test.cc
  unit/datasets/path_order_test.cc
  unit/datasets/sequence_detector_test.cc
  LAYERS datasets)
