// SPDX-License-Identifier: Apache-2.0
#include "decode/head_probe.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "decode/image_probe.h"
#include "decode/jpeg_header.h"
#include "decode/png_header.h"

namespace augur {
namespace {

constexpr size_t kSignatureBytes = 8;
constexpr size_t kStartBytes = 2;  // SOI
constexpr std::array<char, 6> kExifBegin = {'E', 'x', 'i', 'f', 0, 0};

constexpr uint8_t kTem = 0x01;
constexpr uint8_t kFirstRestart = 0xD0;
constexpr uint8_t kEnd = 0xD9;
constexpr uint8_t kScan = 0xDA;
constexpr uint8_t kFirstApp = 0xE0;
constexpr uint8_t kExifApp = 0xE1;
constexpr uint8_t kLastApp = 0xEF;
constexpr uint8_t kComment = 0xFE;

bool StandsAlone(uint8_t code) { return code == kTem || (code >= kFirstRestart && code < kEnd); }
// Of no use here, unless it is the first EXIF block.
bool IsBeside(uint8_t code) { return (code >= kFirstApp && code <= kLastApp) || code == kComment; }

}  // namespace

void HeadProbe::Add(std::span<const std::byte> bytes) {
  while (!bytes.empty() && !done()) {
    if (given_ == kProbeBytesMax || kept_.size() >= kKeptBytesMax) {
      stage_ = Stage::kDone;
      return;
    }
    size_t taken = 1;
    if (stage_ == Stage::kPng || stage_ == Stage::kBody) {
      const size_t room = stage_ == Stage::kPng ? kKeptBytesMax - kept_.size() : left_;
      taken = std::min({bytes.size(), room, static_cast<size_t>(kProbeBytesMax - given_)});
      const auto first = bytes.first(taken);
      if (stage_ == Stage::kPng || !passed_over_) kept_.insert(kept_.end(), first.begin(), first.end());
      left_ -= stage_ == Stage::kBody ? taken : 0;
      if (stage_ == Stage::kBody && left_ == 0) EndSegment();
    } else {
      Take(bytes[0]);
    }
    given_ += taken;
    bytes = bytes.subspan(taken);
  }
}

// One byte where each may mean something.
void HeadProbe::Take(std::byte byte) {
  const auto value = std::to_integer<uint8_t>(byte);
  kept_.push_back(byte);
  switch (stage_) {
    case Stage::kMagic:
      if (kept_.size() < kSignatureBytes) return;
      if (LooksLikePng(kept_)) {
        stage_ = Stage::kPng;
      } else if (LooksLikeJpeg(kept_)) {
        // Once more from behind the first marker on.
        const std::vector<std::byte> head = std::move(kept_);
        kept_.assign(head.begin(), head.begin() + kStartBytes);
        stage_ = Stage::kBetween;
        is_jpeg_ = true;
        given_ -= head.size() - kStartBytes;
        Add(std::span(head).subspan(kStartBytes));
      } else {
        stage_ = Stage::kDone;
      }
      return;
    case Stage::kBetween:
      segment_begin_ = kept_.size() - 1;
      if (value == 0xFF) stage_ = Stage::kCode;
      return;
    case Stage::kCode:
      if (value == 0xFF) return;  // any number of them
      code_ = value;
      stage_ = value == 0 || StandsAlone(value) ? Stage::kBetween : value == kEnd ? Stage::kDone : Stage::kLengthHigh;
      return;
    case Stage::kLengthHigh:
      left_ = size_t{value} << 8;
      stage_ = Stage::kLengthLow;
      return;
    case Stage::kLengthLow:
      left_ |= value;
      // Where libjpeg only skips, it takes any length; else it gives up, too.
      if (left_ < 2 && IsBeside(code_) && code_ != kExifApp) left_ = 2;
      if (left_ < 2) {
        stage_ = Stage::kDone;
        return;
      }
      left_ -= 2;
      body_begin_ = kept_.size();
      passed_over_ = IsBeside(code_) && !(code_ == kExifApp && !has_exif_);
      stage_ = Stage::kBody;
      if (left_ == 0) EndSegment();
      return;
    default: return;
  }
}

void HeadProbe::EndSegment() {
  stage_ = code_ == kScan ? Stage::kDone : Stage::kBetween;
  bool keep = !passed_over_;
  if (keep && code_ == kExifApp) {
    const auto body = std::span<const std::byte>(kept_).subspan(body_begin_);
    has_exif_ = body.size() > kExifBegin.size() && std::memcmp(body.data(), kExifBegin.data(), kExifBegin.size()) == 0;
    keep = has_exif_;
  }
  if (!keep) kept_.resize(segment_begin_);
}

// Without its first segments a JPEG may no longer begin as one.
ImageInfo HeadProbe::Finish() const { return is_jpeg_ ? ProbeJpeg(kept_) : ProbeImage(kept_); }

}  // namespace augur
