// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace augur {

// RunLengthReader goes through small numbers in Parquet's hybrid of runs and packed bits (parquet-format,
// Encodings.md). The bytes must outlive it. After bytes that are broken it hands out zeros, and `broken` says so. One
// thread.
class RunLengthReader {
 public:
  RunLengthReader() = default;
  // `width`: bits of a number, 32 at most; with 0 each is 0, and there are no bytes.
  RunLengthReader(std::span<const std::byte> bytes, unsigned width);

  uint32_t Next();
  bool broken() const { return broken_; }

 private:
  void BeginRun();

  std::span<const std::byte> left_;
  unsigned width_ = 0;
  bool broken_ = false;
  // Of the run: how many of its numbers are left, and its number or its bits.
  uint64_t run_left_ = 0;
  bool is_packed_ = false;
  uint32_t number_ = 0;
  std::span<const std::byte> packed_;
  uint64_t bit_ = 0;  // of packed_, where the next number begins
};

}  // namespace augur
