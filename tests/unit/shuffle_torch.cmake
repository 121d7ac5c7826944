# SPDX-License-Identifier: Apache-2.0
augur_test(shuffle_torch
  unit/shuffle/known_samplers_test.cc
  unit/shuffle/mt19937_test.cc
  unit/shuffle/sampler_spec_test.cc
  unit/shuffle/share_test.cc
  unit/shuffle/torch_permutation_test.cc
  unit/shuffle/torch_sampler_test.cc
  LAYERS shuffle)

# For the tests that compare with the real libraries; it lies beside the programs, where they look for it.
add_executable(order_dump tools/order_dump.cc)
target_link_libraries(order_dump PRIVATE augur_shuffle)
set_target_properties(order_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
