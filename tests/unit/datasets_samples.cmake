# SPDX-License-Identifier: Apache-2.0
augur_test(datasets_samples
  unit/datasets/natural_compare_test.cc
  unit/datasets/sample_list_test.cc
  unit/datasets/sample_lists_test.cc
  unit/datasets/sample_rule_test.cc
  LAYERS datasets)

# For tests/frameworks/test_sample_lists.py.
add_executable(sample_list_dump tools/sample_list_dump.cc)
target_link_libraries(sample_list_dump PRIVATE augur_datasets)
