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
  under_way_.Begin();
  if (read.tag != nullptr) {
    const MutexLock lock(mu_);
    numbers_[{read.tag, read.memory}] = 0;
  }
  const std::span<std::byte> into(read.memory, read.bytes);
  const uint64_t offset = read.offset;
  const std::pair<const void*, const std::byte*> place(read.tag, read.memory);
  const uint64_t number =
      files_.client().Read(*object, offset, into, {.urgent = urgent_, .new_connection = read.again},
                           [this, place, done = std::move(read.done), bytes = read.bytes](const Status& status) {
                             if (place.first != nullptr) {
                               const MutexLock lock(mu_);
                               numbers_.erase(place);
                             }
                             done({.status = status, .reads = 1, .read_bytes = status.ok() ? bytes : 0});
                             under_way_.End();
                           });
  if (place.first == nullptr) return;
  const MutexLock lock(mu_);
  if (const auto pending = numbers_.find(place); pending != numbers_.end()) pending->second = number;
}

void RemoteShards::Hurry(const void* tag) {
  std::vector<uint64_t> numbers;
  {
    const MutexLock lock(mu_);
    for (auto pending = numbers_.lower_bound({tag, nullptr}); pending != numbers_.end(); ++pending) {
      if (pending->first.first != tag) break;
      if (pending->second != 0) numbers.push_back(pending->second);
    }
  }
  for (const uint64_t number : numbers) files_.client().Expedite(number);
}

}  // namespace augur
