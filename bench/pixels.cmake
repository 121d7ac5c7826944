# SPDX-License-Identifier: Apache-2.0
# Compares with libjpeg-turbo's own API where that is there.
add_executable(pixels_bench pixels.cc)
target_link_libraries(pixels_bench PRIVATE augur_decode CLI11::CLI11 nlohmann_json::nlohmann_json)
if(turbojpeg_FOUND)
  target_compile_definitions(pixels_bench PRIVATE AUGUR_TURBOJPEG)
  target_link_libraries(pixels_bench PRIVATE PkgConfig::turbojpeg)
endif()
