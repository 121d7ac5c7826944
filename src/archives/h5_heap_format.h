// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "archives/archive_format.h"

namespace augur {

// H5HeapFormat is where an HDF5 file keeps values of variable length: a collection of the global heap for each image,
// with its file as the object number 1. Each begins on a page of its own and has whole pages, so that no two share one.
// Source: HDF5 File Format Specification 3.0, III.E "Disk Format: Level 1E - Global Heap"; H5HGpkg.h.
class H5HeapFormat final : public ArchiveFormat {
 public:
  static constexpr uint32_t kObject = 1;

  uint64_t SampleBytes(const Sample& sample, const std::string& key) const override;
  size_t short_key_bytes() const override { return SIZE_MAX; }  // there is no key
  SampleFrame Frame(const Sample& sample, const std::string& key) const override;
  uint64_t ImageOffset(const Sample& sample, const std::string& key) const override;
  std::string_view End() const override { return {}; }
};

}  // namespace augur
