// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"
#include "store/entry_check.h"
#include "store/index_reader.h"

namespace augur {

// Tree reads entries out of an index and checks each against every rule of FORMAT.md section 5 before it hands it
// out. Nothing is kept between calls, so memory does not grow with the tree.
// Safe from any thread. Does not own the index, which must outlive it. Touches no shard.
// Failures, unless a comment says otherwise: kCorrupt "index-...: entry N: defect" or "...: block N: checksum
// mismatch", and kIo.
class Tree {
 public:
  explicit Tree(const IndexReader* index);

  // See the methods of the same name in Store.
  Result<Entry> Get(uint64_t number) const;
  Result<Entry> Lookup(const Entry& directory, std::string_view name) const;
  Result<Entry> Child(const Entry& directory, uint64_t position) const;
  Result<uint64_t> ListedPosition(const Entry& directory, uint64_t place) const;
  Result<uint64_t> ListingPlace(const Entry& directory, uint64_t position) const;
  Result<Entry> Find(std::string_view path) const;
  Result<std::string> PathOf(uint64_t number) const;
  Result<std::string_view> LinkTarget(const Entry& link) const;
  Result<Hash128> BlockHash(const Entry& file, uint64_t block) const;
  Result<Digest> BlockDigest(const Entry& file, uint64_t block) const;
  Result<Digest> RecordDigest(const Entry& file) const;

  // The path for a message: PathOf made printable, or "entry N" when it cannot be told.
  std::string PathForMessage(uint64_t number) const;

  // kCorrupt: "shard-...: record N block B (path): checksum mismatch"; the block only when one is given.
  Status ChecksumMismatch(std::string_view locator, const Entry& file, std::optional<uint64_t> block = {}) const;
  // kCorrupt: "index-...: entry N: defect".
  Status Defect(uint64_t number, const char* defect) const;
  // Name bytes of an entry, without any other check of it. REQUIRES: not the root.
  Status LoadName(uint64_t number, std::string_view* name) const;

  uint64_t entry_count() const { return limits_.entry_count; }
  const EntryLimits& limits() const { return limits_; }
  // Whether the index has a digest for each record: from version 2 on.
  bool has_digests() const { return index_->header().layout().version > 1; }
  // Whether the index has a listing of its own, beside the order of names.
  bool has_listing() const { return index_->Has(format::SectionId::kListing); }

 private:
  // Loads an entry and checks everything but its parent and its place.
  Status LoadEntry(uint64_t number, Entry* entry) const;
  // Checks that the entry, a child of `directory`, says so and stands behind a smaller name there.
  Status CheckPlace(const Entry& directory, uint64_t position, const Entry& child) const;

  const IndexReader* const index_;
  const EntryLimits limits_;
};

}  // namespace augur
