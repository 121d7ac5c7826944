// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "augur/store.h"
#include "base/mutex.h"
#include "cache/buffer_pool.h"
#include "cache/record_cache.h"
#include "control/statistics.h"
#include "fs/file_system.h"
#include "fuse/broker.h"
#include "fuse/mount_helper.h"
#include "fuse/mount_point.h"
#include "fuse/page_cache_pusher.h"
#include "fuse/session.h"
#include "fuse/uring_transport.h"
#include "io/read_engine.h"
#include "store/local_shards.h"

namespace augur {

// Passes reads on, or keeps them back as long as it is told to: a disk that does not answer.
class HoldingEngine final : public ReadEngine {
 public:
  explicit HoldingEngine(std::unique_ptr<ReadEngine> engine) : engine_(std::move(engine)) {}
  // Lets go of what it holds.
  ~HoldingEngine() override { Release(); }
  HoldingEngine(const HoldingEngine&) = delete;
  HoldingEngine& operator=(const HoldingEngine&) = delete;

  void Hold();
  void Release();
  size_t held() const;

  void Submit(ReadRequest request) override;
  std::string Description() const override { return "holding engine"; }

 private:
  const std::unique_ptr<ReadEngine> engine_;
  mutable Mutex mu_;
  bool holding_ AUGUR_GUARDED_BY(mu_) = false;
  std::vector<ReadRequest> held_ AUGUR_GUARDED_BY(mu_);
};

// A mount as the daemon makes it, with helper and pusher, in this process. It may be in use by other processes; this
// one must not look into it, unless it can be sure of an answer. Taken away by the destructor.
class TestMount {
 public:
  TestMount() = default;
  ~TestMount();
  TestMount(const TestMount&) = delete;
  TestMount& operator=(const TestMount&) = delete;

  // How the helper looks into the mount.
  enum class By { kClone, kPath };
  // Serves the store at `point`; the helper is attached to `seen_as`, which is the mount point unless it says something
  // else. REQUIRES: this process has no other thread.
  Status Start(const std::string& store, const std::string& point, By by = By::kClone, std::string seen_as = {});

  // Asks the helper, and waits for the answer.
  void StatNow(const std::vector<EntryNumber>& files);
  void DropNow(const std::vector<EntryNumber>& files);
  // Pushes the whole file, read from the store, in pieces of `piece_bytes`.
  PushOutcome Push(EntryNumber file, size_t piece_bytes = kBlockBytes);

  EntryNumber Find(const std::string& path) const;
  uint64_t reads() const { return statistics.Get(Stat::kReads); }
  // Requests that the session's threads have taken so far.
  uint64_t requests() const;
  // What was told as opened, with repetitions, since the last call.
  std::multiset<EntryNumber> TakeOpened();

  // Before Start: requests go over it, where the kernel offers that and does not take it back.
  std::unique_ptr<UringTransport> uring;
  // Before Start: called once the mount is there, and its INIT waits to be answered.
  std::function<void()> on_mounted = [] {};

  std::string path;
  std::shared_ptr<const Store> store;
  std::unique_ptr<MountHelper> helper;
  HoldingEngine* engine = nullptr;  // of engine_
  Statistics statistics;
  std::unique_ptr<MountPoint> mount_point;
  std::unique_ptr<Broker> broker;
  std::unique_ptr<Session> session;
  std::unique_ptr<PageCachePusher> pusher;

 private:
  static constexpr uint64_t kMemoryBytes = 64 << 20;

  BufferPool pool_{kMemoryBytes};
  RecordCache cache_{pool_, 0};
  std::unique_ptr<ReadEngine> engine_;
  std::unique_ptr<ShardSource> shards_;
  std::unique_ptr<FileSystem> file_system_;
  bool mounted_ = false;
  Mutex mu_;
  std::multiset<EntryNumber> opened_ AUGUR_GUARDED_BY(mu_);
};

// Waits until `condition` holds, for as long as a slow machine may take. False: it does not.
template <typename Condition>
bool Eventually(const Condition& condition) {
  constexpr int kTries = 20'000;
  for (int i = 0; i < kTries; ++i) {
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace augur
