// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_shards.h"

#include <utility>

namespace augur {

RemoteShards::RemoteShards(std::shared_ptr<const Store> store, const RemoteFiles& files, ReadPurpose purpose)
    : store_(std::move(store)), files_(files), urgent_(purpose == ReadPurpose::kDemand) {
  for (uint32_t number = 0; number < store_->summary().shard_count; ++number) {
    const Result<ShardInfo> info = store_->Shard(number);
    objects_.push_back(info.ok() ? files_.ObjectOf(*info) : info.status());
  }
}

void RemoteShards::Read(ShardRead read) {
  const Result<std::shared_ptr<StoredObject>>& object = objects_[read.shard];
  if (!object.ok()) return read.done({.status = object.status()});
  {
    const MutexLock lock(mu_);
    ++under_way_;
    if (read.tag != nullptr) numbers_[read.tag] = 0;
  }
  const std::span<std::byte> into(read.memory, read.bytes);
  const uint64_t offset = read.offset;
  const void* const tag = read.tag;
  const uint64_t number =
      files_.client().Read(*object, offset, into, urgent_,
                           [this, tag, done = std::move(read.done), bytes = read.bytes](const Status& status) {
                             {
                               const MutexLock lock(mu_);
                               numbers_.erase(tag);
                             }
                             done({.status = status, .reads = 1, .read_bytes = status.ok() ? bytes : 0});
                             const MutexLock lock(mu_);
                             if (--under_way_ == 0) ended_.NotifyAll();
                           });
  const MutexLock lock(mu_);
  if (const auto pending = numbers_.find(tag); pending != numbers_.end()) pending->second = number;
}

void RemoteShards::Hurry(const void* tag) {
  uint64_t number = 0;
  {
    const MutexLock lock(mu_);
    if (const auto pending = numbers_.find(tag); pending != numbers_.end()) number = pending->second;
  }
  if (number != 0) files_.client().Expedite(number);
}

void RemoteShards::Drain() {
  const MutexLock lock(mu_);
  while (under_way_ > 0) ended_.Wait(mu_);
}

}  // namespace augur
