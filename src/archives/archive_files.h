// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archives/archive_part.h"
#include "archives/archive_piece.h"
#include "archives/sample_set.h"
#include "augur/store.h"
#include "datasets/order.h"
#include "views/view_spec.h"

namespace augur {

// ArchiveFiles are the archives that a view has for one folder: how many, how large, and what lies where in them. Each
// is called a shard, by its number. Immutable, safe from any thread. Waits for pages of the index, and reads no record.
//
// Views of the kinds mds and zarr have a folder for all archives of a folder. What else lies in that are its parts.
class ArchiveFiles {
 public:
  // Of a folder, for the SPEC. kNoSpace: it takes over `bytes_max`. kInvalid: the SPEC makes files that there cannot
  // be. Else as SampleSet::Read. REQUIRES: spec.has_archives().
  static Result<std::shared_ptr<const ArchiveFiles>> Make(const std::shared_ptr<const Store>& store, EntryNumber folder,
                                                          const ViewSpec& spec, uint64_t bytes_max);

  virtual ~ArchiveFiles() = default;
  ArchiveFiles(const ArchiveFiles&) = delete;
  ArchiveFiles& operator=(const ArchiveFiles&) = delete;

  virtual const SampleSet& samples() const = 0;
  // None where the folder has no sample.
  virtual uint32_t shard_count() const = 0;

  // Of the shard: how many samples, the size of the file, and how much of that are images: as they are stored, or as
  // they are made. REQUIRES for all: shard < shard_count().
  virtual uint32_t SampleCount(uint32_t shard) const = 0;
  virtual uint64_t FileBytes(uint32_t shard) const = 0;
  virtual uint64_t ImageBytes(uint32_t shard) const = 0;
  // The bytes [offset, offset + bytes) of the file, in order, cut at its end. Failures of the store.
  virtual Result<std::vector<ArchivePiece>> Pieces(uint32_t shard, uint64_t offset, uint64_t bytes) const = 0;
  // Where a sample lies: the bytes of its shard's file that are its frame and its image.
  struct Span {
    EntryNumber image = 0;
    uint32_t shard = 0;
    uint64_t begin = 0;
    uint64_t image_begin = 0;
    uint64_t image_end = 0;
    uint64_t end = 0;
  };
  // Goes through all samples by place: the order in which they lie, shard after shard. About a microsecond each.
  // Failures of the store.
  using TakeSample = std::function<void(uint32_t place, const Span& span)>;
  virtual Status ForEachSample(const TakeSample& take) const = 0;
  // The images by place. Takes as long.
  Result<Order> Images() const;

  // Where a shard is made of one image and has nothing else: that image. Failures of the store.
  virtual Result<std::optional<Entry>> OnlyImage(uint32_t /*shard*/) const { return std::optional<Entry>(); }

  // The index of the shard for DALI: a line "OFFSET BYTES" for each sample, all lines of one length. Its size, and the
  // bytes [offset, offset + bytes) of it, cut at its end.
  virtual uint64_t IndexBytes(uint32_t /*shard*/) const { return 0; }
  virtual Result<std::string> IndexText(uint32_t /*shard*/, uint64_t /*offset*/, uint64_t /*bytes*/) const {
    return std::string();
  }

  // None where the archives lie beside their folder, or there are none. At most kPartsMax.
  static constexpr uint32_t kPartsMax = 16;
  const ArchiveParts& parts() const { return parts_; }
  // Of a part that is a file: its size, and the bytes [offset, offset + bytes) of it, cut at its end.
  virtual uint64_t PartBytes(uint32_t part) const { return parts_[part].text.size(); }
  virtual std::string PartText(uint32_t part, uint64_t offset, uint64_t bytes) const;
  // The part that has the shards, and how they are called there. REQUIRES for all: there are parts.
  virtual uint32_t shard_folder() const { return kWholePart; }
  virtual std::string ShardName(uint32_t /*shard*/) const { return {}; }
  virtual std::optional<uint32_t> FindShard(std::string_view /*name*/) const { return std::nullopt; }

  virtual uint64_t memory_bytes() const = 0;

 protected:
  ArchiveFiles() = default;

  ArchiveParts parts_;  // constant once it is made
};

}  // namespace augur
