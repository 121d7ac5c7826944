// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <liburing.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/unique_fd.h"
#include "io/read_engine.h"
#include "io/read_progress.h"

namespace augur {

// A ReadEngine on io_uring. One thread owns the ring: it submits, reaps and runs every `done`. Submit puts the request
// into a queue and, if that thread sleeps in the kernel, wakes it through an eventfd that the ring itself reads.
//
// Why not submit from the caller's thread? Measured with 128 KiB O_DIRECT reads at random, two threads that submit, two
// cores, medians of 15 interleaved rounds. The time is that from the request to the wake-up of who asked:
// |                                      depth 1         depth 2           depth 8           depth 32
// | direct, under a mutex, no flags      160 us          255 us, 48 CPU    517 us, 13 CPU    1459 us, 12.6 CPU
// | direct, COOP_TASKRUN                 153 us          255 us, 49 CPU    517 us, 16 CPU    1453 us, 12.6 CPU
// | handed over, no flags                150 us          247 us, 45 CPU    556 us, 15 CPU    1441 us, 11.6 CPU
// | handed over, all three flags         161 us          243 us, 45 CPU    516 us, 15 CPU    1464 us, 11.7 CPU
// | 16 pread threads                     146 us          220 us, 45 CPU    521 us, 24 CPU    1799 us, 18.3 CPU
// (spread between rounds 20 us at depth 1). So the hand-over costs nothing that can be seen and less CPU time a read at
// depth. It is also the safer one: the kernel cancels a thread's reads when that thread ends, and a session thread of
// FUSE may. The flags need a single submitter, so they too speak for it.
class UringEngine final : public ReadEngine {
 public:
  // Entries of a ring are limited to 32768; nothing gains beyond 4096 reads of 128 KiB (512 MiB in flight).
  static constexpr unsigned kDepthMax = 4096;

  // kUnsupported: refused; the text has cause and cure. kNoSpace: no thread or descriptor.
  // A forked child must not use the engine: make it after the fork. REQUIRES: 1 <= depth <= kDepthMax.
  static Result<std::unique_ptr<ReadEngine>> Make(unsigned depth);

  ~UringEngine() override;
  UringEngine(const UringEngine&) = delete;
  UringEngine& operator=(const UringEngine&) = delete;
  void Submit(ReadRequest request) override;
  std::string Description() const override { return description_; }

 private:
  // A read that the kernel has, or whose next piece it is about to get.
  struct Flight {
    ReadRequest request;
    ReadProgress progress;
  };

  explicit UringEngine(unsigned depth) : depth_(depth), flights_(depth) {}
  // All of these on the ring's thread.
  int SetUp();
  void Run();
  bool TakeQueued(bool will_wait);
  void Prepare(unsigned slot);
  void ArmWakeUp();
  void Enter(bool wait);
  void Reap();
  void RunOneDone();

  // Constant after Make.
  const unsigned depth_;
  std::string description_;
  UniqueFd wake_fd_;
  std::thread thread_;

  // Of the ring's thread alone.
  io_uring ring_ = {};
  uint64_t wake_count_ = 0;  // where the ring puts what it reads from wake_fd_
  bool wake_armed_ = false;
  std::vector<Flight> flights_;       // depth_ slots
  std::vector<unsigned> free_slots_;  // of flights_
  // Slots with a next piece, depth_ at most, submitted before anything new.
  std::deque<unsigned> again_;
  // Reaped, `done` not yet called: one for each read, also beyond depth_, as their slots are free.
  std::deque<std::pair<ReadRequest, int64_t>> finished_;

  Mutex mu_;
  std::deque<ReadRequest> queue_ AUGUR_GUARDED_BY(mu_);  // in the order of Submit, one for each read without a slot
  bool asleep_ AUGUR_GUARDED_BY(mu_) = false;            // the thread waits in the kernel, or is about to
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
