# SPDX-License-Identifier: Apache-2.0
augur_test(bench_policy
  unit/bench/policy_belady_test.cc unit/bench/policy_keep_test.cc ${PROJECT_SOURCE_DIR}/bench/policy_belady.cc
  LAYERS base)
target_include_directories(bench_policy_test PRIVATE ${PROJECT_SOURCE_DIR}/bench)
