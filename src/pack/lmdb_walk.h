// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "pack/container.h"

namespace augur {

// LmdbWalk goes through one database of an LMDB environment of data version 1 (lmdb.h, mdb.c of 0.9), in the order of
// its keys. It follows no page twice and trusts no offset, so that a damaged tree ends in a failure. Reads pages where
// they are, not in one stream. One thread. Memory: a page for each level, one value, a bit for each page.
class LmdbWalk {
 public:
  // A key, its value, and where that lies in the file. Both are valid until the function returns.
  using OnValue = std::function<Status(std::string_view key, std::span<const std::byte> value, uint64_t offset)>;

  // `database`: its name within the main database; empty: that one itself. The container must outlive it.
  LmdbWalk(Container& container, std::string database)
      : container_(container), database_(std::move(database)), is_searching_(!database_.empty()) {}
  // Whether the file begins as one.
  static bool Recognizes(std::span<const std::byte> head);
  // Calls `on_value` for each value. kCorrupt: damaged or cut off. kUnsupported: another data version, several values
  // of one key, databases within the database. kInvalid: there is no database of this name. What `on_value` or the
  // input failed with.
  Status Run(const OnValue& on_value);

 private:
  struct Tree {
    uint64_t transaction = 0;
    uint16_t flags = 0;
    uint64_t root = 0;
  };

  Status Damaged(const std::string& how) const;
  Result<Tree> ReadMeta(uint64_t offset);
  Status Visit(uint64_t page, unsigned depth, const OnValue& on_value);
  Result<std::span<const std::byte>> ReadPage(uint64_t number, unsigned depth);
  Status TakeLeaf(std::span<const std::byte> page, std::span<const std::byte> node, const OnValue& on_value);
  Status TakeDatabase(std::string_view key, std::span<const std::byte> value, uint16_t flags);
  Status TakeLarge(std::string_view key, uint64_t page, uint32_t bytes, const OnValue& on_value);
  // The page is visited now. kCorrupt: it was before, or the file has no such page.
  Status Mark(uint64_t page);

  Container& container_;
  const std::string database_;
  bool is_searching_;          // for the database, in the main one
  std::optional<Tree> found_;  // it
  std::string databases_;      // names of those that were seen, for a message
  uint64_t page_bytes_ = 0;
  uint64_t page_count_ = 0;
  std::vector<bool> visited_;                   // by page
  std::vector<std::vector<std::byte>> levels_;  // a page for each depth
  std::vector<std::byte> value_;
};

}  // namespace augur
