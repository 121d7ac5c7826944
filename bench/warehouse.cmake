# SPDX-License-Identifier: Apache-2.0
# Compares with LMDB, and is left out where that is missing.
if(lmdb_FOUND)
  add_executable(warehouse_bench warehouse.cc)
  target_link_libraries(warehouse_bench PRIVATE augur_cache PkgConfig::lmdb CLI11::CLI11 nlohmann_json::nlohmann_json)
endif()
