// SPDX-License-Identifier: Apache-2.0
#include "pack/lmdb_walk.h"

#include <bit>
#include <optional>

#include "base/excerpt.h"
#include "base/units.h"
#include "pack/container_cursor.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

// mdb.c of LMDB 0.9, on a machine of 64 bits: MDB_page, MDB_meta, MDB_db, MDB_node.
constexpr uint32_t kMagic = 0xbeefc0de;
constexpr uint32_t kVersion = 1;
constexpr size_t kPageHeadBytes = 16;
constexpr size_t kPageFlagsAt = 10;
constexpr size_t kLowerAt = 12;
constexpr uint16_t kBranchPage = 0x01;
constexpr uint16_t kLeafPage = 0x02;
constexpr uint16_t kOverflowPage = 0x04;
constexpr uint16_t kMetaPage = 0x08;
constexpr size_t kMetaAt = kPageHeadBytes;
constexpr size_t kVersionAt = kMetaAt + 4;
constexpr size_t kPageBytesAt = kMetaAt + 24;  // in the record of the first database, that of free pages
constexpr size_t kMainAt = kMetaAt + 72;       // the record of the second one
constexpr size_t kMainFlagsAt = kMainAt + 4;
constexpr size_t kMainRootAt = kMainAt + 40;
constexpr size_t kTransactionAt = kMainAt + 56;
constexpr size_t kMetaBytes = kTransactionAt + 8;
constexpr uint64_t kNoPage = UINT64_MAX;
constexpr uint16_t kManyValues = 0x04;  // MDB_DUPSORT
constexpr size_t kNodeHeadBytes = 8;
constexpr uint16_t kLargeValue = 0x01;
constexpr uint16_t kDatabaseOrMany = 0x06;
constexpr uint16_t kDatabase = 0x02;
constexpr size_t kDatabaseBytes = 48;  // MDB_db
constexpr uint64_t kPageBytesMin = 512;
constexpr uint64_t kPageBytesMax = 65536;
constexpr unsigned kDepthMax = 32;  // CURSOR_STACK

constexpr const char* kCure = "write its values as files, and pack them with 'augurpack create'";

}  // namespace

bool LmdbWalk::Recognizes(std::span<const std::byte> head) {
  return head.size() >= kMetaBytes && NumberAt<uint32_t>(head, kMetaAt) == kMagic;
}

Status LmdbWalk::Damaged(const std::string& how) const {
  return {Code::kCorrupt, Printable(container_.name) + ": " + how + ": it is damaged or was cut off: fetch it anew"};
}

// The newest tree that the meta page at `offset` knows.
Result<LmdbWalk::Tree> LmdbWalk::ReadMeta(uint64_t offset) {
  std::vector<std::byte> page(kMetaBytes);
  if (offset + page.size() > container_.bytes) return Damaged("it ends within its second page");
  const Status read = container_.input.ReadAt(offset, page);
  if (!read.ok()) return read.In(Printable(container_.name));
  if (NumberAt<uint32_t>(page, kMetaAt) != kMagic || (NumberAt<uint16_t>(page, kPageFlagsAt) & kMetaPage) == 0) {
    return Damaged("it has no description at byte " + std::to_string(offset));
  }
  if (NumberAt<uint32_t>(page, kVersionAt) != kVersion) {
    return Status(Code::kUnsupported, Printable(container_.name) + ": has LMDB's data version " +
                                          std::to_string(NumberAt<uint32_t>(page, kVersionAt)) +
                                          ", and only version 1 is known: " + kCure);
  }
  page_bytes_ = NumberAt<uint32_t>(page, kPageBytesAt);
  if (!std::has_single_bit(page_bytes_) || page_bytes_ < kPageBytesMin || page_bytes_ > kPageBytesMax) {
    return Damaged("it has pages of " + std::to_string(page_bytes_) + " bytes");
  }
  return Tree{.transaction = NumberAt<uint64_t>(page, kTransactionAt),
              .flags = NumberAt<uint16_t>(page, kMainFlagsAt),
              .root = NumberAt<uint64_t>(page, kMainRootAt)};
}

Status LmdbWalk::Run(const OnValue& on_value) {
  AUGUR_TRY_ASSIGN(first, ReadMeta(0));
  const uint64_t page_bytes = page_bytes_;
  AUGUR_TRY_ASSIGN(second, ReadMeta(page_bytes));
  if (page_bytes_ != page_bytes) return Damaged("its two descriptions have pages of other sizes");
  Tree tree = second.transaction > first.transaction ? second : first;
  page_count_ = container_.bytes / page_bytes_;
  visited_.assign(page_count_, false);
  levels_.assign(kDepthMax, std::vector<std::byte>(page_bytes_));
  if (is_searching_) {
    if (tree.root != kNoPage) AUGUR_TRY(Visit(tree.root, 0, on_value));
    if (!found_) {
      return {Code::kInvalid, Printable(container_.name) + ": has no database '" + Excerpt(database_) + "' (" +
                                  (databases_.empty() ? "it has none with a name" : "it has " + Excerpt(databases_)) +
                                  "): --db=NAME takes one that is there"};
    }
    is_searching_ = false;
    tree = *found_;
  }
  if ((tree.flags & kManyValues) != 0) {
    return {Code::kUnsupported, Printable(container_.name) + ": has several values of one key (DUPSORT): " + kCure};
  }
  return tree.root == kNoPage ? Status() : Visit(tree.root, 0, on_value);
}

Status LmdbWalk::Mark(uint64_t page) {
  if (page >= page_count_) {
    return Damaged("its tree leads to page " + std::to_string(page) + ", and it has " + std::to_string(page_count_));
  }
  if (visited_[page]) return Damaged("its tree leads to page " + std::to_string(page) + " twice");
  visited_[page] = true;
  return {};
}

