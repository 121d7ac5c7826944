# SPDX-License-Identifier: Apache-2.0
# A file system for tests of stores on shared file systems, beside the programs.
add_executable(far_folder tools/far_folder.cc tools/far_nodes.cc tools/far_requests.cc)
target_link_libraries(far_folder PRIVATE augur_base CLI11::CLI11 nlohmann_json::nlohmann_json PkgConfig::fuse3)
set_target_properties(far_folder PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
