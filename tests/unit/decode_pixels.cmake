# SPDX-License-Identifier: Apache-2.0
# What tests/frameworks/test_pixels_pillow.py asks for pixels.
add_executable(pixel_dump tools/odd_jpeg.cc tools/pixel_dump.cc)
target_include_directories(pixel_dump PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(pixel_dump PRIVATE augur_decode)
set_target_properties(pixel_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