Result<std::span<const std::byte>> LmdbWalk::ReadPage(uint64_t number, unsigned depth) {
  AUGUR_TRY(Mark(number));
  if (depth >= kDepthMax) return Damaged("its tree is deeper than 32 pages");
  std::vector<std::byte>& page = levels_[depth];
  const Status read = container_.input.ReadAt(number * page_bytes_, page);
  if (!read.ok()) return read.In(Printable(container_.name));
  if (NumberAt<uint64_t>(page, 0) != number) return Damaged("page " + std::to_string(number) + " has another number");
  return std::span<const std::byte>(page);
}

Status LmdbWalk::Visit(uint64_t number, unsigned depth, const OnValue& on_value) {
  AUGUR_TRY_ASSIGN(page, ReadPage(number, depth));
  const uint16_t flags = NumberAt<uint16_t>(page, kPageFlagsAt) & (kBranchPage | kLeafPage | kOverflowPage | kMetaPage);
  const size_t lower = NumberAt<uint16_t>(page, kLowerAt);
  const auto broken = [&] { return Damaged("page " + std::to_string(number) + " is broken"); };
  if ((flags != kBranchPage && flags != kLeafPage) || lower < kPageHeadBytes || lower > page.size()) return broken();
  for (size_t at = kPageHeadBytes; at + 2 <= lower; at += 2) {
    const size_t node_at = NumberAt<uint16_t>(page, at);
    if (node_at < lower || node_at + kNodeHeadBytes > page.size()) return broken();
    const std::span<const std::byte> node = page.subspan(node_at);
    if (kNodeHeadBytes + NumberAt<uint16_t>(node, 6) > node.size()) return broken();
    if (flags == kLeafPage) {
      AUGUR_TRY(TakeLeaf(page, node, on_value));
      continue;
    }
    const uint64_t child = NumberAt<uint32_t>(node, 0) | uint64_t{NumberAt<uint16_t>(node, 4)} << 32;
    AUGUR_TRY(Visit(child, depth + 1, on_value));
  }
  return {};
}

// A key and its value, or where that lies. `node` begins within `page`, and has its key.
Status LmdbWalk::TakeLeaf(std::span<const std::byte> page, std::span<const std::byte> node, const OnValue& on_value) {
  const auto value_bytes = NumberAt<uint32_t>(node, 0);
  const auto flags = NumberAt<uint16_t>(node, 4);
  const size_t key_bytes = NumberAt<uint16_t>(node, 6);
  const std::string_view key(reinterpret_cast<const char*>(node.data()) + kNodeHeadBytes, key_bytes);
  const std::span<const std::byte> value = node.subspan(kNodeHeadBytes + key_bytes);
  if ((flags & kDatabaseOrMany) != 0) return TakeDatabase(key, value, flags);
  const bool is_large = (flags & kLargeValue) != 0;
  if (is_searching_) return {};
  if (value.size() < (is_large ? sizeof(uint64_t) : value_bytes)) {
    return Damaged("the value of '" + Printable(key) + "' leaves its page");
  }
  if (is_large) return TakeLarge(key, NumberAt<uint64_t>(value, 0), value_bytes, on_value);
  const uint64_t page_offset = NumberAt<uint64_t>(page, 0) * page_bytes_;
  const auto within = static_cast<uint64_t>(value.data() - page.data());
  return on_value(key, value.first(value_bytes), page_offset + within);
}

// A database within the main one, or several values of one key.
Status LmdbWalk::TakeDatabase(std::string_view key, std::span<const std::byte> value, uint16_t flags) {
  if ((flags & kDatabase) == 0) {
    return {Code::kUnsupported, Printable(container_.name) + ": '" + Printable(key) + "' has several values: " + kCure};
  }
  if (!is_searching_) {
    return {Code::kUnsupported, Printable(container_.name) + ": '" + Printable(key) +
                                    "' is a database within the database: --db=" + Printable(key) + " takes it"};
  }
  databases_ += (databases_.empty() ? "'" : ", '") + std::string(key) + "'";
  if (key != database_) return {};
  if (value.size() < kDatabaseBytes) return Damaged("the database '" + Printable(key) + "' leaves its page");
  found_ = Tree{.flags = NumberAt<uint16_t>(value, 4), .root = NumberAt<uint64_t>(value, 40)};
  return {};
}

// A value on pages of its own.
Status LmdbWalk::TakeLarge(std::string_view key, uint64_t page, uint32_t bytes, const OnValue& on_value) {
  if (bytes > ContainerCursor::kTakeBytesMax) return Damaged("the value of '" + Printable(key) + "' is over 1 GiB");
  const uint64_t pages = (kPageHeadBytes + bytes + page_bytes_ - 1) / page_bytes_;
  for (uint64_t i = 0; i < pages; ++i) AUGUR_TRY(Mark(page + i));
  const uint64_t begin = page * page_bytes_;
  value_.resize(kPageHeadBytes + bytes);
  const Status read = container_.input.ReadAt(begin, value_);
  if (!read.ok()) return read.In(Printable(container_.name));
  const std::span<const std::byte> value = value_;
  if (NumberAt<uint64_t>(value, 0) != page || (NumberAt<uint16_t>(value, kPageFlagsAt) & kOverflowPage) == 0) {
    return Damaged("the value of '" + Printable(key) + "' is not where it should be");
  }
  return on_value(key, value.subspan(kPageHeadBytes), begin + kPageHeadBytes);
}

}  // namespace augur
