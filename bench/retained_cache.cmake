# SPDX-License-Identifier: Apache-2.0
# Compares with LMDB, and is left out where that is missing.
if(lmdb_FOUND)
  add_executable(retained_cache_bench retained_cache.cc retained_cache_contenders.cc)
  target_link_libraries(retained_cache_bench PRIVATE augur_cache PkgConfig::lmdb CLI11::CLI11 nlohmann_json::nlohmann_json)
endif()
