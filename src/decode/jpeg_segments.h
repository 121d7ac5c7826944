// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace augur {

// JpegSegments walks over the segments of a JPEG in memory, each a marker and a body. The file must outlive it. One
// thread. Not for the coded samples behind a scan's segment: its caller passes over those.
class JpegSegments {
 public:
  struct Segment {
    uint8_t code = 0;                 // of the marker, as 0xDA of a scan
    std::span<const std::byte> body;  // without its length
    size_t end = 0;                   // where in the file the next one begins
  };

  // Begins at `at`, behind SOI when it is not given.
  explicit JpegSegments(std::span<const std::byte> file, size_t at = 2) : file_(file), at_(std::min(at, file.size())) {}

  // The next segment that has a body; markers alone are passed over, as are bytes between segments. None: the file, or
  // the image (EOI), ends, or a length is less than its own two bytes.
  std::optional<Segment> Next();
  // Whether the last Next() met the end of the image (EOI).
  bool at_end() const { return at_end_; }
  // Goes on at `at`. REQUIRES: at <= file.size().
  void GoTo(size_t at) { at_ = at; }

 private:
  std::span<const std::byte> file_;
  size_t at_;
  bool at_end_ = false;
};

}  // namespace augur
