// SPDX-License-Identifier: Apache-2.0
#include "pack/gzip_stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace augur {
namespace {

// As large as a core's own cache takes with ease; libarchive copies what lies across two pieces.
constexpr size_t kOutBytes = size_t{256} << 10;
constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib.h, inflateInit2: a window of 32 KiB, with gzip's header and trailer

}  // namespace

bool GzipStream::Recognizes(std::span<const std::byte> head) {
  return head.size() >= 2 && head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b};
}

GzipStream::GzipStream(ArchiveReader::Source source, std::string name)
    : source_(std::move(source)), name_(std::move(name)), out_(kOutBytes) {
  AUGUR_CHECK(inflateInit2(&zlib_, kGzipOnly) == Z_OK);
}

GzipStream::~GzipStream() { inflateEnd(&zlib_); }

Status GzipStream::Damaged(const std::string& how) const {
  return {Code::kCorrupt, Printable(name_) + ": the gzip data is damaged (" + how + "): make or fetch the file anew"};
}

Status GzipStream::SomethingFollows() const {
  return {Code::kCorrupt, Printable(name_) + ": something follows the compressed data, which ends at byte " +
                              std::to_string(member_start_) + ": make or fetch the file anew, or cut it there"};
}

Result<std::span<const std::byte>> GzipStream::Next() {
  for (;;) {
    if (in_.empty()) {
      AUGUR_TRY_ASSIGN(piece, source_());
      in_ = piece;
      read_bytes_ += piece.size();
    }
    if (in_.empty() && within_) {
      // One byte is too little to be told from the beginning of another member.
      return member_start_ > 0 && zlib_.total_in < 2 ? SomethingFollows() : Damaged("it is cut off");
    }
    if (in_.empty()) return std::span<const std::byte>();
    if (!within_) {
      padded_ = padded_ || in_[0] == std::byte{0};
      if (padded_) {
        if (std::any_of(in_.begin(), in_.end(), [](std::byte b) { return b != std::byte{0}; })) {
          return SomethingFollows();
        }
        in_ = {};
        continue;
      }
      inflateReset(&zlib_);
      within_ = true;
    }
    zlib_.next_in = reinterpret_cast<const Bytef*>(in_.data());
    zlib_.avail_in = static_cast<uInt>(std::min<size_t>(in_.size(), std::numeric_limits<uInt>::max()));
    zlib_.next_out = reinterpret_cast<Bytef*>(out_.data());
    zlib_.avail_out = static_cast<uInt>(out_.size());
    const size_t offered = zlib_.avail_in;
    const int result = inflate(&zlib_, Z_NO_FLUSH);
    in_ = in_.subspan(offered - zlib_.avail_in);
    within_ = result != Z_STREAM_END;
    if (!within_) member_start_ = read_bytes_ - in_.size();
    // zlib has read no more than a header then.
    if (result == Z_DATA_ERROR && member_start_ > 0 && zlib_.total_out == 0 && zlib_.total_in <= 2) {
      return SomethingFollows();
    }
    if (result != Z_OK && result != Z_STREAM_END) {
      return Damaged(zlib_.msg == nullptr ? zError(result) : zlib_.msg);
    }
    const size_t n = out_.size() - zlib_.avail_out;
    if (n > 0) return std::span<const std::byte>(out_).first(n);
  }
}

}  // namespace augur
