# SPDX-License-Identifier: Apache-2.0
add_executable(readfiles readfiles.cc)
target_link_libraries(readfiles PRIVATE augur_base CLI11::CLI11 nlohmann_json::nlohmann_json Threads::Threads)
