// SPDX-License-Identifier: Apache-2.0
#include "tools/odd_jpeg.h"

#include <cstdio>
#include <cstdlib>
// jpeglib.h needs size_t and FILE.
#include <jpeglib.h>

namespace augur {

std::vector<std::byte> WriteOddJpeg(const uint8_t* pixels, uint32_t width, uint32_t height, const OddJpeg& how) {
  jpeg_compress_struct compress = {};
  jpeg_error_mgr errors = {};
  compress.err = jpeg_std_error(&errors);
  jpeg_create_compress(&compress);
  unsigned char* memory = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&compress, &memory, &size);
  compress.image_width = width;
  compress.image_height = height;
  const auto space = static_cast<J_COLOR_SPACE>(how.space);
  compress.input_components = space == JCS_GRAYSCALE ? 1 : space == JCS_CMYK || space == JCS_YCCK ? 4 : 3;
  compress.in_color_space = space == JCS_GRAYSCALE                   ? JCS_GRAYSCALE
                            : space == JCS_CMYK || space == JCS_YCCK ? JCS_CMYK
                                                                     : JCS_RGB;
  jpeg_set_defaults(&compress);
  jpeg_set_colorspace(&compress, space);
  jpeg_set_quality(&compress, how.quality, TRUE);
  for (size_t i = 0; i < how.sampling.size() && i < static_cast<size_t>(compress.num_components); ++i) {
    compress.comp_info[i].h_samp_factor = how.sampling[i] / 10;
    compress.comp_info[i].v_samp_factor = how.sampling[i] % 10;
  }
  if (how.progressive) jpeg_simple_progression(&compress);
  compress.arith_code = how.arithmetic ? TRUE : FALSE;
  compress.restart_in_rows = static_cast<int>(how.restart_rows);
  if (!how.adobe) compress.write_Adobe_marker = FALSE;
  jpeg_start_compress(&compress, TRUE);
  const size_t row_bytes = size_t{width} * static_cast<size_t>(compress.input_components);
  while (compress.next_scanline < height) {
    JSAMPROW rows[] = {const_cast<JSAMPROW>(pixels + compress.next_scanline * row_bytes)};
    jpeg_write_scanlines(&compress, rows, 1);
  }
  jpeg_finish_compress(&compress);
  jpeg_destroy_compress(&compress);
  const auto* const begin = reinterpret_cast<const std::byte*>(memory);
  std::vector<std::byte> file(begin, begin + size);
  std::free(memory);
  return file;
}

}  // namespace augur
