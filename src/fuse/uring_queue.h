// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <liburing.h>
#include <sys/uio.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "fuse/ring_entry.h"
#include "fuse/uring_abi.h"

namespace augur {

// What a queue does with requests. Called on its thread.
struct UringServer {
  // One request, header first, as read(2) of /dev/fuse gives it, but for `unique`, which is the queue's own
  // (UringQueue::Token). The memory is the queue's until the reply. Answers at once or later, by UringQueue::Reply.
  std::function<void(std::span<std::byte> request)> serve;
  // The connection has ended, or the queue cannot go on: no request comes any more. May be called more than once. Not
  // where Open fails.
  std::function<void()> ended;
};

// UringQueue takes the requests of the readers on one core: a ring of io_uring, and a thread that is pinned to that
// core. So a request that is answered at once wakes no other core. The kernel needs a queue for each possible core.
//
// It has `depth` entries, and at most `depth` requests are taken and not answered; further ones wait in the kernel.
// Reply is for any thread. The other methods are for the owner's thread. Owns ring and thread. REQUIRES: device and
// memory outlive it. Not for FORGET, INTERRUPT and notifications, which go over /dev/fuse.
//
// What the queue of an earlier daemon has left in the memory it goes on with. The kernel resends nothing that a queue
// was given, but takes the answer from any process that has the entry's memory at the same addresses:
//   1. It waits until the thread of the earlier queue has ended. From then on the kernel writes no more requests into
//      the entries. (That one's process may take longer to end.)
//   2. An entry with a request that is not answered, or whose answer the kernel may not have, is served; its answer
//      makes it an entry of this queue. The other entries are registered anew.
//   3. Requests that came meanwhile wait in the kernel, which hands one out at each answer and not before. So the
//      Session has CoreRequests make requests that are answered at once.
class UringQueue {
 public:
  // The most entries of a queue. Measured: more made nothing faster.
  static constexpr unsigned kDepthMax = 16;
  // Memory of an entry beside its payload: the RingEntry, and room behind the payload.
  static constexpr size_t kEntryExtraBytes = 2 * RingEntry::kBytes;

  struct Options {
    unsigned core = 0;
    unsigned depth = kDepthMax;
    size_t payload_bytes = 0;
    // depth * (payload_bytes + kEntryExtraBytes); zero, or what the queue of an earlier daemon has left.
    std::byte* memory = nullptr;
    bool goes_on = false;
  };
  // kUnsupported: the system refuses io_uring, with the cure. REQUIRES: `payload_bytes` is what INIT answers as
  // max_write, in whole pages; 1 <= depth <= kDepthMax.
  static Result<std::unique_ptr<UringQueue>> Make(const Options& options);
  // Stops.
  ~UringQueue();
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;

  // Starts the thread; it takes nothing before Open. As StartThread.
  Status Start(int device, UringServer server);
  // Gives the entries to the kernel, and waits until it has them. REQUIRES: the kernel has the answer to INIT. Fails
  // when the kernel refuses them. kUnsupported: the kernel sends all requests over /dev/fuse, as enable_uring was
  // switched off after the kernel had asked INIT (fuse_uring_cmd in fs/fuse/dev_uring.c).
  Status Open();

  // What `unique` of a request is while it is here: it says which queue and entry have it. The kernel's own numbers
  // have these bits clear (they count up from 0; bit 63 is FUSE_UNIQUE_RESEND).
  static constexpr uint64_t kTokenBit = uint64_t{1} << 62;
  static uint64_t Token(unsigned core, unsigned entry) { return kTokenBit | uint64_t{core} << 32 | entry; }
  static bool IsToken(uint64_t unique) { return (unique & (kTokenBit << 1 | kTokenBit)) == kTokenBit; }
  static unsigned CoreOf(uint64_t token) { return static_cast<unsigned>((token & ~kTokenBit) >> 32); }
  static unsigned EntryOf(uint64_t token) { return static_cast<unsigned>(token & UINT32_MAX); }

  // Answers the request: fuse_out_header, then what belongs to it. Copies. REQUIRES: once for each request.
  void Reply(uint64_t token, std::span<const iovec> reply);

  // No request is served any more, and all that come are kept, until each entry has one and those that were served are
  // answered. False: not by then, or the connection has ended.
  void BeginHold();
  bool AwaitHeld(std::chrono::steady_clock::time_point end);

  // No request is served any more; those that were are answered first. Then Join ends the thread. A request that the
  // kernel has given since is left to the next daemon, or to the end of the connection.
  void BeginStop();
  void Join();

 private:
  enum class Task : int { kIdle, kServe, kHold, kStop };
  struct Entry {
    RingEntry* head = nullptr;
    std::byte* payload = nullptr;
    std::array<iovec, kFuseUringPieces> pieces{};  // the kernel reads them when it registers the entry
    uint64_t unique = 0;                           // of the request, as the kernel knows it
    uint64_t commit_id = 0;
    bool is_inherited = false;  // its request was an earlier daemon's, which may have answered it
    unsigned next_handed = 0;   // its number and 1; 0: none
  };

  UringQueue(const Options& options, UniqueFd wake, const io_uring& ring);
  void Run();
  void Register();
  void RegisterEntry(unsigned number);
  void AwaitEarlierThread();
  void ArmWake();
  io_uring_sqe* Command(unsigned number, FuseUringCommand command, uint64_t commit_id);
  void Commit(unsigned number);
  void CommitHanded();
  void Enter();
  void NoteCommitted();
  void NoteHeld();
  void Reap();
  void Serve(unsigned number);
  void LayOut(unsigned number);
  void KernelEnded(int error);
  void Wake() const;

  // Constant after Start.
  const unsigned core_;
  const size_t payload_bytes_;
  const bool goes_on_;
  const UniqueFd wake_;
  UringServer server_;

  // Own synchronization. An entry belongs to the kernel, then to the thread, then to who answers, in turn.
  std::vector<Entry> entries_;
  std::atomic<Task> task_ = Task::kIdle;
  std::atomic<unsigned> handed_ = 0;  // the entry that another thread answered last: its number and 1
  std::thread thread_;

  // Used by the thread only, once it runs.
  io_uring ring_{};  // valid from Make on
  bool registered_ = false;
  bool ended_ = false;                                     // the kernel gives nothing any more
  unsigned unanswered_ = 0;                                // requests that were served
  std::vector<unsigned> taken_;                            // entries whose request is to be served
  std::vector<std::pair<unsigned, uint64_t>> committing_;  // entries, and which answer is on its way to the kernel

  Mutex mu_;
  CondVar changed_;
  bool opened_ AUGUR_GUARDED_BY(mu_) = false;
  Status open_status_ AUGUR_GUARDED_BY(mu_);
  bool is_held_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
