// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "augur/entry.h"

namespace augur {

// HeadProbe is ProbeImage for a file that comes in pieces. It says the same of a file of any size, and keeps of its
// beginning only what that needs. Of a JPEG it passes over what stands in front of the image beside its EXIF block
// (profiles, previews, depth maps, comments), which may be any number of segments. Of a PNG it keeps the first
// kPngProbeBytesMax. One thread.
class HeadProbe {
 public:
  // What it keeps at most; a JPEG that has more of what says how it is coded is none.
  static constexpr size_t kKeptBytesMax = size_t{4} << 20;

  // Takes the bytes behind those that it was given before.
  void Add(std::span<const std::byte> bytes);
  // Whether more bytes would change nothing.
  bool done() const { return stage_ == Stage::kDone; }

  // By what it was given: the whole file, or its beginning.
  ImageInfo Finish() const;

 private:
  enum class Stage {
    kMagic,       // too short to say what it is
    kPng,         // all is kept
    kBetween,     // JPEG: before the FF of a marker
    kCode,        // behind it
    kLengthHigh,  // of a segment
    kLengthLow,
    kBody,
    kDone,
  };

  void Take(std::byte byte);
  void EndSegment();

  Stage stage_ = Stage::kMagic;
  std::vector<std::byte> kept_;
  uint64_t given_ = 0;        // bytes
  size_t segment_begin_ = 0;  // in kept_, of its marker with what fills up in front of it
  size_t body_begin_ = 0;     // in kept_
  size_t left_ = 0;           // bytes of its body
  uint8_t code_ = 0;
  bool is_jpeg_ = false;
  bool passed_over_ = false;  // this segment is not kept
  bool has_exif_ = false;
};

}  // namespace augur
