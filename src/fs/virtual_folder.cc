// SPDX-License-Identifier: Apache-2.0
#include "fs/virtual_folder.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/check.h"

namespace augur {

void VirtualFolder::Add(std::string name, std::function<std::string()> make) {
  files_.push_back({std::move(name), std::move(make)});
  const MutexLock lock(mu_);
  counts_.push_back(0);
}

Result<VirtualFolder::Found> VirtualFolder::Lookup(std::string_view name, uint32_t user) {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const File& file) { return file.name == name; });
  if (found == files_.end()) return Status(Code::kNotFound, "no such file");
  const auto file = static_cast<size_t>(found - files_.begin());
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->bytes = found->make();
  clock_gettime(CLOCK_REALTIME, &snapshot->made);
  Live gone;  // freed when the lock is not held
  const MutexLock lock(mu_);
  if (counts_[file] == kLiveMax) gone = TakeOldest(file);
  ++counts_[file];
  const uint64_t entry = next_++;
  live_.emplace(entry, Live{.file = file, .user = user, .snapshot = snapshot});
  return Found{.entry = entry, .snapshot = std::move(snapshot)};
}

VirtualFolder::Live VirtualFolder::TakeOldest(size_t file) {
  std::map<uint32_t, size_t> by_user;
  for (const auto& [entry, live] : live_) {
    if (live.file == file) ++by_user[live.user];
  }
  AUGUR_CHECK(!by_user.empty());
  // Of equals the last: root is the first.
  const auto most =
      std::ranges::max_element(std::ranges::reverse_view(by_user), {}, [](const auto& one) { return one.second; });
  const auto oldest = std::ranges::find_if(
      live_, [&](const auto& one) { return one.second.file == file && one.second.user == most->first; });
  Live taken = std::move(oldest->second);
  live_.erase(oldest);
  --counts_[file];
  return taken;
}

std::shared_ptr<const VirtualFolder::Snapshot> VirtualFolder::Get(uint64_t entry) const {
  const MutexLock lock(mu_);
  const auto found = live_.find(entry);
  return found == live_.end() ? nullptr : found->second.snapshot;
}

void VirtualFolder::Forget(uint64_t entry) {
  Live forgotten;  // freed when the lock is not held
  const MutexLock lock(mu_);
  const auto found = live_.find(entry);
  if (found == live_.end()) return;
  AUGUR_CHECK(counts_[found->second.file] > 0);
  --counts_[found->second.file];
  forgotten = std::move(found->second);
  live_.erase(found);
}

size_t VirtualFolder::live_count() const {
  const MutexLock lock(mu_);
  return live_.size();
}

}  // namespace augur
