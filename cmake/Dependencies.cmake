# SPDX-License-Identifier: Apache-2.0
# Every library outside the project, with the oldest version that works and the Debian package that has it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# augur_dependency(TARGET MODULE VERSION PACKAGE): imports pkg-config MODULE as PkgConfig::TARGET, or stops with the package's name.
function(augur_dependency target module version package)
  pkg_check_modules(${target} QUIET IMPORTED_TARGET GLOBAL "${module}>=${version}")
  if(NOT ${target}_FOUND)
    message(FATAL_ERROR "${module} ${version} or newer is needed: apt-get install ${package} "
                        "(./packaging/deps.sh build installs all of them)")
  endif()
  message(STATUS "${module} ${${target}_VERSION}")
endfunction()

# augur_package(NAME VERSION PACKAGE): the same for a library that brings a CMake configuration.
macro(augur_package name version package)
  find_package(${name} ${version} QUIET CONFIG)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} ${version} or newer is needed: apt-get install ${package} "
                        "(./packaging/deps.sh build installs all of them)")
  endif()
  message(STATUS "${name} ${${name}_VERSION}")
endmacro()

augur_dependency(fuse3 fuse3 3.14.0 libfuse3-dev)
augur_dependency(uring liburing 2.3 liburing-dev)
augur_dependency(jpeg libjpeg 2.1.5 libjpeg62-turbo-dev)
augur_dependency(xxhash libxxhash 0.8.1 libxxhash-dev)
augur_dependency(archive libarchive 3.6.2 libarchive-dev)
augur_dependency(crypto libcrypto 3.0.0 libssl-dev)
augur_dependency(curl libcurl 7.88.1 libcurl4-openssl-dev)
augur_dependency(pugixml pugixml 1.13 libpugixml-dev)
augur_dependency(zlib zlib 1.2.13 zlib1g-dev)
augur_dependency(snappy snappy 1.1.9 libsnappy-dev)
augur_dependency(zstd libzstd 1.5.4 libzstd-dev)
augur_dependency(hwy libhwy 1.0.3 libhwy-dev)
augur_dependency(deflate libdeflate 1.14 libdeflate-dev)
augur_package(spdlog 1.10 libspdlog-dev)
augur_package(CLI11 2.1 libcli11-dev)
augur_package(nlohmann_json 3.11 nlohmann-json3-dev)
if(AUGUR_STATIC)
  include(cmake/StaticLibraries.cmake)
endif()
if(AUGUR_BENCH)
  # Not needed by any program but bench/retained_cache.cc, which is left out without it (./packaging/deps.sh test installs it).
  pkg_check_modules(lmdb QUIET IMPORTED_TARGET GLOBAL "lmdb>=0.9.24")
  message(STATUS "lmdb ${lmdb_VERSION}")
  # Likewise, for bench/pixels.cc.
  pkg_check_modules(turbojpeg QUIET IMPORTED_TARGET GLOBAL "libturbojpeg>=2.1.5")
  message(STATUS "libturbojpeg ${turbojpeg_VERSION}")
endif()
if(AUGUR_TESTS)
  # Another reader and writer of PNG than ours.
  augur_dependency(spng spng 0.7.3 libspng-dev)
  find_package(GTest 1.12 QUIET)
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "GoogleTest 1.12 or newer is needed: apt-get install libgtest-dev libgmock-dev (./packaging/deps.sh test)")
  endif()
endif()
