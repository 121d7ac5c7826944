# SPDX-License-Identifier: Apache-2.0
augur_test(samplers_other
  unit/samplers_other/end_shuffle_search_test.cc unit/samplers_other/list_shuffle_test.cc
  unit/samplers_other/numpy_random_test.cc unit/samplers_other/python_sampler_test.cc unit/samplers_other/samplers_test.cc unit/samplers_other/tf_shuffle_test.cc
  LAYERS samplers)

# For the tests that compare with the real libraries.
add_executable(shuffle_dump tools/shuffle_dump.cc)
target_link_libraries(shuffle_dump PRIVATE augur_samplers)
set_target_properties(shuffle_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
