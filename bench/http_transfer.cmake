# SPDX-License-Identifier: Apache-2.0
add_executable(http_transfer_bench http_transfer.cc)
target_link_libraries(http_transfer_bench PRIVATE augur_http PkgConfig::curl CLI11::CLI11 nlohmann_json::nlohmann_json Threads::Threads)
