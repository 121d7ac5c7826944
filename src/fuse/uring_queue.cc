// SPDX-License-Identifier: Apache-2.0
#include "fuse/uring_queue.h"

#include <linux/fuse.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/cores.h"
#include "base/thread.h"
#include "io/uring_refusal.h"

namespace augur {
namespace {

constexpr uint64_t kWakeData = UINT64_MAX;  // user_data of the wake-up; an entry has its number
constexpr size_t kSqeBytes = 128;           // IORING_SETUP_SQE128
constexpr size_t kSqeAreaOffset = offsetof(io_uring_sqe, cmd);
static_assert(kSqeAreaOffset == 48);

// The queue whose thread this is.
thread_local const UringQueue* this_threads_queue = nullptr;

// What the kernel says at the end of a connection: unmounted or aborted. ENOENT: the request was ended meanwhile, as
// only an abort does once it is taken.
bool IsEndOfConnection(int error) {
  return error == ENOTCONN || error == ECONNABORTED || error == ENODEV || error == ECANCELED || error == ENOENT;
}

void MakeTaker(pthread_mutex_t& taker) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  AUGUR_CHECK(pthread_mutex_init(&taker, &attributes) == 0);
  pthread_mutexattr_destroy(&attributes);
}

}  // namespace

Result<std::unique_ptr<UringQueue>> UringQueue::Make(const Options& options) {
  AUGUR_CHECK(options.depth >= 1 && options.depth <= kDepthMax && options.payload_bytes % RingEntry::kBytes == 0);
  UniqueFd wake(eventfd(0, EFD_CLOEXEC));
  if (!wake.valid()) return ErrnoStatus(errno, "eventfd");
  io_uring ring{};
  // COOP_TASKRUN: the thread enters the kernel for each request anyway, and need not be interrupted. One place more
  // than entries: the wake-up.
  const int error = io_uring_queue_init(options.depth + 1, &ring, IORING_SETUP_SQE128 | IORING_SETUP_COOP_TASKRUN);
  if (error < 0) return UringRefused(-error);
  return std::unique_ptr<UringQueue>(new UringQueue(options, std::move(wake), ring));
}

UringQueue::UringQueue(const Options& options, UniqueFd wake, const io_uring& ring)
    : core_(options.core),
      payload_bytes_(options.payload_bytes),
      goes_on_(options.goes_on),
      wake_(std::move(wake)),
      entries_(options.depth),
      ring_(ring) {
  std::byte* at = options.memory;
  for (Entry& entry : entries_) {
    entry.head = goes_on_ ? std::launder(reinterpret_cast<RingEntry*>(at)) : new (at) RingEntry{};
    entry.payload = at + RingEntry::kBytes;
    // The kernel copies a request also when its thread is being killed, and could then get no new page.
    if (!goes_on_) *entry.payload = std::byte{0};
    entry.pieces = {{{.iov_base = &entry.head->kernel, .iov_len = sizeof(FuseUringHeader)},
                     {.iov_base = entry.payload, .iov_len = payload_bytes_}}};
    at += payload_bytes_ + kEntryExtraBytes;
  }
  if (!goes_on_) MakeTaker(entries_.front().head->taker);
  taken_.reserve(options.depth);
}

UringQueue::~UringQueue() {
  BeginStop();
  Join();
  // Else the ring holds the device open until the kernel takes it apart, some time after this.
  (void)io_uring_unregister_files(&ring_);
  io_uring_queue_exit(&ring_);
}

