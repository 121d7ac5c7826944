# SPDX-License-Identifier: Apache-2.0
add_executable(make_index make_index.cc)
target_link_libraries(make_index PRIVATE augur_store CLI11::CLI11)
