// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archives/archive_files.h"
#include "archives/archive_set.h"
#include "archives/h5_metadata.h"
#include "archives/stacked_arrays.h"
#include "augur/store.h"
#include "views/view_spec.h"

namespace augur {

// H5File is the HDF5 file of a folder. Its datasets, in the order of the samples:
//   images: the decoded images, where the SPEC has a size. Each is a chunk that begins on a page, so that one that
//     cannot be decoded spoils no other one.
//   labels, paths: of each sample. classes: the names of the labels, where there are any.
//   encoded: the images' files as they are, where the SPEC says so.
// Labels, paths, and the places of the files are made of the index when they are read.
class H5File final : public ArchiveFiles {
 public:
  // As ArchiveFiles::Make.
  static Result<std::shared_ptr<const ArchiveFiles>> Make(const std::shared_ptr<const Store>& store, EntryNumber folder,
                                                          const ViewSpec& spec, uint64_t bytes_max);

  const SampleSet& samples() const override { return encoded_->samples(); }
  uint32_t shard_count() const override { return samples().size() > 0 ? 1 : 0; }
  uint32_t SampleCount(uint32_t /*shard*/) const override { return samples().size(); }
  uint64_t FileBytes(uint32_t /*shard*/) const override { return end_; }
  uint64_t ImageBytes(uint32_t shard) const override;
  Result<std::vector<ArchivePiece>> Pieces(uint32_t shard, uint64_t offset, uint64_t bytes) const override;
  Status ForEachSample(const TakeSample& take) const override;
  uint64_t memory_bytes() const override;

 private:
  using AddPieces = std::function<Status(uint64_t begin, uint64_t end, std::vector<ArchivePiece>* pieces)>;
  using MakeText = std::function<Result<std::string>(uint64_t begin, uint64_t end)>;
  // A part of the file, and what gives the bytes [begin, end) of it. Between parts are zeros.
  struct Region {
    uint64_t begin = 0;
    uint64_t end = 0;
    AddPieces add;
  };

  H5File(std::shared_ptr<const ArchiveSet> encoded, const ViewSpec& spec);
  Status LayOut();
  std::vector<H5Dataset> Datasets(size_t class_count, uint32_t class_bytes) const;
  // Puts a region behind the last one, at a multiple of `alignment`, and returns its place.
  uint64_t Place(uint64_t bytes, uint64_t alignment, AddPieces add);
  uint64_t PlaceText(uint64_t bytes, MakeText make);
  Result<std::string> Paths(uint32_t first, uint32_t end) const;
  Result<std::string> References(uint32_t first, uint32_t end) const;
  Result<uint32_t> LongestPath() const;

  // Constant once it is made.
  const std::shared_ptr<const ArchiveSet> encoded_;  // knows the samples, too
  const ViewSpec spec_;
  const std::optional<StackedArrays> images_;
  std::string front_;
  std::string classes_;
  uint32_t path_bytes_ = 0;       // of the longest path
  uint64_t images_address_ = 0;   // of the first array
  uint64_t encoded_address_ = 0;  // of the first file's heap collection
  std::vector<Region> regions_;
  uint64_t end_ = 0;
};

}  // namespace augur
