# SPDX-License-Identifier: Apache-2.0
augur_test(decode_pixels
  unit/decode_pixels/image_decoder_test.cc unit/decode_pixels/jpeg_decoder_test.cc unit/decode_pixels/mutation_test.cc
  unit/decode_pixels/png_decoder_test.cc unit/decode_pixels/resize_test.cc
  fuzz/decode_once.cc fuzz/mutate.cc tools/odd_jpeg.cc
  LAYERS decode views LIBS PkgConfig::spng)

# What tests/frameworks/test_pixels_pillow.py asks for pixels.
add_executable(pixel_dump tools/odd_jpeg.cc tools/pixel_dump.cc)
target_include_directories(pixel_dump PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(pixel_dump PRIVATE augur_decode)
set_target_properties(pixel_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)

# tests/fuzz/README.md
add_executable(decode_mutate fuzz/decode_mutate.cc fuzz/decode_once.cc fuzz/mutate.cc fuzz/mutate_files.cc)
target_include_directories(decode_mutate PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(decode_mutate PRIVATE augur_views)
add_test(NAME decode_corpus COMMAND decode_mutate 0 1 ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus)
if(AUGUR_FUZZ)
  add_executable(decode_fuzz fuzz/decode_fuzz.cc fuzz/decode_once.cc)
  target_include_directories(decode_fuzz PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(decode_fuzz PRIVATE augur_views -fsanitize=fuzzer)
endif()
