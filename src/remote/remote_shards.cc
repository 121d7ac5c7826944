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
  }
  const std::span<std::byte> into(read.memory, read.bytes);
  const uint64_t offset = read.offset;
  files_.client().Read(*object, offset, into, urgent_,
                       [this, done = std::move(read.done), bytes = read.bytes](const Status& status) {
                         done({.status = status, .reads = 1, .read_bytes = status.ok() ? bytes : 0});
                         const MutexLock lock(mu_);
                         if (--under_way_ == 0) ended_.NotifyAll();
                       });
}

void RemoteShards::Drain() {
  const MutexLock lock(mu_);
  while (under_way_ > 0) ended_.Wait(mu_);
}

}  // namespace augur
