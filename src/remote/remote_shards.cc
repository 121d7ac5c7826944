// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_shards.h"

#include <span>
#include <utility>

namespace augur {

void RemoteShards::Read(ShardRead read) {
  const Result<ShardObject>& shard = objects_[read.shard];
  if (!shard.ok()) return read.done({.status = shard.status()});
  ObjectClient& client = *shard->client;
  under_way_.Begin();
  const Place place(read.tag, read.memory);
  if (read.tag != nullptr) {
    const MutexLock lock(mu_);
    numbers_[place] = {.client = &client};
  }
  const std::span<std::byte> into(read.memory, read.bytes);
  const uint64_t offset = read.offset;
  const uint64_t number =
      client.Read(shard->object, offset, into,
                  {.urgent = purpose_ == ReadPurpose::kDemand,
                   .spare = purpose_ == ReadPurpose::kSpare,
                   .new_connection = read.again},
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
  if (const auto pending = numbers_.find(place); pending != numbers_.end()) pending->second.number = number;
}

std::vector<RemoteShards::Number> RemoteShards::NumbersOf(const void* tag) {
  std::vector<Number> numbers;
  const MutexLock lock(mu_);
  for (auto pending = numbers_.lower_bound({tag, nullptr}); pending != numbers_.end(); ++pending) {
    if (pending->first.first != tag) break;
    if (pending->second.number != 0) numbers.push_back(pending->second);
  }
  return numbers;
}

void RemoteShards::Hurry(const void* tag) {
  for (const Number& pending : NumbersOf(tag)) pending.client->Expedite(pending.number);
}

void RemoteShards::Cancel(const void* tag) {
  for (const Number& pending : NumbersOf(tag)) pending.client->Cancel(pending.number);
}

}  // namespace augur
