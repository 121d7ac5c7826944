// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archives/archive_files.h"
#include "archives/archive_format.h"
#include "archives/archive_piece.h"
#include "archives/sample_set.h"
#include "augur/store.h"
#include "datasets/order.h"
#include "views/view_spec.h"

namespace augur {

// ArchiveSet is the arithmetic of archives that have the images' files one behind the other, each in a frame
// (ArchiveFormat). It says which samples each shard holds, in which order, and what lies where. Sizes are exact, and
// come from the index alone.
//
// A shard is a run of samples. Where the sums of their bytes are kept is every kStep-th sample; what lies between is
// added up at each question. So the set takes 4 bytes a sample (8 with a shuffle), 8 bytes for each kStep, and 24 for
// each shard.
class ArchiveSet final : public ArchiveFiles {
 public:
  // Adds up all samples, which takes about a microsecond each. kNoSpace: over `bytes_max`. kInvalid: the SPEC makes
  // more shards than there can be. Else as SampleSet::Read. REQUIRES: spec.has_archives().
  static Result<std::shared_ptr<const ArchiveSet>> Make(const std::shared_ptr<const Store>& store, EntryNumber folder,
                                                        const ViewSpec& spec, uint64_t bytes_max);

  const SampleSet& samples() const override { return samples_; }
  uint32_t shard_count() const override { return static_cast<uint32_t>(shards_.size()); }

  uint32_t SampleCount(uint32_t shard) const override { return EndOf(shard) - shards_[shard].first; }
  uint64_t FileBytes(uint32_t shard) const override;
  uint64_t ImageBytes(uint32_t shard) const override { return shards_[shard].image_bytes; }
  Result<std::vector<ArchivePiece>> Pieces(uint32_t shard, uint64_t offset, uint64_t bytes) const override;

  uint64_t IndexBytes(uint32_t shard) const override { return uint64_t{SampleCount(shard)} * kIndexLineBytes; }
  Result<std::string> IndexText(uint32_t shard, uint64_t offset, uint64_t bytes) const override;

  std::string ShardName(uint32_t shard) const override;
  std::optional<uint32_t> FindShard(std::string_view name) const override;

  Status ForEachSample(const TakeSample& take) const override;

  // Where the samples [first, first + count) of the shard begin in the file, and where the last one ends: count + 1
  // numbers. REQUIRES: the shard has them. Failures of the store.
  Result<std::vector<uint64_t>> SamplePlaces(uint32_t shard, uint32_t first, uint32_t count) const;

  uint64_t memory_bytes() const override;

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
  Status MakeParts(EntryNumber folder, const Store& store, const ViewSpec& spec);
  // Of what stands before the first sample: how much, and the bytes [begin, end) of it.
  uint64_t HeadBytes(uint32_t shard) const;
  Result<std::string> HeadText(uint32_t shard, uint64_t begin, uint64_t end) const;
  // The sample at a place in the order of the archives.
  Result<Sample> At(uint32_t place) const;
  // The last place of the shard whose sum is kept, or its first one, that is not behind the byte: of all samples, from
  // the first shard on. And the bytes before that place.
  std::pair<uint32_t, uint64_t> PlaceBefore(uint32_t shard, uint64_t byte) const;
  // The place of that step, or the first one of the shard, if that is behind it; and the bytes before.
  std::pair<uint32_t, uint64_t> KeptPlace(uint32_t shard, uint32_t step) const;
  // Its key; empty where that makes no difference for its bytes.
  Result<std::string> LongKeyOf(const Sample& sample) const;
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
