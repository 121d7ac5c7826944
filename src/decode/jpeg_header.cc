// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg_header.h"

#include <csetjmp>
#include <cstdint>
#include <cstdio>
// jpeglib.h needs size_t and FILE to be declared before it.
#include <jpeglib.h>
// Its error codes are a second header.
#include <jerror.h>

#include <array>
#include <cstring>

#include "decode/exif.h"
#include "decode/lossless_frame.h"

namespace augur {
namespace {

constexpr std::array<std::byte, 3> kJpegMagic = {std::byte{0xFF}, std::byte{0xD8}, std::byte{0xFF}};
constexpr std::array<char, 6> kExifMagic = {'E', 'x', 'i', 'f', 0, 0};

// libjpeg's structure with what our callbacks need. libjpeg only knows the first member.
struct Decompressor {
  jpeg_decompress_struct base;
  jpeg_error_mgr errors;
  std::jmp_buf on_error;
  int error_code;
  std::span<const std::byte> exif;  // within the probed bytes
};

Decompressor& Self(j_common_ptr common) { return *static_cast<Decompressor*>(common->client_data); }

// libjpeg requires that this does not return. No object with a destructor lives between setjmp and here.
[[noreturn]] void OnError(j_common_ptr common) {
  Decompressor& self = Self(common);
  self.error_code = common->err->msg_code;
  std::longjmp(self.on_error, 1);
}

// Warnings and traces: a probe is silent.
void OnMessage(j_common_ptr /*common*/, int /*level*/) {}
void OnOutput(j_common_ptr /*common*/) {}

// The file ends within its header. jpeg_mem_src would put an end marker there, of which the header could be completed.
boolean OnEnd(j_decompress_ptr decompress) {
  ERREXIT(decompress, JERR_INPUT_EOF);
  return FALSE;
}

void OnSkip(j_decompress_ptr decompress, long bytes) {  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_source_mgr* const source = decompress->src;
  if (bytes <= 0) return;
  if (static_cast<size_t>(bytes) > source->bytes_in_buffer) OnEnd(decompress);
  source->next_input_byte += bytes;
  source->bytes_in_buffer -= static_cast<size_t>(bytes);
}

// Takes the EXIF block where it lies: jpeg_save_markers would copy every APP1 segment of a hostile file into memory.
boolean OnApp1(j_decompress_ptr decompress) {
  jpeg_source_mgr* const source = decompress->src;
  if (source->bytes_in_buffer < 2) return FALSE;  // the file ends within the marker: no header
  const auto* const segment = reinterpret_cast<const std::byte*>(source->next_input_byte);
  const size_t bytes = std::to_integer<size_t>(segment[0]) << 8 | std::to_integer<size_t>(segment[1]);
  if (bytes < 2 || bytes > source->bytes_in_buffer) return FALSE;
  Decompressor& self = Self(reinterpret_cast<j_common_ptr>(decompress));
  const std::span<const std::byte> body(segment + 2, bytes - 2);
  if (self.exif.empty() && body.size() > kExifMagic.size() &&
      std::memcmp(body.data(), kExifMagic.data(), kExifMagic.size()) == 0) {
    self.exif = TiffOf(body);
  }
  source->next_input_byte += bytes;
  source->bytes_in_buffer -= bytes;
  return TRUE;
}

// Whether the header was read up to the first scan. No local object here has a destructor (see OnError).
bool ReadHeader(Decompressor& self, std::span<const std::byte> head) {
  self.base.err = jpeg_std_error(&self.errors);
  self.errors.error_exit = OnError;
  self.errors.emit_message = OnMessage;
  self.errors.output_message = OnOutput;
  self.base.client_data = &self;
  if (setjmp(self.on_error) != 0) {  // NOLINT(cert-err52-cpp): libjpeg knows no other way
    // initial_setup, which refuses 12 bits, is the last step: everything else of the header has been read by then.
    return self.error_code == JERR_BAD_PRECISION && self.base.data_precision == 12;
  }
  jpeg_create_decompress(&self.base);
  jpeg_set_marker_processor(&self.base, JPEG_APP0 + 1, OnApp1);
  jpeg_mem_src(&self.base, reinterpret_cast<const unsigned char*>(head.data()), head.size());
  self.base.src->fill_input_buffer = OnEnd;
  self.base.src->skip_input_data = OnSkip;
  return jpeg_read_header(&self.base, TRUE) == JPEG_HEADER_OK;
}

}  // namespace

bool LooksLikeJpeg(std::span<const std::byte> head) {
  return head.size() >= kJpegMagic.size() && std::memcmp(head.data(), kJpegMagic.data(), kJpegMagic.size()) == 0;
}

ImageInfo ProbeJpeg(std::span<const std::byte> head, std::span<const std::byte>* exif_block) {
  Decompressor self = {};
  ImageInfo image;
  bool sound = ReadHeader(self, head);
  // libjpeg gives up at the frame, and has read what stands before it.
  if (LosslessFrame::In(head)) {
    const Result<LosslessFrame> frame = LosslessFrame::Read(head);
    sound = frame.ok();
    if (sound) {
      self.base.image_width = frame->width;
      self.base.image_height = frame->height;
      self.base.num_components = static_cast<int>(frame->components);
      self.base.data_precision = 8;
    }
  }
  const int components = self.base.num_components;
  if (sound && self.base.image_width > 0 && self.base.image_height > 0 &&
      (components == 1 || components == 3 || components == 4)) {
    const ExifSummary exif = ReadExif(self.exif);
    image = {.width = self.base.image_width,
             .height = self.base.image_height,
             .exif_bytes = exif.bytes,
             .kind = ImageKind::kJpeg,
             .channels = static_cast<uint8_t>(components),
             .orientation = exif.orientation,
             .bit_depth = static_cast<uint8_t>(self.base.data_precision)};
    if (exif_block != nullptr && exif.bytes > 0) *exif_block = self.exif;
  }
  jpeg_destroy_decompress(&self.base);
  return image;
}

}  // namespace augur
