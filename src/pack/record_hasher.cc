// SPDX-License-Identifier: Apache-2.0
#include "pack/record_hasher.h"

#include <algorithm>
#include <utility>

#include "augur/store.h"
#include "base/check.h"
#include "decode/image_probe.h"

namespace augur {

RecordSums RecordHasher::Of(std::span<const std::byte> bytes) {
  return {.hashes = HashRecord(bytes), .image = ProbeImage(bytes)};
}

void RecordHasher::Begin(uint64_t size) {
  size_ = size;
  added_ = 0;
  hashes_ = {};
  sums_.reset();
  probe_ = {};
  hasher_.Reset();
  block_hasher_.Reset();
  block_digester_.Reset();
  digester_.Reset();
}

void RecordHasher::Add(std::span<const std::byte> bytes) {
  const bool in_blocks = size_ > kBlockBytes;
  if (!in_blocks && added_ == 0 && bytes.size() == size_) {
    sums_ = Of(bytes);
    added_ = size_;
    return;
  }
  hasher_.Add(bytes);
  probe_.Add(bytes);
  while (!bytes.empty()) {
    const size_t n = std::min<uint64_t>(bytes.size(), kBlockBytes - added_ % kBlockBytes);
    if (in_blocks) block_hasher_.Add(bytes.first(n));
    block_digester_.Add(bytes.first(n));
    bytes = bytes.subspan(n);
    added_ += n;
    if (in_blocks && (added_ % kBlockBytes == 0 || added_ == size_)) {
      hashes_.blocks.push_back({.hash = block_hasher_.Digest(), .digest = block_digester_.Finish()});
      digester_.Add(hashes_.blocks.back().digest);
      block_hasher_.Reset();
    }
  }
}

RecordSums RecordHasher::Finish() {
  AUGUR_CHECK(added_ == size_);
  if (sums_) {
    RecordSums sums = *std::move(sums_);
    sums_.reset();
    return sums;
  }
  hashes_.whole = {.hash = hasher_.Digest(),
                   .digest = size_ > kBlockBytes ? digester_.Finish() : block_digester_.Finish()};
  return {.hashes = std::move(hashes_), .image = probe_.Finish()};
}

}  // namespace augur
