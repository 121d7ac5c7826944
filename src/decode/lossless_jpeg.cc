// SPDX-License-Identifier: Apache-2.0
#include "decode/lossless_jpeg.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "decode/cmyk.h"
#include "decode/decode_bounds.h"
#include "decode/jpeg_segments.h"
#include "decode/lossless_frame.h"
#include "decode/lossless_scan.h"

namespace augur {
namespace {

constexpr uint8_t kTables = 0xC4;
constexpr uint8_t kScan = 0xDA;
constexpr uint8_t kRestartInterval = 0xDD;
constexpr size_t kTablesMax = 4;
constexpr size_t kTableHeadBytes = 17;  // class and number, 16 counts
constexpr unsigned kBits = 8;           // of a sample

Status Corrupt(const std::string& text) { return {Code::kCorrupt, "JPEG: lossless: " + text}; }

Status Truncated() {
  return {Code::kCorrupt,
          "JPEG: truncated: the file ends before its image does; get it whole, or add tolerant to the view"};
}

// Table H.1 of ITU-T T.81: from the samples to the left, above, and above to the left.
int Predict(unsigned predictor, int left, int above, int corner) {
  switch (predictor) {
    case 1: return left;
    case 2: return above;
    case 3: return corner;
    case 4: return left + above - corner;
    case 5: return left + ((above - corner) >> 1);
    case 6: return above + ((left - corner) >> 1);
    default: return (left + above) >> 1;
  }
}

// The scans of one file, whose samples go into rows of `frame.components` interleaved bytes.
class Scans {
 public:
  Scans(std::span<const std::byte> file, const LosslessFrame& frame, uint8_t* samples)
      : file_(file), frame_(frame), samples_(samples), segments_(file, frame.end) {}

  // Decodes all. What it does not reach stays as it is.
  Status Run() {
    // Tables may stand in front of the frame, too.
    JpegSegments before(file_);
    for (auto segment = before.Next(); segment && segment->end < frame_.end; segment = before.Next()) {
      AUGUR_TRY(Take(*segment));
    }
    while (done_ < frame_.components) {
      const auto segment = segments_.Next();
      if (!segment) return Truncated();
      if (segment->code != kScan) {
        AUGUR_TRY(Take(*segment));
        continue;
      }
      AUGUR_TRY_ASSIGN(at, ReadScan(*segment));
      segments_.GoTo(at);
    }
    // As libjpeg, which reads an image of several scans to its end before it gives a pixel.
    while (scans_ > 1 && segments_.Next()) continue;
    return scans_ == 1 || segments_.at_end() ? Status::Ok() : Truncated();
  }

 private:
  struct Part {
    uint32_t component = 0;
    const LosslessTable* table = nullptr;
    // The samples of the row above and of this one, before the point transform, modulo 2^16.
    std::vector<uint16_t> above;
    std::vector<uint16_t> row;
  };

  Status Take(const JpegSegments::Segment& segment) {
    auto body = segment.body;
    if (segment.code == kRestartInterval) {
      if (body.size() < 2) return Corrupt("a segment is too short");
      restart_interval_ = std::to_integer<uint32_t>(body[0]) << 8 | std::to_integer<uint32_t>(body[1]);
    }
    while (segment.code == kTables && !body.empty()) {
      if (body.size() < kTableHeadBytes) return Corrupt("a Huffman table is too short");
      const auto number = std::to_integer<size_t>(body[0]);
      size_t values = 0;
      for (const std::byte count : body.subspan(1, kTableHeadBytes - 1)) values += std::to_integer<size_t>(count);
      if (body.size() - kTableHeadBytes < values) return Corrupt("a Huffman table is too short");
      // Those of a higher number are of other processes.
      LosslessTable table;
      if (number < kTablesMax) {
        if (!table.Read(body.subspan(1))) return Corrupt("a Huffman table is none");
        tables_[number] = std::move(table);
      }
      body = body.subspan(kTableHeadBytes + values);
    }
    return {};
  }

  // Returns where the file goes on.
  Result<size_t> ReadScan(const JpegSegments::Segment& segment) {
    const auto body = segment.body;
    const size_t count = body.empty() ? 0 : std::to_integer<size_t>(body[0]);
    if (count == 0 || count > frame_.components || body.size() != 4 + 2 * count)
      return Corrupt("a scan's header is none");
    std::vector<Part> parts(count);
    for (size_t i = 0; i < count; ++i) {
      const auto name = std::to_integer<uint8_t>(body[1 + 2 * i]);
      const auto table = std::to_integer<size_t>(body[2 + 2 * i]) >> 4;
      const auto* const place =
          std::find(frame_.identifiers.begin(), frame_.identifiers.begin() + frame_.components, name);
      const auto component = static_cast<uint32_t>(place - frame_.identifiers.begin());
      if (component == frame_.components || (read_ >> component & 1) != 0) return Corrupt("a scan of no component");
      if (table >= kTablesMax || !tables_[table].there()) return Corrupt("a scan without its Huffman table");
      read_ |= 1U << component;
      parts[i].component = component;
      parts[i].table = &tables_[table];
      parts[i].above.resize(frame_.width);
      parts[i].row.resize(frame_.width);
    }
    const auto predictor = std::to_integer<unsigned>(body[1 + 2 * count]);
    const auto shift = std::to_integer<unsigned>(body[3 + 2 * count]);
    if (predictor < 1 || predictor > 7 || body[2 + 2 * count] != std::byte{0} || shift >= kBits) {
      return Corrupt("a scan has no such predictor or point transform");
    }
    if (restart_interval_ % frame_.width != 0) return Corrupt("a restart interval is not of whole rows");
    AUGUR_TRY_ASSIGN(at, ReadRows(segment.end, predictor, shift, parts));
    done_ += static_cast<uint32_t>(count);
    ++scans_;
    return at;
  }

