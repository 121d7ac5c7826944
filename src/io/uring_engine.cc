// SPDX-License-Identifier: Apache-2.0
#include "io/uring_engine.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <future>

#include "base/check.h"
#include "base/thread.h"
#include "io/uring_refusal.h"

namespace augur {
namespace {

// Best first; each further one is for an older kernel, which answers EINVAL to flags that it does not know.
// DEFER_TASKRUN (6.1) completes reads only when the ring's thread asks for it instead of interrupting it;
// SINGLE_ISSUER (6.0) leaves out locks; COOP_TASKRUN (5.19) leaves out interrupts between processors.
constexpr unsigned kFlagSets[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN,
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
    IORING_SETUP_COOP_TASKRUN,
    0,
};

}  // namespace

Result<std::unique_ptr<ReadEngine>> UringEngine::Make(unsigned depth) {
  AUGUR_CHECK(depth >= 1 && depth <= kDepthMax);
  std::unique_ptr<UringEngine> engine(new UringEngine(depth));
  engine->wake_fd_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!engine->wake_fd_.valid()) return ErrnoStatus(errno, "io_uring: eventfd");

  // The thread that makes the ring is its single issuer, so it is made there.
  const auto set_up = std::make_shared<std::promise<int>>();
  std::future<int> outcome = set_up->get_future();
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-uring", [raw = engine.get(), set_up] {
                     const int error = raw->SetUp();
                     set_up->set_value(error);
                     if (error == 0) raw->Run();
                   }));
  const int error = outcome.get();
  if (error != 0) {
    thread.join();
    return UringRefused(error);
  }
  engine->thread_ = std::move(thread);
  engine->description_ = "io_uring: depth " + std::to_string(depth);
  return std::unique_ptr<ReadEngine>(std::move(engine));
}

UringEngine::~UringEngine() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  AUGUR_CHECK(::eventfd_write(wake_fd_.get(), 1) == 0);
  thread_.join();
}

void UringEngine::Submit(ReadRequest request) {
  AUGUR_CHECK(request.done != nullptr);
  // Woken under the lock: once it is released, the read may end, and the engine with it.
  const MutexLock lock(mu_);
  queue_.push_back(std::move(request));
  if (!asleep_) return;
  asleep_ = false;  // the next Submit need not wake it again
  AUGUR_CHECK(::eventfd_write(wake_fd_.get(), 1) == 0);
}

// Makes the ring and lets it read the eventfd once: a seccomp profile or an old kernel may allow the ring and refuse to
// enter it, or not know IORING_OP_READ. 0, or the errno of the refusal.
int UringEngine::SetUp() {
  const unsigned entries = depth_ + 1;  // the reads and the wake-up; the kernel rounds up, the answers get twice that
  int error = -EINVAL;
  for (const unsigned flags : kFlagSets) {
    error = io_uring_queue_init(entries, &ring_, flags);
    if (error != -EINVAL) break;
  }
  if (error < 0) return -error;
  AUGUR_CHECK(::eventfd_write(wake_fd_.get(), 1) == 0);
  ArmWakeUp();
  io_uring_cqe* cqe = nullptr;
  do {
    error = io_uring_submit_and_wait(&ring_, 1);
    if (error >= 0) error = io_uring_peek_cqe(&ring_, &cqe);
  } while (error == -EINTR || error == -EAGAIN);
  if (error == 0) {
    error = cqe->res < 0 ? cqe->res : 0;
    io_uring_cqe_seen(&ring_, cqe);
    wake_armed_ = false;
  }
  if (error < 0) io_uring_queue_exit(&ring_);
  // Reads that wait inside a file system without asynchronous reads (SMB, and all that goes through the page cache) are
  // made by threads of the kernel, 4 for each processor if it is not told otherwise. Kernels before 5.15 cannot be
  // told.
  std::array<unsigned, 2> workers = {depth_, 0};
  if (error == 0) (void)io_uring_register_iowq_max_workers(&ring_, workers.data());
  return -error;
}