Status UringQueue::Start(int device, UringServer server) {
  AUGUR_CHECK(!thread_.joinable());
  server_ = std::move(server);
  const int error = io_uring_register_files(&ring_, &device, 1);
  if (error < 0) return UringRefused(-error);
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-ring", [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

Status UringQueue::Open() {
  task_.store(Task::kServe, std::memory_order_release);
  Wake();
  const MutexLock lock(mu_);
  while (!opened_) changed_.Wait(mu_);
  return open_status_;
}

void UringQueue::BeginHold() {
  task_.store(Task::kHold, std::memory_order_release);
  Wake();
}

bool UringQueue::AwaitHeld(std::chrono::steady_clock::time_point end) {
  const MutexLock lock(mu_);
  while (!is_held_) {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (rest <= std::chrono::milliseconds(0)) return false;
    changed_.WaitFor(mu_, rest);
  }
  return true;
}

void UringQueue::BeginStop() {
  task_.store(Task::kStop, std::memory_order_release);
  Wake();
}

void UringQueue::Join() {
  if (thread_.joinable()) thread_.join();
}

void UringQueue::Reply(uint64_t token, std::span<const iovec> reply) {
  const unsigned number = EntryOf(token);
  AUGUR_CHECK(number < entries_.size());
  Entry& entry = entries_[number];
  fuse_out_header header{};
  AUGUR_CHECK(!reply.empty() && reply[0].iov_len == sizeof header);
  std::memcpy(&header, reply[0].iov_base, sizeof header);
  header.unique = entry.unique;
  std::memcpy(entry.head->kernel.in_out.data(), &header, sizeof header);
  size_t bytes = 0;
  for (const iovec& piece : reply.subspan(1)) {
    AUGUR_CHECK(piece.iov_len <= payload_bytes_ - bytes);
    if (piece.iov_len > 0) std::memcpy(entry.payload + bytes, piece.iov_base, piece.iov_len);
    bytes += piece.iov_len;
  }
  entry.head->kernel.entry.payload_bytes = static_cast<uint32_t>(bytes);
  if (this_threads_queue == this) return Commit(number);
  // A stack: many push, the thread takes all at once. Who finds it empty wakes the thread.
  unsigned before = handed_.load(std::memory_order_relaxed);
  do {
    entry.next_handed = before;
  } while (!handed_.compare_exchange_weak(before, number + 1, std::memory_order_release, std::memory_order_relaxed));
  if (before == 0) Wake();
}

void UringQueue::Wake() const { AUGUR_CHECK(eventfd_write(wake_.get(), 1) == 0); }

void UringQueue::Run() {
  this_threads_queue = this;
  // Not where taskset or a cpuset keeps the daemon from this core: then the queue is served from another one.
  (void)(std::ranges::count(UsableCoreNumbers(), core_) > 0 && StayOnCore(core_));
  ArmWake();
  while (true) {
    const Task task = task_.load(std::memory_order_acquire);
    if (task == Task::kServe && !registered_) Register();
    CommitHanded();
    const bool ends = task == Task::kStop || ended_;
    if (ends && unanswered_ == 0) break;
    if (task == Task::kHold) NoteHeld();
    if (taken_.empty() || task != Task::kServe) {
      Enter();
      Reap();
    }
    // Answered at once as a rule. All of their replies go to the kernel together.
    size_t served = 0;
    while (served < taken_.size() && task_.load(std::memory_order_acquire) == Task::kServe) Serve(taken_[served++]);
    taken_.erase(taken_.begin(), taken_.begin() + static_cast<ptrdiff_t>(served));
  }
  (void)io_uring_submit(&ring_);  // the last replies
  NoteCommitted();
}

void UringQueue::Register() {
  registered_ = true;
  AwaitEarlierThread();
  for (unsigned number = 0; number < entries_.size(); ++number) {
    Entry& entry = entries_[number];
    entry.is_inherited = entry.head->HasRequest();
    if (entry.is_inherited) {
      taken_.push_back(number);
    } else {
      RegisterEntry(number);
    }
  }
  // A refusal is there when this returns. An entry that was accepted says nothing until it has a request.
  const int submitted = io_uring_submit(&ring_);
  if (submitted < 0) KernelEnded(-submitted);
  Reap();
  const MutexLock lock(mu_);
  opened_ = true;
  changed_.NotifyAll();
}

void UringQueue::RegisterEntry(unsigned number) {
  io_uring_sqe* const sqe = Command(number, FuseUringCommand::kRegister, 0);
  sqe->addr = reinterpret_cast<uintptr_t>(entries_[number].pieces.data());
  sqe->len = kFuseUringPieces;
}

// This thread never gives it back: the kernel does that at its end, after it has taken the entries from the thread.
void UringQueue::AwaitEarlierThread() {
  pthread_mutex_t& taker = entries_.front().head->taker;
  const int error = pthread_mutex_lock(&taker);
  AUGUR_CHECK(error == 0 || error == EOWNERDEAD);
  if (error == EOWNERDEAD) AUGUR_CHECK(pthread_mutex_consistent(&taker) == 0);
}

// Again and again: each write to the eventfd is a completion. Its counter is never read, and it is far from full.
void UringQueue::ArmWake() {
  io_uring_sqe* const sqe = io_uring_get_sqe(&ring_);
  AUGUR_CHECK(sqe != nullptr);
  std::memset(sqe, 0, kSqeBytes);
  io_uring_prep_poll_multishot(sqe, wake_.get(), POLLIN);
  sqe->user_data = kWakeData;
}

io_uring_sqe* UringQueue::Command(unsigned number, FuseUringCommand command, uint64_t commit_id) {
  io_uring_sqe* const sqe = io_uring_get_sqe(&ring_);
  AUGUR_CHECK(sqe != nullptr);  // an entry has one at most, and there is one for each
  std::memset(sqe, 0, kSqeBytes);
  sqe->opcode = IORING_OP_URING_CMD;
  sqe->fd = 0;  // the first registered file
  sqe->flags = IOSQE_FIXED_FILE;
  sqe->cmd_op = static_cast<uint32_t>(command);
  sqe->user_data = number;
  const FuseUringCommandArea area = {.commit_id = commit_id, .queue = static_cast<uint16_t>(core_)};
  std::memcpy(reinterpret_cast<std::byte*>(sqe) + kSqeAreaOffset, &area, sizeof area);
  return sqe;
}

void UringQueue::Commit(unsigned number) {
  Command(number, FuseUringCommand::kCommitAndFetch, entries_[number].commit_id);
  committing_.emplace_back(number, entries_[number].commit_id);
  --unanswered_;
}

void UringQueue::CommitHanded() {
  unsigned next = handed_.exchange(0, std::memory_order_acquire);
  while (next != 0) {
    const unsigned number = next - 1;
    next = entries_[number].next_handed;
    Commit(number);
  }
}

void UringQueue::Enter() {
  const int result = io_uring_submit_and_wait(&ring_, 1);
  NoteCommitted();
  if (result >= 0 || result == -EINTR || result == -EBUSY) return;
  // The kernel has no memory for requests now. They stay in the ring and are handed over again in a moment.
  AUGUR_CHECK(result == -EAGAIN || result == -ENOMEM);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The kernel takes an answer before the submit returns.
void UringQueue::NoteCommitted() {
  if (io_uring_sq_ready(&ring_) > 0) return;  // not all were submitted: in a moment
  for (const auto& [number, commit_id] : committing_) {
    entries_[number].head->committed.store(commit_id, std::memory_order_release);
  }
  committing_.clear();
}

void UringQueue::NoteHeld() {
  if (unanswered_ > 0 || taken_.size() < entries_.size()) return;
  const MutexLock lock(mu_);
  is_held_ = true;
  changed_.NotifyAll();
}

void UringQueue::Reap() {
  io_uring_cqe* cqe = nullptr;
  unsigned head = 0;
  unsigned count = 0;
  bool arm = false;
  int error = 0;
  std::vector<unsigned> answered_before;  // the kernel had the answer of the daemon before, and has let the entry go
  io_uring_for_each_cqe(&ring_, head, cqe) {
    ++count;
    if (cqe->user_data == kWakeData) {
      arm = arm || (cqe->flags & IORING_CQE_F_MORE) == 0;
      continue;
    }
    const auto number = static_cast<unsigned>(cqe->user_data);
    const bool was_inherited = std::exchange(entries_[number].is_inherited, false);
    if (cqe->res == -ENOENT && was_inherited) {
      answered_before.push_back(number);
    } else if (cqe->res < 0) {
      error = -cqe->res;
    } else {
      taken_.push_back(number);
    }
  }
  io_uring_cq_advance(&ring_, count);
  if (arm) ArmWake();
  for (const unsigned number : answered_before) RegisterEntry(number);
  if (error != 0) KernelEnded(error);
}

void UringQueue::Serve(unsigned number) {
  Entry& entry = entries_[number];
  RingEntry& head = *entry.head;
  entry.commit_id = head.kernel.entry.commit_id;
  if (head.laid_out.load(std::memory_order_acquire) != entry.commit_id) {
    LayOut(number);
  } else {  // by an earlier daemon, whose answer may lie over the payload
    std::memcpy(entry.payload, head.kept.data(), head.kept_bytes);
  }
  entry.unique = head.unique;
  std::byte* const request = entry.payload - head.laid_out_bytes;
  fuse_in_header header{};
  std::memcpy(&header, request, sizeof header);
  ++unanswered_;
  server_.serve({request, header.len});
}

void UringQueue::LayOut(unsigned number) {
  Entry& entry = entries_[number];
  RingEntry& head = *entry.head;
  fuse_in_header header{};
  std::memcpy(&header, head.kernel.in_out.data(), sizeof header);
  const size_t payload_bytes = head.kernel.entry.payload_bytes;
  AUGUR_CHECK(header.len >= sizeof header && header.len - sizeof header >= payload_bytes);
  const size_t operation_bytes = header.len - sizeof header - payload_bytes;
  AUGUR_CHECK(payload_bytes <= payload_bytes_ && operation_bytes <= FuseUringHeader::kAreaBytes);
  head.unique = std::exchange(header.unique, Token(core_, number));
  head.laid_out_bytes = static_cast<uint32_t>(sizeof header + operation_bytes);
  std::byte* const operation = entry.payload - operation_bytes;
  std::memcpy(operation, head.kernel.operation.data(), operation_bytes);
  std::memcpy(operation - sizeof header, &header, sizeof header);
  head.kept_bytes = static_cast<uint32_t>(std::min(payload_bytes, head.kept.size()));
  std::memcpy(head.kept.data(), entry.payload, head.kept_bytes);
  head.laid_out.store(entry.commit_id, std::memory_order_release);
}

void UringQueue::KernelEnded(int error) {
  const Status status = ErrnoStatus(error, "requests over io_uring, core " + std::to_string(core_));
  const bool is_first = !std::exchange(ended_, true);
  {
    const MutexLock lock(mu_);
    if (!opened_) {
      open_status_ = status;
      return;
    }
  }
  if (is_first && !IsEndOfConnection(error)) spdlog::error("{}", status.text());
  server_.ended();
}

}  // namespace augur
