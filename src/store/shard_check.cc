// SPDX-License-Identifier: Apache-2.0
#include "store/shard_check.h"

#include <algorithm>
#include <chrono>

#include "store/store_files.h"

namespace augur {
namespace {

constexpr uint32_t kShardsMax = 10'000;
constexpr auto kTimeMax = std::chrono::seconds(2);

}  // namespace

ShardCheck LookAtShards(const Store& store, size_t texts_max) {
  const auto end = std::chrono::steady_clock::now() + kTimeMax;
  const uint32_t count = std::min(store.summary().shard_count, kShardsMax);
  ShardCheck check;
  while (check.looked_at < count && std::chrono::steady_clock::now() < end) {
    const Result<ShardInfo> info = store.Shard(check.looked_at++);
    if (info.ok() && info->address) continue;  // a request for each would delay the mount
    const Status status = info.ok() ? store.files().LookAtShard(*info) : info.status();
    if (status.ok()) continue;
    ++check.bad;
    if (check.texts.size() < texts_max) check.texts.push_back(status.text());
  }
  return check;
}

}  // namespace augur
