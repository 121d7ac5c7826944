// SPDX-License-Identifier: Apache-2.0
#include "decode/npy_writer.h"

#include <cstdio>
#include <string>

#include "base/check.h"
#include "decode/field_writer.h"

namespace augur {
namespace {

// The dictionary is padded with spaces so that the pixels begin at a multiple of 64, after NumPy has left room for the
// first axis to grow to 21 digits. The shortest dictionary of three axes has 62 bytes, 10 come before it and a newline
// after it; the longest that 32-bit sides make has 93 with that room: both end at 128.
void WriteHeader(const Image& image, const ArrayFormat& format, FieldWriter* out) {
  const std::array<uint32_t, 3> shape = ArrayShape(image.width, image.height, image.channels, format.layout);
  char text[kNpyHeaderBytes];
  const int bytes = std::snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%u, %u, %u), }",
                                  format.type == ArrayType::kU8 ? "|u1" : "<f4", shape[0], shape[1], shape[2]);
  constexpr size_t kPrefixBytes = 10;
  AUGUR_CHECK(bytes > 0 && static_cast<size_t>(bytes) < kNpyHeaderBytes - kPrefixBytes);
  out->Text("\x93NUMPY");
  out->U8(1);
  out->U8(0);
  out->Little16(static_cast<uint16_t>(kNpyHeaderBytes - kPrefixBytes));
  out->Bytes(text, static_cast<size_t>(bytes));
  out->Text(std::string(kNpyHeaderBytes - kPrefixBytes - static_cast<size_t>(bytes) - 1, ' '));
  out->U8('\n');
}

}  // namespace

uint64_t NpyBytes(uint32_t width, uint32_t height, uint32_t channels, ArrayType type) {
  return kNpyHeaderBytes + ArrayBytes(width, height, channels, type);
}

void WriteNpy(const Image& image, const ArrayFormat& format, std::span<std::byte> out) {
  AUGUR_CHECK(out.size() == NpyBytes(image.width, image.height, image.channels, format.type));
  FieldWriter writer(out.data());
  WriteHeader(image, format, &writer);
  WriteArray(image, format, out.subspan(kNpyHeaderBytes));
}

}  // namespace augur
