// SPDX-License-Identifier: Apache-2.0
#include "archives/zarr_shard.h"

#include <cstddef>
#include <span>

#include "archives/little_endian.h"
#include "archives/stacked_arrays.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/page.h"

namespace augur {
namespace {

constexpr uint64_t kIndexItemBytes = 2 * sizeof(uint64_t);
constexpr uint64_t kIndexCrcBytes = sizeof(uint32_t);
constexpr uint64_t kAbsentChunk = UINT64_MAX;

}  // namespace

ZarrShard::ZarrShard(uint32_t chunks, uint64_t chunk_bytes)
    : chunks_(chunks),
      chunk_bytes_(chunk_bytes),
      stride_(StrideOnPages(chunk_bytes)),
      data_begin_(RoundUp(index_bytes(), kPageBytes)) {}

uint64_t ZarrShard::index_bytes() const { return chunks_ * kIndexItemBytes + kIndexCrcBytes; }

uint64_t ZarrShard::FileBytes(uint64_t there) const {
  AUGUR_CHECK(there > 0 && there <= chunks_);
  return RoundUp(ChunkPlace(there - 1) + chunk_bytes_, kPageBytes);
}

std::string ZarrShard::Index(uint64_t there) const {
  AUGUR_CHECK(there > 0 && there <= chunks_);
  std::string text;
  text.reserve(index_bytes());
  for (uint64_t chunk = 0; chunk < chunks_; ++chunk) {
    AddLittleEndian(chunk < there ? ChunkPlace(chunk) : kAbsentChunk, sizeof(uint64_t), &text);
    AddLittleEndian(chunk < there ? chunk_bytes_ : kAbsentChunk, sizeof(uint64_t), &text);
  }
  AddLittleEndian(Crc32c(std::as_bytes(std::span(text))), kIndexCrcBytes, &text);
  return text;
}

}  // namespace augur
