// SPDX-License-Identifier: Apache-2.0
#include "unit/fuse/test_mount.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>

#include "base/check.h"
#include "store/local_files.h"

namespace augur {

void HoldingEngine::Hold() {
  const MutexLock lock(mu_);
  holding_ = true;
}

void HoldingEngine::Release() {
  std::vector<ReadRequest> held;
  {
    const MutexLock lock(mu_);
    holding_ = false;
    held.swap(held_);
  }
  for (ReadRequest& request : held) engine_->Submit(std::move(request));
}

size_t HoldingEngine::held() const {
  const MutexLock lock(mu_);
  return held_.size();
}

void HoldingEngine::Submit(ReadRequest request) {
  {
    const MutexLock lock(mu_);
    if (holding_) {
      held_.push_back(std::move(request));
      return;
    }
  }
  engine_->Submit(std::move(request));
}

Status TestMount::Start(const std::string& store_path, const std::string& point, By by, std::string seen_as) {
  AUGUR_TRY_ASSIGN(
      checked, MountPoint::Check({.path = point, .source = store_path, .owner = getuid(), .owner_group = getgid()}));
  mount_point = std::make_unique<MountPoint>(std::move(checked));
  AUGUR_TRY_ASSIGN(forked_broker, Broker::Fork(*mount_point, {.clone = by == By::kClone}));
  broker = std::move(forked_broker);
  const LocalPlace place(store_path, {.direct = true});
  AUGUR_TRY_ASSIGN(opened, Store::Open(place));
  store = std::move(opened);
  AUGUR_TRY_ASSIGN(forked, MountHelper::Fork(place, store->summary().generation));
  helper = std::move(forked);
  AUGUR_TRY_ASSIGN(real, MakeReadEngine(EngineKind::kAuto, 16));
  auto holding = std::make_unique<HoldingEngine>(std::move(real));
  engine = holding.get();
  engine_ = std::move(holding);
  shards_ = store->files().MakeSource(store, *engine_, ReadPurpose::kDemand, StoreFiles::NothingBefore);
  file_system_ = std::make_unique<FileSystem>(store, *shards_, cache_, statistics,
                                              FileSystemOptions{.uid = getuid(), .gid = getgid()});
  AUGUR_TRY_ASSIGN(mounted, broker->Mount());
  if (by == By::kClone && !mounted.clone.valid()) return {Code::kUnsupported, mounted.note};
  mounted_ = true;
  path = mount_point->path();
  AUGUR_TRY_ASSIGN(made, Session::Make(std::move(mounted.device), *file_system_, statistics, {}, std::move(uring)));
  session = std::move(made);
  on_mounted();
  AUGUR_TRY(session->Start());
  if (!Eventually([this] { return session->state() != SessionState::kStarting; })) {
    return {Code::kIo, "the kernel does not start the mount"};
  }
  pusher = std::make_unique<PageCachePusher>(session->notifications());
  if (seen_as.empty()) seen_as = path;
  return helper->AttachTo(seen_as, mounted.device_number, std::move(mounted.clone),
                          [this](uint32_t /*view*/, std::span<const EntryNumber> files) {
                            const MutexLock lock(mu_);
                            opened_.insert(files.begin(), files.end());
                          });
}

TestMount::~TestMount() {
  helper.reset();
  if (engine != nullptr) engine->Release();
  if (session) session->Stop();
  if (mounted_) (void)broker->Unmount().ok();
  engine_.reset();
}

void TestMount::StatNow(const std::vector<EntryNumber>& files) {
  std::promise<void> done;
  helper->Stat(files, [&] { done.set_value(); });
  done.get_future().wait();
}

void TestMount::DropNow(const std::vector<EntryNumber>& files) {
  std::promise<void> done;
  helper->Drop(files, [&] { done.set_value(); });
  done.get_future().wait();
}

PushOutcome TestMount::Push(EntryNumber file, size_t piece_bytes) {
  const Result<Entry> entry = store->Get(file);
  AUGUR_CHECK(entry.ok());
  std::vector<std::byte> bytes(kBlockBytes);
  for (uint64_t block = 0; block < Store::BlockCount(*entry); ++block) {
    std::span<std::byte> rest = std::span(bytes).first(Store::BlockBytes(*entry, block));
    AUGUR_CHECK(store->Read(*entry, block, rest).ok());
    std::vector<std::span<const std::byte>> pieces;
    while (!rest.empty()) {
      pieces.push_back(rest.first(std::min(rest.size(), piece_bytes)));
      rest = rest.subspan(pieces.back().size());
    }
    const PushOutcome outcome = pusher->Push(file, block * kBlockBytes, pieces);
    if (outcome != PushOutcome::kPushed) return outcome;
  }
  return PushOutcome::kPushed;
}

EntryNumber TestMount::Find(const std::string& file) const {
  const Result<Entry> entry = store->Find(file);
  AUGUR_CHECK(entry.ok());
  return static_cast<EntryNumber>(entry->number);
}

uint64_t TestMount::requests() const {
  // Each read(2) of a session thread that has returned was a request.
  uint64_t sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != "augur-fuse") continue;
    std::ifstream numbers(task.path() / "io");
    std::string word;
    while (numbers >> word) {
      uint64_t value = 0;
      numbers >> value;
      if (word == "syscr:") sum += value;
    }
  }
  return sum;
}

std::multiset<EntryNumber> TestMount::TakeOpened() {
  const MutexLock lock(mu_);
  return std::exchange(opened_, {});
}

}  // namespace augur
