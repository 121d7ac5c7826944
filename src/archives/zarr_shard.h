// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace augur {

// ZarrShard is where everything lies in a file of Zarr's codec sharding_indexed. First is the index: place and length
// of each chunk as 64-bit numbers, and the CRC-32C of all. Then the chunks follow, each at the beginning of a page, so
// that one that cannot be made spoils no other one. Room between chunks, which the format allows, is as StrideOnPages
// says. Chunks are there from the first on; those that are not are called so by the index, and take no room. Immutable.
// Source: zarr-specs, v3 codecs sharding-indexed 1.0 and crc32c 1.0.
class ZarrShard {
 public:
  // Of `chunks` chunks of `chunk_bytes` bytes, above 0 both.
  ZarrShard(uint32_t chunks, uint64_t chunk_bytes);

  uint64_t index_bytes() const;
  uint64_t stride() const { return stride_; }
  // Of chunk i of those that a shard may have.
  uint64_t ChunkPlace(uint64_t chunk) const { return data_begin_ + chunk * stride_; }
  // Of a shard that has the first `there` of its chunks. REQUIRES for both: 0 < there, and no more than it may have.
  uint64_t FileBytes(uint64_t there) const;
  std::string Index(uint64_t there) const;

 private:
  // Constant after construction.
  const uint32_t chunks_;
  const uint64_t chunk_bytes_;
  const uint64_t stride_;
  const uint64_t data_begin_;
};

}  // namespace augur