// One turn of the loop: hand new reads to the kernel, take all its answers, call one `done`. One only, because a `done`
// computes (a checksum, a reply) while the disk waits for the reads that the answers have made room for.
void UringEngine::Run() {
  for (unsigned slot = depth_; slot > 0; --slot) free_slots_.push_back(slot - 1);
  for (;;) {
    const bool wait = finished_.empty();
    if (!TakeQueued(wait)) break;
    Enter(wait);
    Reap();
    if (wait) {
      const MutexLock lock(mu_);
      asleep_ = false;
    }
    if (!finished_.empty()) RunOneDone();
  }
  io_uring_queue_exit(&ring_);
}

// Puts what the kernel shall do next into the ring, while there are slots. False: the engine stops, and every
// `done` has returned.
bool UringEngine::TakeQueued(bool will_wait) {
  for (; !again_.empty(); again_.pop_front()) Prepare(again_.front());
  const MutexLock lock(mu_);
  while (!queue_.empty() && !free_slots_.empty()) {
    const unsigned slot = free_slots_.back();
    free_slots_.pop_back();
    flights_[slot] = Flight{std::move(queue_.front()), {}};
    queue_.pop_front();
    flights_[slot].progress = ReadProgress(flights_[slot].request.bytes);
    Prepare(slot);
  }
  if (stop_) {
    // The destructor's write to the eventfd ends the read of it that is still in the ring; none is started any more.
    return !(will_wait && free_slots_.size() == depth_ && !wake_armed_);
  }
  asleep_ = will_wait;
  if (will_wait && !wake_armed_) ArmWakeUp();
  return true;
}

void UringEngine::Prepare(unsigned slot) {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  AUGUR_CHECK(sqe != nullptr);  // a slot has one entry at most, and there is one for each
  const ReadRequest& request = flights_[slot].request;
  const ReadProgress& progress = flights_[slot].progress;
  const size_t begin = progress.piece_begin();
  io_uring_prep_read(sqe, request.fd, request.data + begin, static_cast<unsigned>(progress.piece_bytes()),
                     request.offset + begin);
  sqe->user_data = slot;
}

void UringEngine::ArmWakeUp() {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  AUGUR_CHECK(sqe != nullptr);
  io_uring_prep_read(sqe, wake_fd_.get(), &wake_count_, sizeof(wake_count_), 0);
  sqe->user_data = depth_;  // no slot
  wake_armed_ = true;
}

void UringEngine::Enter(bool wait) {
  int result = 0;
  if (wait) {
    result = io_uring_submit_and_wait(&ring_, 1);
  } else if (io_uring_sq_ready(&ring_) > 0 || free_slots_.empty()) {
    result = io_uring_submit_and_get_events(&ring_);
  }
  if (result >= 0 || result == -EINTR || result == -EBUSY) return;
  // The kernel has no memory for requests now. They stay in the ring and are handed over again in a moment.
  AUGUR_CHECK(result == -EAGAIN || result == -ENOMEM);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void UringEngine::Reap() {
  io_uring_cqe* cqe = nullptr;
  unsigned head = 0;
  unsigned count = 0;
  io_uring_for_each_cqe(&ring_, head, cqe) {
    ++count;
    if (cqe->user_data == depth_) {
      wake_armed_ = false;
      continue;
    }
    const unsigned slot = static_cast<unsigned>(cqe->user_data);
    AUGUR_CHECK(slot < depth_);
    Flight& flight = flights_[slot];
    if (flight.progress.Advance(cqe->res)) {
      finished_.emplace_back(std::move(flight.request), flight.progress.result());
      free_slots_.push_back(slot);
    } else {
      again_.push_back(slot);
    }
  }
  io_uring_cq_advance(&ring_, count);
}

void UringEngine::RunOneDone() {
  const auto [request, result] = std::move(finished_.front());
  finished_.pop_front();
  request.done(result);
}

}  // namespace augur
