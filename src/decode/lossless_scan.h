// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace augur {

// A Huffman table of a lossless JPEG: codes of 1 to 16 bits, each for how many bits a difference has (0 to 16). Annex C
// and F.2.2.3 of ITU-T T.81. Immutable once read.
class LosslessTable {
 public:
  // Of the body of a DHT segment behind its class and number: 16 counts and the values. False: it is none.
  bool Read(std::span<const std::byte> counts_and_values);
  bool there() const { return !values_.empty(); }

  // Looks at the 16 bits `bits`, the first of them the highest. Returns the code's length and its value; length 0: no
  // code begins like that.
  struct Code {
    unsigned length = 0;
    unsigned value = 0;
  };
  Code Find(uint32_t bits) const;
  static constexpr unsigned kBitsMax = 16;  // of a code

 private:
  // By length: codes below `end` (aligned to 16 bits) have it; the first one's place in values_ and code.
  std::array<uint32_t, kBitsMax + 1> end_ = {};
  std::array<uint32_t, kBitsMax + 1> first_code_ = {};
  std::array<uint32_t, kBitsMax + 1> first_value_ = {};
  std::vector<uint8_t> values_;
};

// LosslessBits reads the coded samples of a scan, up to the next marker or the end of the file. One thread; the file
// must outlive it.
class LosslessBits {
 public:
  LosslessBits(std::span<const std::byte> file, size_t at) : file_(file), at_(at) {}

  // The next difference, coded with `table`. False: a code that is none, or the coded bits end.
  bool Next(const LosslessTable& table, int* difference);
  // Goes on behind the restart marker `number`, 0 to 7, which comes next. False: another thing does.
  bool Restart(unsigned number);
  // Whether the bits ended because the file does.
  bool at_file_end() const { return at_ == file_.size(); }
  // Where the marker behind the bits is.
  size_t at() const { return at_; }

 private:
  // Takes bytes up to the marker, as many as have room; zeros behind them. False: the file ends before that.
  bool Fill();
  // The next `count` bits, up to 16, as a number. False: there are fewer.
  bool Take(unsigned count, uint32_t* value);
  // The value of the next code, which is taken.
  bool TakeCode(const LosslessTable& table, unsigned* value);

  std::span<const std::byte> file_;
  size_t at_;
  uint64_t bits_ = 0;   // the next is the highest
  unsigned count_ = 0;  // of them that the file has
};

}  // namespace augur
