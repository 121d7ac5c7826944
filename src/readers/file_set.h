// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "datasets/order.h"

namespace augur {

// FileSetBudget is the memory that several FileSets share. One thread at a time.
class FileSetBudget {
 public:
  explicit FileSetBudget(uint64_t bytes_max) : left_(bytes_max) {}
  bool Take(uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void Give(uint64_t bytes) { left_ += bytes; }
  uint64_t left() const { return left_; }

 private:
  uint64_t left_;
};

// FileSet is a set of files: a bit for each, in pieces of 4,096 that are made when they are needed. 10^8 files are 13
// MB. Where the budget does not allow a piece, its files are not known: neither in the set nor surely not. One thread
// at a time.
class FileSet {
 public:
  enum class Added { kNew, kThere, kUnknown };

  // REQUIRES: `budget` outlives the set.
  explicit FileSet(FileSetBudget* budget) : budget_(*budget) {}
  ~FileSet() { budget_.Give(taken_); }
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  Added Add(EntryNumber file);
  void Remove(EntryNumber file);
  bool Has(EntryNumber file) const;
  uint64_t count() const { return count_; }

 private:
  using Piece = std::array<uint64_t, 64>;
  static constexpr uint32_t kPieceBits = 12;
  static constexpr uint64_t kPieceBytes = sizeof(Piece) + 16;  // with what malloc adds

  FileSetBudget& budget_;
  std::vector<std::unique_ptr<Piece>> pieces_;
  uint64_t count_ = 0;
  uint64_t taken_ = 0;  // bytes, of the budget
};

}  // namespace augur
