# SPDX-License-Identifier: Apache-2.0
add_executable(netlag remote/netlag.cc remote/slow_line.cc remote/tun_namespace.cc)
target_link_libraries(netlag PRIVATE augur_base CLI11::CLI11 nlohmann_json::nlohmann_json)
