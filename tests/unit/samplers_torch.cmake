# SPDX-License-Identifier: Apache-2.0
augur_test(samplers_torch
  unit/samplers/known_samplers_test.cc
  unit/samplers/mt19937_test.cc
  unit/samplers/sampler_description_test.cc
  unit/samplers/rank_subset_test.cc
  unit/samplers/recorded_orders_test.cc
  unit/samplers/sampler_registry_test.cc
  unit/samplers/torch_permutation_test.cc
  unit/samplers/torch_sampler_test.cc
  LAYERS samplers)
target_compile_definitions(samplers_torch_test PRIVATE AUGUR_SHUFFLES_MD="${PROJECT_SOURCE_DIR}/src/samplers/SHUFFLES.md")

# For the tests that compare with the real libraries; it lies beside the programs, where they look for it.
add_executable(order_dump tools/order_dump.cc)
target_link_libraries(order_dump PRIVATE augur_samplers)
set_target_properties(order_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
