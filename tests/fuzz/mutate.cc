// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutate.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "decode/png_header.h"

namespace augur {
namespace {

using Bytes = std::vector<std::byte>;

// Values at which arithmetic goes wrong, and the bytes that mean something in a JPEG.
constexpr std::array<uint8_t, 16> kTelling = {0,    1,    2,    7,    8,    0x10, 0x7F, 0x80,
                                              0xFF, 0xFE, 0xC0, 0xC2, 0xC4, 0xDA, 0xD9, 0xDB};

class Mutator {
 public:
  Mutator(Bytes file, const Bytes& other, std::mt19937_64* random)
      : file_(std::move(file)), other_(other), random_(*random) {}

  Bytes Run() {
    for (uint64_t i = 0, steps = 1 + Below(4); i < steps && !file_.empty(); ++i) Step();
    if (Below(2) == 0) MendChecksums();
    return std::move(file_);
  }

 private:
  uint64_t Below(uint64_t end) { return random_() % end; }
  // A place, half of the time near the beginning, where the headers are.
  size_t Place() { return Below(2) == 0 ? Below(file_.size()) : Below(std::min<size_t>(file_.size(), 700)); }
  // A short piece that begins at `at`.
  size_t Length(size_t at) { return std::min<size_t>(file_.size() - at, 1 + Below(Below(4) == 0 ? 600 : 16)); }
  auto At(size_t place) { return file_.begin() + static_cast<ptrdiff_t>(place); }

  void Step() {
    const size_t at = Place();
    const size_t length = Length(at);
    switch (Below(8)) {
      case 0: file_[at] ^= std::byte(1U << Below(8)); break;
      case 1: file_[at] = std::byte(kTelling[Below(kTelling.size())]); break;
      case 2:
        for (size_t i = 0; i < length; ++i) file_[at + i] = std::byte(Below(256));
        break;
      case 3: file_.resize(Below(4) == 0 ? at : file_.size() - Below(std::min<size_t>(file_.size(), 100))); break;
      case 4: file_.erase(At(at), At(at + length)); break;
      case 5: {
        const Bytes piece(At(at), At(at + length));
        const size_t to = Place();
        file_.insert(At(to), piece.begin(), piece.end());
        break;
      }
      case 6: {  // exchanged with the piece behind it
        const size_t end = std::min(file_.size(), at + 2 * length);
        std::rotate(At(at), At(at + length), At(end));
        break;
      }
      default: {
        if (other_.empty()) break;
        const size_t from = Below(other_.size());
        const size_t taken = std::min(length, other_.size() - from);
        std::copy_n(other_.begin() + static_cast<ptrdiff_t>(from), taken, At(at));
      }
    }
  }

  void MendChecksums() {
    if (!LooksLikePng(file_)) return;
    size_t at = 8;
    while (file_.size() - at >= 12) {
      uint32_t length = 0;
      for (size_t i = 0; i < 4; ++i) length = length << 8 | std::to_integer<uint32_t>(file_[at + i]);
      if (length > file_.size() - at - 12) return;
      const uint32_t crc = libdeflate_crc32(0, file_.data() + at + 4, 4 + size_t{length});
      for (size_t i = 0; i < 4; ++i) file_[at + 8 + length + i] = std::byte(crc >> (24 - 8 * i) & 0xFF);
      at += 12 + size_t{length};
    }
  }

  Bytes file_;
  const Bytes& other_;
  std::mt19937_64& random_;
};

}  // namespace

std::vector<std::byte> Mutate(std::vector<std::byte> file, const std::vector<std::byte>& other,
                              std::mt19937_64* random) {
  return Mutator(std::move(file), other, random).Run();
}

}  // namespace augur
