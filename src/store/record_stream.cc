// SPDX-License-Identifier: Apache-2.0
#include "store/record_stream.h"

#include <algorithm>

#include "augur/store.h"
#include "base/check.h"

namespace augur {

void RecordStream::Begin() {
  AUGUR_CHECK(!active_);
  active_ = true;
  size_ = 0;
  block_bytes_ = 0;
  first_block_ = blocks_.count();
  record_hash_.Reset();
  block_hash_.Reset();
}

Status RecordStream::Write(std::span<const std::byte> bytes) {
  AUGUR_CHECK(active_);
  if (bytes.empty()) return Status::Ok();
  if (size_ == 0) {
    AUGUR_TRY(series_.BeginRecord());
    offset_ = series_.current()->end();
  }
  while (!bytes.empty()) {
    // By block, so that the second hash and the copy find the bytes in the cache.
    const auto part = bytes.first(std::min<uint64_t>(bytes.size(), kBlockBytes - block_bytes_));
    record_hash_.Add(part);
    block_hash_.Add(part);
    AUGUR_TRY(series_.current()->Append(part));
    size_ += part.size();
    block_bytes_ += part.size();
    if (block_bytes_ == kBlockBytes) AUGUR_TRY(EndBlock());
    bytes = bytes.subspan(part.size());
  }
  return Status::Ok();
}

Status RecordStream::EndBlock() {
  const Hash128 hash = block_hash_.Digest();
  AUGUR_TRY(blocks_.Add({&hash, 1}).status());
  block_hash_.Reset();
  block_bytes_ = 0;
  return Status::Ok();
}

Result<RecordPlace> RecordStream::End() {
  AUGUR_CHECK(active_);
  if (size_ > kBlockBytes) {
    if (block_bytes_ > 0) AUGUR_TRY(EndBlock());
  } else {
    blocks_.Truncate(first_block_);
  }
  active_ = false;
  if (size_ == 0) return RecordPlace{};
  return records_.Settle(offset_, size_, first_block_, record_hash_.Digest());
}

Status RecordStream::Abandon() {
  AUGUR_CHECK(active_);
  active_ = false;
  blocks_.Truncate(first_block_);
  return size_ == 0 ? Status::Ok() : series_.current()->Rewind(offset_);
}

}  // namespace augur
