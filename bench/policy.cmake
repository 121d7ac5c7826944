# SPDX-License-Identifier: Apache-2.0
add_executable(policy_bench policy.cc policy_belady.cc)
target_link_libraries(policy_bench PRIVATE augur_cache CLI11::CLI11 nlohmann_json::nlohmann_json)
