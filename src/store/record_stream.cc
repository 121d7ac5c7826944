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
  block_digest_.Reset();
  record_digest_.Reset();
}

Status RecordStream::Append(std::span<const std::byte> bytes) {
  if (size_ == 0) {
    AUGUR_TRY(series_.BeginRecord());
    offset_ = series_.current()->end();
  }
  AUGUR_TRY(series_.current()->Append(bytes));
  size_ += bytes.size();
  return Status::Ok();
}

Status RecordStream::Write(std::span<const std::byte> bytes) {
  AUGUR_CHECK(active_);
  while (!bytes.empty()) {
    // By block, so that the second hash and the copy find the bytes in the cache.
    const auto part = bytes.first(std::min<uint64_t>(bytes.size(), kBlockBytes - block_bytes_));
    record_hash_.Add(part);
    block_hash_.Add(part);
    block_digest_.Add(part);
    AUGUR_TRY(Append(part));
    block_bytes_ += part.size();
    if (block_bytes_ == kBlockBytes) AUGUR_TRY(EndBlock());
    bytes = bytes.subspan(part.size());
  }
  return Status::Ok();
}

Status RecordStream::Write(std::span<const std::byte> bytes, std::span<const HashPair> blocks) {
  AUGUR_CHECK(active_ && size_ % kBlockBytes == 0 && blocks.size() == (bytes.size() + kBlockBytes - 1) / kBlockBytes);
  for (const HashPair& block : blocks) {
    const auto part = bytes.first(std::min<uint64_t>(bytes.size(), kBlockBytes));
    record_hash_.Add(part);
    AUGUR_TRY(Append(part));
    AUGUR_TRY(AddBlock(block));
    bytes = bytes.subspan(part.size());
  }
  return Status::Ok();
}

Status RecordStream::EndBlock() {
  block_bytes_ = 0;
  const HashPair hashes{.hash = block_hash_.Digest(), .digest = block_digest_.Finish()};
  block_hash_.Reset();
  return AddBlock(hashes);
}

Status RecordStream::AddBlock(const HashPair& hashes) {
  last_block_ = hashes;
  record_digest_.Add(hashes.digest);
  return blocks_.Add({&hashes, 1}).status();
}

Result<HashPair> RecordStream::Finish() {
  AUGUR_CHECK(active_);
  if (block_bytes_ > 0 || size_ == 0) AUGUR_TRY(EndBlock());
  hashes_.hash = record_hash_.Digest();
  hashes_.digest = size_ > kBlockBytes ? record_digest_.Finish() : last_block_.digest;
  return hashes_;
}

Result<RecordPlace> RecordStream::End() {
  AUGUR_CHECK(active_ && block_bytes_ == 0);
  if (size_ <= kBlockBytes) blocks_.Truncate(first_block_);
  active_ = false;
  if (size_ == 0) return RecordPlace{};
  return records_.FinishRecord(offset_, size_, first_block_, hashes_);
}

Status RecordStream::Abandon() {
  AUGUR_CHECK(active_);
  active_ = false;
  blocks_.Truncate(first_block_);
  return size_ == 0 ? Status::Ok() : series_.current()->Rewind(offset_);
}

}  // namespace augur
