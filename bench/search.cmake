# SPDX-License-Identifier: Apache-2.0
add_executable(search_bench search.cc)
target_link_libraries(search_bench PRIVATE augur_seed_search CLI11::CLI11 nlohmann_json::nlohmann_json)
