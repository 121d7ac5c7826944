// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "store/format.h"
#include "store/index_header.h"
#include "store/manifest.h"

namespace augur {

// MappedIndex is the index file of one generation, mapped, with its checksums (FORMAT.md sections 3 and 4). Every byte
// that it hands out lies in the section asked for and in blocks that have been checked; the check is made at first use
// and remembered in a bit a block.
// Safe from any thread. Owns the descriptor (and so whatever lock is on it) and the mapping; text that it hands out
// lives as long as it. Knows sections and items, not what they mean: Tree.
//
// A block is checked in a copy that pread(2) makes, not in the mapping, because a disk error is then a kIo of this call
// and not a SIGBUS of the process. Later uses read the mapping; the block is then in the page cache.
class MappedIndex {
 public:
  // Maps the index that `fd` has open, after checking the header. `manifest` is the one that names this index, or
  // nullptr when an older generation is opened. kCorrupt, kUnsupported: the defect, with `name`.
  static Result<std::unique_ptr<MappedIndex>> Map(UniqueFd fd, std::string name, uint64_t generation,
                                                  const Manifest* manifest);
  ~MappedIndex();
  MappedIndex(const MappedIndex&) = delete;
  MappedIndex& operator=(const MappedIndex&) = delete;

  const std::string& name() const { return name_; }  // "index-00000003", for messages
  const format::IndexHeader& header() const { return *header_; }
  uint64_t ItemCount(format::SectionId id) const { return sections_[id].bytes / sections_[id].item_bytes; }

  // Copies item `number` of a section. kCorrupt: there is no such item, or its block does not match its checksum.
  template <typename T>
  Status Load(format::SectionId id, uint64_t number, T* item) const {
    return LoadPrefix(id, number, sizeof(T), item);
  }

  // Copies the first sizeof(T) bytes of an item of `item_bytes` bytes.
  template <typename T>
  Status LoadPrefix(format::SectionId id, uint64_t number, size_t item_bytes, T* prefix) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const format::Section& section = sections_[id];
    if (number >= section.bytes / item_bytes) return NoSuchItem(id, number);
    const uint64_t offset = section.offset + number * item_bytes;
    if (!IsChecked(offset, sizeof(T))) AUGUR_TRY(CheckBlocks(offset, sizeof(T)));
    // A copy, so that what is checked and what is used are the same even if somebody writes to the file.
    std::memcpy(prefix, map_ + offset, sizeof(T));
    return Status::Ok();
  }

  // The bytes at `offset` of NAMES. REQUIRES: HasText(offset, bytes). kCorrupt: a block does not match its checksum.
  Status LoadText(uint64_t offset, uint64_t bytes, std::string_view* text) const {
    const uint64_t in_file = sections_[format::SectionId::kNames].offset + offset;
    if (!IsChecked(in_file, bytes)) AUGUR_TRY(CheckBlocks(in_file, bytes));
    *text = {reinterpret_cast<const char*>(map_) + in_file, bytes};
    return Status::Ok();
  }
  // Whether such a text lies in NAMES.
  bool HasText(uint64_t offset, uint64_t bytes) const {
    const uint64_t names_bytes = sections_[format::SectionId::kNames].bytes;
    return offset <= names_bytes && bytes <= names_bytes - offset;
  }

  // Blocks of the body, and the check of one of them; for a full check.
  uint64_t BlockCount() const { return block_count_; }
  Status CheckBlock(uint64_t block) const;

  // Bytes of the mapping that are in this process's memory, from /proc/self/pagemap: mincore(2) tells it only to those
  // who may write to the file, and smaps walks all memory of the process, 50 ms a GB. 0 when that cannot be read.
  uint64_t ResidentBytes() const;

 private:
  // One bit a block; set when the block has been checked. Bits are only ever set.
  class BlockSet {
   public:
    explicit BlockSet(uint64_t count) : words_(std::make_unique<std::atomic<uint64_t>[]>(count / 64 + 1)) {}
    bool Has(uint64_t i) const { return ((words_[i / 64].load(std::memory_order_acquire) >> (i % 64)) & 1) != 0; }
    void Add(uint64_t i) { words_[i / 64].fetch_or(uint64_t{1} << (i % 64), std::memory_order_release); }

   private:
    std::unique_ptr<std::atomic<uint64_t>[]> words_;
  };

  MappedIndex(UniqueFd fd, std::string name, std::unique_ptr<format::IndexHeader> header, const SectionTable& sections,
              const std::byte* map);

  // `offset` is in the file and in the body.
  bool IsChecked(uint64_t offset, uint64_t bytes) const {
    if (bytes == 0) return true;
    const uint64_t first = offset / format::kBodyBlockBytes - 1;
    const uint64_t last = (offset + bytes - 1) / format::kBodyBlockBytes - 1;
    if (!checked_blocks_->Has(first)) return false;
    return first == last || (last == first + 1 && checked_blocks_->Has(last));
  }
  Status CheckBlocks(uint64_t offset, uint64_t bytes) const;
  Status CheckRoot(uint64_t root) const;
  Status NoSuchItem(format::SectionId id, uint64_t number) const;

  // Constant after construction.
  const UniqueFd fd_;
  const std::string name_;
  const std::unique_ptr<const format::IndexHeader> header_;
  const SectionTable sections_;
  const std::byte* const map_;  // header_->file_bytes long
  const uint64_t block_count_;

  // Own synchronization.
  const std::unique_ptr<BlockSet> checked_blocks_;
  const std::unique_ptr<BlockSet> checked_roots_;
};

}  // namespace augur
