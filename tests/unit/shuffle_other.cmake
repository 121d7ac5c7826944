# SPDX-License-Identifier: Apache-2.0
augur_test(shuffle_other
  unit/shuffle_other/end_shuffle_search_test.cc unit/shuffle_other/list_shuffle_test.cc
  unit/shuffle_other/numpy_random_test.cc unit/shuffle_other/python_sampler_test.cc unit/shuffle_other/samplers_test.cc unit/shuffle_other/tf_shuffle_test.cc
  LAYERS shuffle)

# For the tests that compare with the real libraries.
add_executable(shuffle_dump tools/shuffle_dump.cc)
target_link_libraries(shuffle_dump PRIVATE augur_shuffle)
set_target_properties(shuffle_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
