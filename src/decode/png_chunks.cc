// SPDX-License-Identifier: Apache-2.0
#include "decode/png_chunks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "decode/png_chunk.h"

namespace augur {
namespace {

constexpr size_t kPaletteEntriesMax = 256;
constexpr size_t kEntryBytes = 3;
constexpr size_t kFrameControlBytes = 26;

Status Corrupt(const std::string& text) { return {Code::kCorrupt, "PNG: " + text}; }

// A log line takes no bytes from the file but letters.
std::string NameOf(const PngChunk& chunk) {
  return chunk.named() ? std::string(chunk.type) : std::string("without a name");
}

// Of an animation's frame: a smaller first frame would be decoded in its own width, so its pixels would be others.
bool IsWholeFrame(std::span<const std::byte> control, const std::optional<PngHeader>& header) {
  return header && PngNumber(control.data() + 4) == header->width && PngNumber(control.data() + 8) == header->height &&
         PngNumber(control.data() + 12) == 0 && PngNumber(control.data() + 16) == 0;
}

// Pillow finds the method for a chunk by its name in ASCII.
bool IsAscii(std::string_view type) {
  return std::ranges::all_of(type, [](unsigned char c) { return c < 0x80; });
}

Status Check(const PngChunk& chunk, bool tolerant) {
  if (!chunk.named() && !(tolerant && IsAscii(chunk.type))) return Corrupt("a chunk before the pixels has no name");
  if (chunk.cut) return Corrupt("truncated: the file ends before its pixels; get it whole");
  if ((chunk.critical() || !tolerant) && !chunk.sound()) {
    return Corrupt("chunk " + NameOf(chunk) + ": checksum mismatch; get the file anew");
  }
  return {};
}

}  // namespace

Result<PngChunks> PngChunks::Find(std::span<const std::byte> file, bool tolerant) {
  if (!LooksLikePng(file)) return Corrupt("no PNG signature");
  PngChunks found(file);
  std::optional<PngHeader> header;
  for (size_t at = kPngMagicBytes;;) {
    if (file.size() - at < kPngChunkHeaderBytes)
      return Corrupt("truncated: no pixels (IHDR, IDAT); get the file whole");
    const PngChunk chunk = PngChunk::At(file.subspan(at));
    at += chunk.whole.size();
    // One in front of the header is a chunk like others, as for Pillow.
    if (chunk.type == "IDAT" && header) {
      found.body_ = chunk.body;
      found.next_ = at;
      break;
    }
    if (chunk.type == "IEND") return Corrupt("no pixels (IHDR, IDAT) before its end; get the file anew");
    if (chunk.type == "fdAT") return Corrupt("a frame of an animation (fdAT) stands before the image (IDAT)");
    AUGUR_TRY(Check(chunk, tolerant));
    if (chunk.type == "IHDR") {
      const bool interlaced = header && header->interlaced;
      header = PngHeader::Read(chunk.body);
      if (!header) return Corrupt("chunk IHDR: too short, or a value without a meaning; get the file anew");
      // As Pillow, to which the last header counts but for this.
      header->interlaced = header->interlaced || interlaced;
    } else if (chunk.type == "PLTE" && header && header->color == PngColor::kPalette) {
      found.palette_ = chunk.body;
    } else if (chunk.type == "fcTL" && chunk.body.size() >= kFrameControlBytes && !IsWholeFrame(chunk.body, header)) {
      return Corrupt("chunk fcTL: the first frame of the animation is not the whole image");
    }
  }
  found.header_ = *header;
  if (header->color == PngColor::kPalette) {
    const size_t entries = found.palette_.size() / kEntryBytes;
    if (entries == 0) return Corrupt("no palette (PLTE) before the pixels; get the file anew");
    if (entries > kPaletteEntriesMax) return Corrupt("chunk PLTE: more than 256 entries");
  }
  return found;
}

std::span<const std::byte> PngChunks::NextPiece() {
  while (body_.empty()) {
    if (file_.size() - next_ < kPngChunkHeaderBytes) return {};
    const PngChunk chunk = PngChunk::At(file_.subspan(next_));
    // Pillow's PngImageFile.load_read goes on with a DDAT as with an IDAT.
    if (chunk.type != "IDAT" && chunk.type != "DDAT") return {};
    next_ += chunk.whole.size();
    body_ = chunk.body;
  }
  const auto piece = body_.first(std::min(body_.size(), kPieceBytesMax));
  body_ = body_.subspan(piece.size());
  return piece;
}

}  // namespace augur
