// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/core_requests.h"
#include "fuse/notify_channel.h"
#include "fuse/operations.h"
#include "fuse/uring_transport.h"

struct fuse_session;

namespace augur {

struct SessionOptions {
  unsigned threads = 2;
  OperationsOptions operations;
  // FUSE_INIT of a connection that another daemon has served before: the kernel asks only once. Empty: it will ask.
  std::span<const std::byte> init = {};
  // ... and what that daemon has answered.
  std::span<const std::byte> init_reply = {};
  // Called once with the FUSE_INIT of the kernel and its answer, before the mount is served; may be empty.
  std::function<void(std::span<const std::byte> init, std::span<const std::byte> reply)> on_init = {};
  // Called in Start, before the first request is taken of a connection that goes on; may be empty.
  std::function<void()> on_taking = {};
  std::string mount_point = {};  // a path to it, for CoreRequests; empty: none is known
};

enum class SessionState {
  kStarting,  // the kernel has not asked INIT yet, or has not got the answer
  kServing,   // the mount answers
  kEnded,     // unmounted, the connection was aborted, or reading it failed
};

// Session serves a /dev/fuse descriptor, however it was got (MountPoint), with threads of its own. Its methods are for
// one thread. Owns the descriptor. REQUIRES: file system and statistics outlive it. Not libfuse's own loop: that one
// ends its threads by pthread_cancel, in the middle of what they do, and starts ten where two are fastest.
//
// With a UringTransport, which the kernel must offer in INIT, requests come over that, and these threads have INIT,
// FORGET and INTERRUPT. libfuse decodes and answers as without: what carries its replies is chosen by their `unique`.
class Session {
 public:
  static Result<std::unique_ptr<Session>> Make(UniqueFd device, FileSystem& file_system, Statistics& statistics,
                                               const SessionOptions& options,
                                               std::unique_ptr<UringTransport> uring = nullptr);
  // Stops. After HandOver over io_uring, waits for an answer of the next daemon, or for the connection's end.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Starts the threads. REQUIRES: called once. kIo: the system gives no thread. kUnsupported: this program would answer
  // FUSE_INIT otherwise than the one before, so the kernel would not understand it.
  Status Start();

  SessionState state() const { return state_.load(std::memory_order_acquire); }
  // Whether requests come over io_uring. Final once the state is kServing: without the kernel's offer they do not, nor
  // where the kernel has taken it back.
  bool over_uring() const { return over_uring_.load(std::memory_order_acquire); }
  // Readable after each change of state; read 8 bytes to clear it.
  int event_fd() const { return event_.get(); }

  // For messages to the kernel. Good until Stop; from then on each is refused, and it may be kept.
  std::shared_ptr<NotifyChannel> notifications() const { return notifications_; }

  // Ends the notifications, then the threads. Requests that were taken are still answered; over io_uring they have been
  // when this returns.
  void StopTaking();
  // The same, for another daemon that goes on. Over io_uring, whatever a queue is given meanwhile is left for that one.
  void HandOver();
  // As StopTaking, waits until every request taken has been answered, and closes the descriptor: unless it was
  // unmounted before, or another daemon has it, accesses then give ENOTCONN.
  void Stop();

 private:
  struct Thread;
  // What libfuse gives to the handlers, and to what writes its replies: it has one pointer for both.
  struct Served : Operations {
    using Operations::Operations;
    UringTransport* uring = nullptr;
  };
  Session(UniqueFd event, FileSystem& file_system, Statistics& statistics, const SessionOptions& options,
          std::unique_ptr<UringTransport> uring);
  static void* ThreadMain(void* thread);
  Status Resume();
  Status StartCoreRequests();
  static ssize_t WriteReply(int device, iovec* pieces, int count, void* served);
  Status StartUring(int device);
  void Serve();
  Status ServeInit(std::span<const std::byte> init);
  void End();
  void Become(SessionState state);

  // Constant after Make.
  const SessionOptions options_;
  const UniqueFd event_;

  // Own synchronization.
  Served operations_;
  std::unique_ptr<UringTransport> uring_;  // nullptr: there is none
  std::atomic<bool> over_uring_ = false;
  fuse_session* session_ = nullptr;
  std::shared_ptr<NotifyChannel> notifications_;
  std::atomic<SessionState> state_ = SessionState::kStarting;

  // Used by the owner's thread only.
  std::vector<std::unique_ptr<Thread>> threads_;
  std::unique_ptr<CoreRequests> core_requests_;  // the first over io_uring
  std::unique_ptr<CoreRequests> last_requests_;  // of HandOver, which the next daemon answers
};

}  // namespace augur
