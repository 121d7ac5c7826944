# SPDX-License-Identifier: Apache-2.0
add_executable(observe observe.cc observe_peers.cc)
target_link_libraries(observe PRIVATE augur_fuse augur_store CLI11::CLI11 nlohmann_json::nlohmann_json Threads::Threads)
