// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "prefetch/mount_view.h"
#include "prefetch/page_sink.h"

namespace augur {

// How long a test waits for something that must come: on a machine where others work, too.
inline constexpr std::chrono::seconds kPatience(20);

// A kernel with a page cache, as far as PageSink and MountView see it: inodes are unknown until they are looked up,
// what is pushed is there until it is dropped, and calls may be held up, refused or ended. A thread of its own answers
// for the view. Safe from any thread. REQUIRES: nobody calls it when it is destroyed.
class FakeMount final : public PageSink, public MountView {
 public:
  enum class See { kOpens, kNothing };
  // kNothing: as a mount that lies in another namespace.
  explicit FakeMount(See see = See::kOpens);
  ~FakeMount() override;
  FakeMount(const FakeMount&) = delete;
  FakeMount& operator=(const FakeMount&) = delete;

  // Both: there is but one view here, and its files are told apart by nobody.
  void SelectView(uint32_t view) override { selected_ = view; }
  void SelectView(uint32_t view, const std::string&, bool) override { selected_ = view; }
  uint32_t selected() const { return selected_; }

  // PageSink.
  PushOutcome Push(EntryNumber file, uint64_t offset, std::span<const std::span<const std::byte>> pieces) override;
  // MountView and PageSink.
  bool Drop(EntryNumber file) override;
  bool usable() const override;
  bool watching() const override;
  void Stat(std::span<const EntryNumber> files, Done done) override;
  void Drop(std::span<const EntryNumber> files, Done done) override;
  void Watch(std::span<const EntryNumber> folders) override;
  void Unwatch() override;

  // What the test's reader does. LookUp makes the inode known, as every open does.
  void LookUp(EntryNumber file);
  // The bytes that the page cache has of the file, from its beginning on; nothing when it has none.
  std::optional<std::string> Pages(EntryNumber file) const;
  // A READ has brought the file into the page cache.
  void Brought(EntryNumber file, std::string bytes);
  // Called while the view drops files, before it says that they are dropped; without a lock. REQUIRES: nothing is
  // dropped yet.
  using OnDrop = std::function<void(std::span<const EntryNumber>)>;
  void SetOnDrop(OnDrop on_drop) { on_drop_ = std::move(on_drop); }
  // The kernel is short of memory and takes all pages.
  void ReclaimAll();

  // Waits until the page cache has so many bytes of the file. False: not in time.
  bool WaitFor(EntryNumber file, uint64_t bytes) const;

  // From now on Push waits; until Release.
  void Hold();
  void Release();
  // Waits until somebody waits in Push.
  bool WaitUntilHeld() const;
  // The mount ends: Push and Drop fail, and the view is not usable.
  void End();
  // The view's process dies: what was asked is told to be done, and nothing more is.
  void EndView();
  // The system gives no more watches: opens are told no longer.
  void EndWatches();
  // The kernel knows no inode, and learns of none: as when it forgets what is statted at once.
  void KnowNothing();

  // What has happened so far.
  struct Counts {
    uint64_t pushes = 0;   // calls that were taken
    uint64_t unknown = 0;  // calls for unknown inodes
    uint64_t stats = 0;    // files
    uint64_t bytes_now = 0;
    uint64_t bytes_most = 0;
    uint64_t watched = 0;  // folders
  };
  Counts counts() const;
  std::vector<EntryNumber> dropped() const;

 private:
  void Run();
  void Later(std::function<void()> call);
  void Erase(EntryNumber file);

  mutable std::mutex mu_;
  mutable std::condition_variable changed_;
  // Guarded by mu_:
  std::map<EntryNumber, std::string> pages_;
  std::set<EntryNumber> known_;
  std::vector<EntryNumber> dropped_;
  Counts counts_;
  bool usable_;
  bool watching_ = true;
  bool ended_ = false;
  bool held_ = false;
  bool forgets_ = false;
  uint64_t waiting_ = 0;
  std::deque<std::function<void()>> calls_;
  bool stop_ = false;

  std::atomic<uint32_t> selected_ = 0;
  OnDrop on_drop_;  // constant once there are drops

  std::thread thread_;
};

}  // namespace augur
