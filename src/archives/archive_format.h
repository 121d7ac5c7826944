// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archives/sample_set.h"
#include "views/view_spec.h"

namespace augur {

// A sample in an archive: these bytes, the image's file as it is, and these.
struct SampleFrame {
  std::string head;
  // Some formats have a checksum of the image behind it: the masked CRC-32C (4 bytes, MaskedCrc32c) of some bytes,
  // whose CRC-32C is this, and the image. It is computed when it is read.
  std::optional<uint32_t> crc_before_image;
  std::string tail;
};

// ArchiveFormat lays samples out in a file of one format, one behind the other. What it makes depends on the sample
// alone, so it is the same at every call. No I/O. Safe from any thread.
class ArchiveFormat {
 public:
  virtual ~ArchiveFormat() = default;
  ArchiveFormat(const ArchiveFormat&) = delete;
  ArchiveFormat& operator=(const ArchiveFormat&) = delete;

  // Bytes of the sample's frame and its image. A key of at most short_key_bytes() may be given empty, here and to
  // ImageOffset.
  virtual uint64_t SampleBytes(const Sample& sample, const std::string& key) const = 0;
  virtual size_t short_key_bytes() const = 0;
  virtual SampleFrame Frame(const Sample& sample, const std::string& key) const = 0;
  // Bytes of the frame before the image: the size of Frame().head, for all samples in turn.
  virtual uint64_t ImageOffset(const Sample& sample, const std::string& key) const = 0;
  // Whether a shard begins with how many samples it has, the place of each, and that of the end: numbers of 32 bits.
  virtual bool has_places() const { return false; }
  // What stands behind these, in front of the first sample.
  virtual std::string_view Begin() const { return {}; }
  // What stands behind the last sample.
  virtual std::string_view End() const = 0;

 protected:
  ArchiveFormat() = default;
};

// REQUIRES: spec.has_archives(), and not those of zarr.
std::unique_ptr<const ArchiveFormat> MakeArchiveFormat(const ViewSpec& spec);

}  // namespace augur
