// SPDX-License-Identifier: Apache-2.0
#include "pack/unpack_bytes.h"

#include <snappy-c.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace augur {
namespace {

constexpr uint64_t kFreeBytes = uint64_t{64} << 20;
constexpr uint64_t kRatioMax = 1032;
constexpr int kGzipOrZlib = 15 + 32;  // zlib.h, inflateInit2: a window of 32 KiB

bool UnpackSnappy(std::span<const std::byte> packed, std::span<std::byte> out) {
  const auto* const data = reinterpret_cast<const char*>(packed.data());
  size_t bytes = 0;
  if (snappy_uncompressed_length(data, packed.size(), &bytes) != SNAPPY_OK || bytes != out.size()) return false;
  return snappy_uncompress(data, packed.size(), reinterpret_cast<char*>(out.data()), &bytes) == SNAPPY_OK &&
         bytes == out.size();
}

// Sizes are below 4 GiB, as the numbers of a page are of 32 bits.
bool UnpackGzip(std::span<const std::byte> packed, std::span<std::byte> out) {
  if (std::max(packed.size(), out.size()) > std::numeric_limits<uInt>::max()) return false;
  z_stream zlib = {};
  if (::inflateInit2(&zlib, kGzipOrZlib) != Z_OK) return false;
  zlib.next_in = reinterpret_cast<const Bytef*>(packed.data());
  zlib.avail_in = static_cast<uInt>(packed.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  const int result = ::inflate(&zlib, Z_FINISH);
  const bool whole = zlib.avail_in == 0 && zlib.avail_out == 0;
  ::inflateEnd(&zlib);
  return result == Z_STREAM_END && whole;
}

}  // namespace

bool IsKnown(ParquetCodec codec) {
  return codec == ParquetCodec::kNone || codec == ParquetCodec::kSnappy || codec == ParquetCodec::kGzip ||
         codec == ParquetCodec::kZstd;
}

bool MayUnpackTo(uint64_t packed_bytes, uint64_t bytes) {
  return bytes <= kFreeBytes || bytes / kRatioMax <= packed_bytes;
}

bool UnpackBytes(ParquetCodec codec, std::span<const std::byte> packed, std::span<std::byte> out) {
  switch (codec) {
    case ParquetCodec::kNone:
      if (packed.size() != out.size()) return false;
      std::copy(packed.begin(), packed.end(), out.begin());
      return true;
    case ParquetCodec::kSnappy: return UnpackSnappy(packed, out);
    case ParquetCodec::kGzip: return UnpackGzip(packed, out);
    case ParquetCodec::kZstd:
      return ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
  }
  AUGUR_CHECK(false);
}

}  // namespace augur
