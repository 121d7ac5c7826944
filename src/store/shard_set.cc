// SPDX-License-Identifier: Apache-2.0
#include "store/shard_set.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "store/shard_header.h"

namespace augur {

Result<std::shared_ptr<const LocalFile>> OpenShard(const ShardRights& rights, const ShardInfo& info, bool direct,
                                                   bool* token_differs) {
  *token_differs = false;
  AUGUR_TRY_ASSIGN(fd, rights.Open(info));
  AUGUR_TRY_ASSIGN(file, LocalFile::Of(std::move(fd), Printable(info.path)));
  AUGUR_TRY(CheckShard(*file, info));
  *token_differs = info.foreign && (file->mtime().tv_sec != info.token_sec ||
                                    file->mtime().tv_nsec != static_cast<int64_t>(info.token_nsec));
  if (direct) file->TryDirect();
  return std::shared_ptr<const LocalFile>(std::move(file));
}

ShardSet::ShardSet(bool direct, uint32_t open_max) : direct_(direct), open_max_(std::max<size_t>(open_max, 1)) {}

std::shared_ptr<const LocalFile> ShardSet::Find(uint32_t number) {
  const MutexLock lock(mu_);
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return recent_.front().file;
}

Result<std::shared_ptr<const LocalFile>> ShardSet::Open(const ShardRights& rights, const ShardInfo& info) {
  bool token_differs = false;
  AUGUR_TRY_ASSIGN(file, OpenShard(rights, info, direct_, &token_differs));
  std::shared_ptr<const LocalFile> let_go;  // closed after the lock is released
  bool warn = false;
  {
    const MutexLock lock(mu_);
    if (const auto found = by_number_.find(info.number); found != by_number_.end()) return found->second->file;
    recent_.push_front({.number = info.number, .file = file});
    by_number_[info.number] = recent_.begin();
    if (recent_.size() > open_max_) {
      let_go = std::move(recent_.back().file);
      by_number_.erase(recent_.back().number);
      recent_.pop_back();
    }
    warn = token_differs && warned_.insert(info.number).second;
  }
  if (warn) {
    spdlog::warn("{}: its time has changed since the store was made; its size has not, and the checksums decide",
                 file->path());
  }
  return file;
}

void ShardSet::LetGo(uint32_t number, const LocalFile& file) {
  std::shared_ptr<const LocalFile> let_go;  // closed after the lock is released
  const MutexLock lock(mu_);
  const auto found = by_number_.find(number);
  if (found == by_number_.end() || found->second->file.get() != &file) return;
  let_go = std::move(found->second->file);
  recent_.erase(found->second);
  by_number_.erase(found);
}

}  // namespace augur