  Result<size_t> ReadRows(size_t at, unsigned predictor, unsigned shift, std::vector<Part>& parts) {
    LosslessBits bits(file_, at);
    const uint32_t restart_rows = restart_interval_ / frame_.width;
    uint32_t first = 0;  // row behind the last restart
    unsigned restarts = 0;
    for (uint32_t y = 0; y < frame_.height; ++y) {
      if (restart_rows > 0 && y == first + restart_rows) {
        if (!bits.Restart(restarts++ % 8)) return bits.at_file_end() ? Truncated() : Corrupt("a restart is missing");
        first = y;
      }
      for (uint32_t x = 0; x < frame_.width; ++x) {
        for (Part& part : parts) {
          int difference = 0;
          if (!bits.Next(*part.table, &difference)) {
            return bits.at_file_end() ? Truncated() : Corrupt("the pixels are broken; get the file anew");
          }
          const int above = part.above[x];
          const int predicted = y == first ? (x == 0 ? 1 << (kBits - shift - 1) : part.row[x - 1])
                                : x == 0   ? above
                                           : Predict(predictor, part.row[x - 1], above, part.above[x - 1]);
          part.row[x] = static_cast<uint16_t>(predicted + difference);
        }
      }
      for (Part& part : parts) {
        uint8_t* to = samples_ + (size_t{y} * frame_.width * frame_.components) + part.component;
        for (const uint16_t sample : part.row) {
          *to = static_cast<uint8_t>(sample << shift);
          to += frame_.components;
        }
        std::swap(part.row, part.above);
      }
    }
    return bits.at();
  }

  const std::span<const std::byte> file_;
  const LosslessFrame& frame_;
  uint8_t* const samples_;
  JpegSegments segments_;
  std::array<LosslessTable, kTablesMax> tables_;
  uint32_t restart_interval_ = 0;  // samples of a component
  uint32_t read_ = 0;              // a bit for each component that a scan had
  uint32_t done_ = 0;              // components
  uint32_t scans_ = 0;
};

Result<LosslessFrame> ReadFrame(std::span<const std::byte> file) {
  AUGUR_TRY_ASSIGN(frame, LosslessFrame::Read(file));
  if (!frame.has_pixels) {
    return Status(Code::kUnsupported, "JPEG: lossless: coded as YCbCr or YCCK, which no reader converts");
  }
  return frame;
}

DecodeNeeds NeedsOf(const LosslessFrame& frame, const DecodeOptions& options) {
  DecodeNeeds needs{
      .width = frame.width, .height = frame.height, .channels = frame.components == 1 && options.keep_grey ? 1U : 3U};
  const uint64_t pixels = uint64_t{frame.width} * frame.height;
  const uint64_t rows = uint64_t{frame.width} * frame.components * 2 * sizeof(uint16_t);
  needs.memory_bytes =
      pixels * needs.channels + (needs.channels == frame.components ? 0 : pixels * frame.components) + rows;
  return needs;
}

}  // namespace

Result<DecodeNeeds> MeasureLosslessJpeg(std::span<const std::byte> file, const DecodeOptions& options) {
  AUGUR_TRY_ASSIGN(frame, ReadFrame(file));
  return NeedsOf(frame, options);
}

Result<Image> DecodeLosslessJpeg(std::span<const std::byte> file, const DecodeOptions& options) {
  AUGUR_TRY_ASSIGN(frame, ReadFrame(file));
  const DecodeNeeds needs = NeedsOf(frame, options);
  AUGUR_TRY(CheckBounds("JPEG", frame.width, frame.height, needs.memory_bytes, options));
  Image image = MakeImage(needs.width, needs.height, needs.channels, options.room);
  std::vector<uint8_t> apart;
  if (needs.channels != frame.components) apart.resize(size_t{frame.width} * frame.height * frame.components);
  uint8_t* const samples = apart.empty() ? image.pixels.get() : apart.data();
  if (apart.empty()) std::fill_n(samples, image.bytes(), uint8_t{0});
  if (const Status status = Scans(file, frame, samples).Run(); !status.ok() && !options.tolerant) return status;
  if (frame.components == 4) {
    InvertedCmykToRgb(apart, {image.pixels.get(), image.bytes()});
  } else if (!apart.empty()) {
    for (size_t i = 0; i < apart.size(); ++i) std::fill_n(image.pixels.get() + 3 * i, 3, apart[i]);
  }
  return image;
}

}  // namespace augur
