# SPDX-License-Identifier: Apache-2.0
# Puts the archive (.a) of each library in the place of its shared form, with all that the archive needs. Headers and definitions stay,
# so the programs' objects are the same. Archives that Debian has not are in AUGUR_STATIC_FOLDER.
set(AUGUR_STATIC_FOLDER "" CACHE PATH "What packaging/release/static_libraries.sh prints")

# augur_archives(VARIABLE NAMES...): the paths of libNAME.a.
function(augur_archives variable)
  set(paths "")
  foreach(name ${ARGN})
    find_library(AUGUR_ARCHIVE_${name} NAMES lib${name}.a HINTS ${AUGUR_STATIC_FOLDER} NO_CACHE)
    if(NOT AUGUR_ARCHIVE_${name})
      message(FATAL_ERROR "lib${name}.a is needed for AUGUR_STATIC: ./packaging/deps.sh release, and -DAUGUR_STATIC_FOLDER= of what "
                          "packaging/release/static_libraries.sh prints")
    endif()
    list(APPEND paths ${AUGUR_ARCHIVE_${name}})
  endforeach()
  set(${variable} ${paths} PARENT_SCOPE)
endfunction()

# augur_static(TARGET NAMES...): TARGET links these archives and nothing else.
function(augur_static target)
  augur_archives(paths ${ARGN})
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${paths}")
endfunction()

augur_static(PkgConfig::fuse3 fuse3)
augur_static(PkgConfig::uring uring)
augur_static(PkgConfig::jpeg jpeg)
augur_static(PkgConfig::xxhash xxhash)
# Of what it reads: tar, zip, and the compressions that src/pack/archive_reader.cc names.
augur_static(PkgConfig::archive archive nettle acl lzma zstd lz4 bz2 z crypto)
augur_static(PkgConfig::crypto crypto)
augur_static(PkgConfig::curl curl ssl crypto)
augur_static(PkgConfig::pugixml pugixml)
augur_static(PkgConfig::snappy snappy)
augur_static(PkgConfig::zstd zstd)
augur_static(PkgConfig::zlib z)
augur_static(PkgConfig::hwy hwy)
augur_static(PkgConfig::deflate deflate)
# A library with a place of its own, which a property of each configuration names.
augur_archives(fmt fmt)
augur_archives(spdlog spdlog)
set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_NONE ${fmt} IMPORTED_LOCATION ${fmt})
set_target_properties(spdlog::spdlog PROPERTIES IMPORTED_LOCATION_NONE ${spdlog} IMPORTED_LOCATION ${spdlog})

# augur_static_program(TARGET): position-independent all the same, as cmake/Hardening.cmake has it.
function(augur_static_program target)
  # Neither -pie nor -no-pie at the link, and no folder where shared libraries would be.
  set_property(TARGET ${target} PROPERTY POSITION_INDEPENDENT_CODE)
  set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH ON)
  target_compile_options(${target} PRIVATE -fPIE)
  target_link_options(${target} PRIVATE -static-pie)
  target_compile_definitions(${target} PRIVATE AUGUR_STATIC)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tools/static_names.cc)
endfunction()
