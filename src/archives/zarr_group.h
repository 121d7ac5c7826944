// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archives/archive_files.h"
#include "archives/stacked_arrays.h"
#include "archives/zarr_shard.h"
#include "augur/store.h"
#include "views/view_spec.h"

namespace augur {

// ZarrGroup is the Zarr group of a folder: the arrays images and labels in the order of the samples, whose chunks are
// not compressed. Each shard is a chunk of images: as many as the SPEC says, zeros behind the last one. A chunk of one
// image is nothing but what the view makes of that image. Where the SPEC says so, a shard is one of the format's own,
// with many chunks (ZarrShard). All labels are one chunk; the names of the classes are an attribute of labels.
// Source: zarr-specs v2, and v3 core with the chunk key encoding "default"; consolidated metadata as zarr-python has
// them.
class ZarrGroup final : public ArchiveFiles {
 public:
  // As ArchiveFiles::Make.
  static Result<std::shared_ptr<const ArchiveFiles>> Make(const std::shared_ptr<const Store>& store, EntryNumber folder,
                                                          const ViewSpec& spec, uint64_t bytes_max);

  const SampleSet& samples() const override { return samples_; }
  uint32_t shard_count() const override { return (samples_.size() + file_images_ - 1) / file_images_; }
  uint32_t SampleCount(uint32_t shard) const override;
  uint64_t FileBytes(uint32_t shard) const override;
  uint64_t ImageBytes(uint32_t shard) const override { return SampleCount(shard) * arrays_.array_bytes; }
  Result<std::vector<ArchivePiece>> Pieces(uint32_t shard, uint64_t offset, uint64_t bytes) const override;
  Status ForEachSample(const TakeSample& take) const override;
  Result<std::optional<Entry>> OnlyImage(uint32_t shard) const override;

  uint64_t PartBytes(uint32_t part) const override;
  std::string PartText(uint32_t part, uint64_t offset, uint64_t bytes) const override;
  uint32_t shard_folder() const override { return images_part_; }
  std::string ShardName(uint32_t shard) const override;
  std::optional<uint32_t> FindShard(std::string_view name) const override;

  uint64_t memory_bytes() const override;

 private:
  ZarrGroup(SampleSet samples, const ViewSpec& spec);
  uint32_t AddPart(const char* name, uint32_t folder, std::string text);
  uint32_t AddFolder(const char* name);
  uint64_t chunk_bytes() const { return chunk_ * arrays_.array_bytes; }
  uint64_t ChunkCount(uint32_t shard) const { return (SampleCount(shard) + chunk_ - 1) / chunk_; }
  Status AddChunks(uint32_t shard, uint64_t begin, uint64_t end, std::vector<ArchivePiece>* pieces) const;
  void MakeParts(const ViewSpec& spec, const std::vector<std::string>& classes);

  const SampleSet samples_;
  const StackedArrays arrays_;
  const uint32_t chunk_;                   // images
  const uint32_t file_images_;             // of a file that is full
  const std::optional<ZarrShard> layout_;  // nothing: a file is a chunk
  const std::string full_index_;           // of a file that has all of its chunks
  const std::string last_index_;
  const std::string_view name_begin_;  // of chunks
  // Constant once it is made.
  uint32_t images_part_ = 0;
  uint32_t labels_part_ = 0;  // the chunk
};

}  // namespace augur
