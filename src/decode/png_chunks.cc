// SPDX-License-Identifier: Apache-2.0
#include "decode/png_chunks.h"

#include <libdeflate.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "decode/png_header.h"

namespace augur {
namespace {

constexpr size_t kMagicBytes = 8;
constexpr size_t kHeaderBytes = 8;  // length, type
constexpr size_t kCrcBytes = 4;
constexpr uint32_t kCriticalBit = 0x20;  // of the first letter: clear when a reader must know the chunk

uint32_t BigEndian32(const std::byte* at) {
  return std::to_integer<uint32_t>(at[0]) << 24 | std::to_integer<uint32_t>(at[1]) << 16 |
         std::to_integer<uint32_t>(at[2]) << 8 | std::to_integer<uint32_t>(at[3]);
}

struct Chunk {
  std::string_view type;
  std::span<const std::byte> whole;  // header, body, checksum; of a cut chunk what there is
  std::span<const std::byte> body;
  bool cut = false;

  bool critical() const { return (static_cast<unsigned char>(type[0]) & kCriticalBit) == 0; }
  bool sound() const {
    return !cut && libdeflate_crc32(0, whole.data() + 4, 4 + body.size()) == BigEndian32(whole.last(kCrcBytes).data());
  }
  // Pillow's PngImageFile.load_read goes on with a DDAT as with an IDAT, once there was one.
  bool pixels(bool seen) const { return type == "IDAT" || (seen && type == "DDAT"); }
  // Whether it makes the pixels. `seen`: there was an IDAT before it.
  bool taken(bool seen) const { return type == "IHDR" || type == "PLTE" || pixels(seen); }
};

// REQUIRES: at least a header is left.
Chunk ChunkAt(std::span<const std::byte> rest) {
  const size_t asked = BigEndian32(rest.data());
  const size_t there = rest.size() - kHeaderBytes;
  Chunk chunk;
  chunk.type = {reinterpret_cast<const char*>(rest.data()) + 4, 4};
  chunk.cut = there < kCrcBytes || asked > there - kCrcBytes;
  chunk.body = rest.subspan(kHeaderBytes, std::min(asked, there));
  chunk.whole = rest.first(std::min(rest.size(), kHeaderBytes + asked + kCrcBytes));
  return chunk;
}

bool IsName(std::string_view type) {
  return std::all_of(type.begin(), type.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

Status Corrupt(const std::string& text) { return {Code::kCorrupt, "PNG: " + text}; }

}  // namespace

Result<PngChunks> PngChunks::Find(std::span<const std::byte> file, bool tolerant) {
  if (!LooksLikePng(file)) return Corrupt("no PNG signature");
  PngChunks found(file);
  found.piece_ = file.first(kMagicBytes);
  found.next_ = kMagicBytes;
  found.left_ = kMagicBytes;
  size_t at = kMagicBytes;
  bool pixels = false;
  while (file.size() - at >= kHeaderBytes) {
    const Chunk chunk = ChunkAt(file.subspan(at));
    if (chunk.pixels(pixels)) {
      pixels = true;
      found.left_ += chunk.cut ? kHeaderBytes + chunk.body.size() : chunk.whole.size();
      if (chunk.cut) break;
    } else {
      if (pixels || chunk.type == "IEND") break;
      if (!IsName(chunk.type) && !tolerant) return Corrupt("a chunk before the pixels has no name");
      if (chunk.cut) return Corrupt("truncated: the file ends before its pixels; get it whole");
      if ((chunk.critical() || !tolerant) && !chunk.sound()) {
        // A log line takes no bytes from the file but letters.
        const std::string name(IsName(chunk.type) ? chunk.type : "without a name");
        return Corrupt("chunk " + name + ": checksum mismatch; get the file anew");
      }
      if (chunk.taken(pixels)) found.left_ += chunk.whole.size();
      if (chunk.type == "PLTE") found.palette_ = chunk.body;
    }
    at += chunk.whole.size();
  }
  if (!pixels) return Corrupt("truncated: no pixels (IDAT); get the file whole");
  return found;
}

// REQUIRES: the stream goes on.
void PngChunks::TakePiece() {
  if (!body_.empty()) {
    piece_ = std::exchange(body_, {});
    return;
  }
  Chunk chunk = ChunkAt(file_.subspan(next_));
  while (!chunk.taken(pixels_)) {
    next_ += chunk.whole.size();
    chunk = ChunkAt(file_.subspan(next_));
  }
  next_ += chunk.whole.size();
  pixels_ = chunk.pixels(pixels_);
  piece_ = chunk.whole;
  if (!chunk.cut && chunk.type != "DDAT") return;
  // Under a header that asks for what is there, and says IDAT: libspng looks at nothing less than it was promised, and
  // knows no DDAT.
  for (size_t i = 0; i < 4; ++i) header_[i] = std::byte(chunk.body.size() >> (24 - 8 * i) & 0xFF);
  std::ranges::copy(std::as_bytes(std::span(std::string_view("IDAT"))), header_.begin() + 4);
  piece_ = header_;
  body_ = chunk.whole.subspan(kHeaderBytes);
}

bool PngChunks::Read(void* to, size_t bytes) {
  if (bytes > left_) return false;
  left_ -= bytes;
  auto* out = static_cast<std::byte*>(to);
  while (bytes > 0) {
    if (piece_.empty()) TakePiece();
    const size_t now = std::min(bytes, piece_.size());
    out = std::copy_n(piece_.begin(), now, out);
    piece_ = piece_.subspan(now);
    bytes -= now;
  }
  return true;
}

}  // namespace augur
