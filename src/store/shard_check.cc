// SPDX-License-Identifier: Apache-2.0
#include "store/shard_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/regular_file.h"
#include "base/units.h"
#include "store/shard_rights.h"

namespace augur {
namespace {

constexpr uint32_t kShardsMax = 10'000;
constexpr auto kTimeMax = std::chrono::seconds(2);

Status Look(const ShardInfo& info) {
  const std::string shown = Printable(info.path);
  struct stat found {};
  if (::stat(info.path.c_str(), &found) != 0) {
    const int error = errno;
    if (error == EACCES) return Status::Ok();  // its folder may be closed to us, and open to the index's owner
    Status status = ErrnoStatus(error, shown);
    if (status.code() != Code::kNotFound) return status;
    return {Code::kCorrupt, shown + ": the shard is missing: " + ShardCure(info)};
  }
  AUGUR_TRY(CheckRegular(found.st_mode, shown));
  const auto bytes = static_cast<uint64_t>(found.st_size);
  if (bytes == info.bytes) return Status::Ok();
  return {Code::kCorrupt, shown + ": the shard has " + std::to_string(bytes) + " bytes, the index says " +
                              std::to_string(info.bytes) + ": " + ShardCure(info)};
}

}  // namespace

ShardCheck LookAtShards(const Store& store, size_t texts_max) {
  const auto end = std::chrono::steady_clock::now() + kTimeMax;
  const uint32_t count = std::min(store.summary().shard_count, kShardsMax);
  ShardCheck check;
  while (check.looked_at < count && std::chrono::steady_clock::now() < end) {
    const Result<ShardInfo> info = store.Shard(check.looked_at++);
    const Status status = info.ok() ? Look(*info) : info.status();
    if (status.ok()) continue;
    ++check.bad;
    if (check.texts.size() < texts_max) check.texts.push_back(status.text());
  }
  return check;
}

}  // namespace augur
