// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archives/archive_format.h"
#include "archives/archive_piece.h"
#include "archives/sample_set.h"
#include "augur/store.h"
#include "views/view_spec.h"

namespace augur {

// ArchiveSet is the arithmetic of the archives that a view has for one folder: which samples each shard holds, in which
// order, and what lies where. Sizes are exact, and come from the index alone. Immutable, safe from any thread. Waits
// for pages of the index, and reads no record.
//
// A shard is a run of samples. Where the sums of their bytes are kept is every kStep-th sample; what lies between is
// added up at each question. So the set takes 4 bytes a sample (8 with a shuffle), 8 bytes for each kStep, and 24 for
// each shard.
class ArchiveSet {
 public:
  // Adds up all samples, which takes about a microsecond each. kNoSpace: over `bytes_max`. kInvalid: the SPEC makes
  // more shards than there can be. Else as SampleSet::Read. REQUIRES: spec.has_archives().
  static Result<std::shared_ptr<const ArchiveSet>> Make(const std::shared_ptr<const Store>& store, EntryNumber folder,
                                                        const ViewSpec& spec, uint64_t bytes_max);

  const SampleSet& samples() const { return samples_; }
  // None where the folder has no sample.
  uint32_t shard_count() const { return static_cast<uint32_t>(shards_.size()); }

  // Of the shard: how many samples, the size of the file, and how much of that are images.
  // REQUIRES for all: shard < shard_count().
  uint32_t SampleCount(uint32_t shard) const { return EndOf(shard) - shards_[shard].first; }
  uint64_t FileBytes(uint32_t shard) const;
  uint64_t ImageBytes(uint32_t shard) const { return shards_[shard].image_bytes; }

  // The bytes [offset, offset + bytes) of the file, in order, cut at its end. Failures of the store.
  Result<std::vector<ArchivePiece>> Pieces(uint32_t shard, uint64_t offset, uint64_t bytes) const;

  // The index of the shard for DALI: a line "OFFSET BYTES" for each sample, all lines of one length. Its size, and the
  // bytes [offset, offset + bytes) of it, cut at its end.
  uint64_t IndexBytes(uint32_t shard) const { return uint64_t{SampleCount(shard)} * kIndexLineBytes; }
  Result<std::string> IndexText(uint32_t shard, uint64_t offset, uint64_t bytes) const;

  uint64_t memory_bytes() const;

 private:
  // Two numbers below 10^15, the space between, and the end.
  static constexpr uint64_t kIndexLineBytes = 32;
  static constexpr uint32_t kStep = 64;

  struct Shard {
    uint32_t first = 0;        // place of its first sample
    uint64_t begin = 0;        // bytes of all samples before it
    uint64_t image_bytes = 0;  // of its images
  };

  ArchiveSet(SampleSet samples, const ViewSpec& spec);
  Status AddUp();
  Status Cut(const ArchiveSpec& spec);
  Status CutByBytes(uint64_t bytes_max);
  // The sample at a place in the order of the archives.
  Result<Sample> At(uint32_t place) const;
  // The last place of the shard whose sum is kept, or its first one, that is not behind the byte: of all samples, from
  // the first shard on. And the bytes before that place.
  std::pair<uint32_t, uint64_t> PlaceBefore(uint32_t shard, uint64_t byte) const;
  // The place of that step, or the first one of the shard, if that is behind it; and the bytes before.
  std::pair<uint32_t, uint64_t> KeptPlace(uint32_t shard, uint32_t step) const;
  // Its bytes; `key` is empty where it makes no difference.
  Result<uint64_t> BytesAt(uint32_t place, uint64_t* image_bytes) const;
  uint32_t EndOf(uint32_t shard) const;
  uint64_t SampleBytesOf(uint32_t shard) const;

  const SampleSet samples_;
  const std::unique_ptr<const ArchiveFormat> format_;
  std::vector<uint32_t> order_;   // samples by place; empty: each has its own number
  std::vector<uint64_t> before_;  // bytes of all samples before each kStep-th place
  uint64_t all_bytes_ = 0;        // of all samples
  bool has_long_keys_ = false;    // sizes depend on keys
  std::vector<Shard> shards_;
};

}  // namespace augur
