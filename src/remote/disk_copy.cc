// SPDX-License-Identifier: Apache-2.0
#include "remote/disk_copy.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/limited_log.h"
#include "base/units.h"
#include "remote/block_identity.h"

namespace augur {
namespace {

// A twentieth of the disk stays free, for others.
constexpr uint64_t kFreeShare = 20;

// Tells records from rendered files in a folder that has both: without it, a record whose bytes are what the key of a
// rendered file is a hash of would have that key.
constexpr uint64_t kRecordMark = 0x64726f6365725f41;

}  // namespace

Result<std::unique_ptr<DiskCopy>> DiskCopy::Open(DiskCopyOptions options, std::shared_ptr<const Store> store,
                                                 Statistics& statistics, std::vector<std::string>& notes) {
  if (options.bytes_max == 0) {
    AUGUR_TRY_ASSIGN(room, DiskCacheFolder::RoomOf(options.folder));
    const uint64_t ours = room.available + room.held;
    options.bytes_max = std::max(DiskCache::kBytesMin, ours - std::min(ours, room.total / kFreeShare));
  }
  AUGUR_TRY_ASSIGN(cache, DiskCache::Open({.folder = options.folder,
                                           .bytes_max = options.bytes_max,
                                           .index_bytes_max = options.index_bytes_max,
                                           .now_ns = {}},
                                          notes));
  return std::unique_ptr<DiskCopy>(new DiskCopy(std::move(cache), options, std::move(store), statistics));
}

DiskCopy::DiskCopy(std::unique_ptr<DiskCache> cache, const DiskCopyOptions& options, std::shared_ptr<const Store> store,
                   Statistics& statistics)
    : bytes_max_(options.bytes_max),
      store_(std::move(store)),
      cache_(std::move(cache)),
      statistics_(statistics),
      writer_(*cache_, {.thread = "augur-copy",
                        .waiting_bytes_max = options.writing_bytes_max,
                        .on_written = [this] { statistics_.Add(Stat::kDiskCacheKept, 1); },
                        .on_failure =
                            [](const Status& failure) {
                              spdlog::warn("disk-cache: {}; records are not kept on the disk", failure.text());
                            },
                        .on_notice = [](const std::string& note) { spdlog::warn("{}", note); }}) {}

void DiskCopy::Stop(WriteBehind::Clock::time_point write_until) {
  if (const size_t left = writer_.Stop(write_until); left > 0) {
    spdlog::info("disk-cache: the end had no time to write the last {} blocks; the next run asks the server for them",
                 left);
  }
}

std::optional<DiskCacheKey> DiskCopy::KeyOf(const WantedBlock& wanted) const {
  const std::optional<Hash128> identity = BlockIdentityNow(*store_, wanted);
  if (!identity) return std::nullopt;
  return DiskCacheKey{.hash = {.low = identity->low, .high = identity->high ^ kRecordMark},
                      .size = Store::BlockBytes(wanted.file, wanted.block)};
}

std::optional<DiskCache::Place> DiskCopy::Find(const WantedBlock& wanted) const {
  const std::optional<DiskCacheKey> key = KeyOf(wanted);
  return key ? cache_->Find(*key) : std::nullopt;
}

bool DiskCopy::Check(const DiskCache::Place& place, std::span<const std::byte> bytes) const {
  if (DiskCache::Check(place, 0, bytes)) return true;
  LogLimited(spdlog::level::warn, "disk-cache", place.file->path,
             Printable(place.file->path) + ": bytes at " + std::to_string(place.offset) +
                 " are not those that were written; the record is asked of the server");
  cache_->Forget(place);
  return false;
}

void DiskCopy::Keep(const WantedBlock& wanted, std::span<const std::byte> bytes) {
  const std::optional<DiskCacheKey> key = KeyOf(wanted);
  if (!key) return;
  writer_.Offer(*key, [&] {
    const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    return WriteBehind::Value{.owner = copy, .bytes = *copy, .is_right = [this, wanted, copy] {
                                return store_->CheckIdentity(wanted.file, wanted.block, *copy).ok();
                              }};
  });
}

}  // namespace augur
