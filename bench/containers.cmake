# SPDX-License-Identifier: Apache-2.0
add_executable(containers_bench containers.cc)
target_link_libraries(containers_bench PRIVATE augur_views CLI11::CLI11 nlohmann_json::nlohmann_json)
