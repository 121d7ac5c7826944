// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/check.h"
#include "base/mutex.h"
#include "store/format.h"
#include "store/index_blocks.h"
#include "store/index_header.h"
#include "store/manifest.h"

namespace augur {

// IndexReader reads the index file of one generation, with its checksums (FORMAT.md sections 3 and 4). Every byte that
// it hands out lies in the section asked for, and in a block that has been checked since it was read from the file. It
// is a byte of this process's own memory. A file that is changed, made shorter or lost while it is open makes the first
// use of a block fail, and nothing else.
// Safe from any thread; waits for the disk at the first use of a block. Holds the file (and so whatever lock is on
// it) and the memory; text that it hands out lives as long as it. Knows sections and items, not what they mean: Tree.
class IndexReader {
 public:
  // Opens the index that `file` is, after checking the header. `manifest` is the one that names this index, or
  // nullptr when an older generation is opened. `bytes_max`: of blocks in memory (IndexBlocks; names are kept).
  // kCorrupt, kUnsupported: the defect, with the name.
  static Result<std::unique_ptr<IndexReader>> Open(std::shared_ptr<const StoredFile> file, uint64_t generation,
                                                   const Manifest* manifest, uint64_t bytes_max);
  IndexReader(const IndexReader&) = delete;
  IndexReader& operator=(const IndexReader&) = delete;

  const std::string& name() const { return file_->path(); }  // "index-00000003", for messages
  const CheckedHeader& header() const { return header_; }
  // REQUIRES: Has(id).
  uint64_t ItemCount(format::SectionId id) const { return sections_[id].bytes / sections_[id].item_bytes; }
  bool Has(format::SectionId id) const { return sections_.Has(id); }

  // Copies the first sizeof(T) bytes of item `number` of a section: an item of version 1 is what one of version 2
  // begins with. kCorrupt: there is no such item, or its block does not match its checksum. kIo: the file cannot be
  // read there.
  template <typename T>
  Status Load(format::SectionId id, uint64_t number, T* item) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const format::Section& section = sections_[id];
    AUGUR_CHECK(sizeof(T) <= section.item_bytes);
    if (number >= section.bytes / section.item_bytes) return NoSuchItem(id, number);
    return blocks_->Copy(section.offset + number * section.item_bytes - format::kBodyOffset,
                         std::as_writable_bytes(std::span(item, 1)));
  }

  // The bytes at `offset` of NAMES. REQUIRES: HasText(offset, bytes). Fails as Load does.
  Status LoadText(uint64_t offset, uint64_t bytes, std::string_view* text) const {
    const std::byte* at = nullptr;
    AUGUR_TRY(blocks_->View(sections_[format::SectionId::kNames].offset + offset - format::kBodyOffset, bytes, &at));
    *text = {reinterpret_cast<const char*>(at), bytes};
    return Status::Ok();
  }
  // Whether such a text lies in NAMES.
  bool HasText(uint64_t offset, uint64_t bytes) const {
    const uint64_t names_bytes = sections_[format::SectionId::kNames].bytes;
    return offset <= names_bytes && bytes <= names_bytes - offset;
  }

  // Blocks of the body, and the check of one of them in the file as it is now; for a full check.
  uint64_t BlockCount() const { return block_count_; }
  Status CheckBlock(uint64_t block) const;

  // Bytes of the index that are in this process's memory.
  uint64_t held_bytes() const { return blocks_->held_bytes(); }

 private:
  IndexReader(std::shared_ptr<const StoredFile> file, CheckedHeader header, const SectionTable& sections);

  Status ReadBlock(uint64_t block, std::span<std::byte> to) const;
  // The item of CHECKSUMS of a block, in memory that stays.
  Result<std::span<const std::byte>> SumOf(uint64_t block) const;
  // Piece `root` of CHECKSUMS: empty where it was not read yet; and reads it.
  std::span<const std::byte> HeldSums(uint64_t root) const AUGUR_EXCLUDES(sums_mu_);
  Result<std::span<const std::byte>> ReadSums(uint64_t root) const AUGUR_EXCLUDES(sums_mu_);
  Status NoSuchItem(format::SectionId id, uint64_t number) const;

  // Constant after construction.
  const std::shared_ptr<const StoredFile> file_;
  const CheckedHeader header_;
  const SectionTable sections_;
  const uint64_t block_count_;
  std::unique_ptr<IndexBlocks> blocks_;  // own synchronization

  // The pieces of CHECKSUMS that were needed, checked; empty where none was. One that is not empty never changes.
  mutable Mutex sums_mu_;
  mutable std::vector<std::vector<std::byte>> sums_ AUGUR_GUARDED_BY(sums_mu_);
};

}  // namespace augur
