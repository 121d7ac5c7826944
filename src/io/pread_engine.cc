// SPDX-License-Identifier: Apache-2.0
#include "io/pread_engine.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/thread.h"
#include "io/read_progress.h"

namespace augur {
namespace {

int64_t ReadWhole(const ReadRequest& request) {
  ReadProgress progress(request.bytes);
  for (;;) {
    const size_t begin = progress.piece_begin();
    const ssize_t n =
        ::pread(request.fd, request.data + begin, progress.piece_bytes(), static_cast<off_t>(request.offset + begin));
    if (progress.Advance(n < 0 ? -errno : n)) return progress.result();
  }
}

}  // namespace

Result<std::unique_ptr<ReadEngine>> PreadEngine::Make(unsigned depth, const std::string& why) {
  const unsigned threads_max = std::clamp(depth, 1u, kThreadsMax);
  std::unique_ptr<PreadEngine> engine(
      new PreadEngine(threads_max, "pread pool: up to " + std::to_string(threads_max) + " threads; " + why));
  {
    const MutexLock lock(engine->mu_);
    if (const Status started = engine->StartOne(); !started.ok()) return started.In("pread pool");
  }
  return std::unique_ptr<ReadEngine>(std::move(engine));
}

PreadEngine::~PreadEngine() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mu_);
    stop_ = true;
    threads = std::move(threads_);
    threads_max_ = 0;
  }
  work_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
}

Status PreadEngine::StartOne() {
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-pread", [this] { Run(); }));
  threads_.push_back(std::move(thread));
  return Status::Ok();
}

void PreadEngine::Submit(ReadRequest request) {
  AUGUR_CHECK(request.done != nullptr);
  Status started;
  size_t threads = 0;
  {
    const MutexLock lock(mu_);
    queue_.push_back(std::move(request));
    if (queue_.size() > idle_ && threads_.size() < threads_max_) {
      started = StartOne();
      if (!started.ok()) threads = threads_max_ = threads_.size();
    }
  }
  work_.NotifyOne();
  if (!started.ok()) spdlog::warn("pread pool: no more than {} threads: {}", threads, started.text());
}

void PreadEngine::Run() {
  mu_.Lock();
  for (;;) {
    ++idle_;
    while (queue_.empty() && !(stop_ && active_ == 0)) work_.Wait(mu_);
    --idle_;
    if (queue_.empty()) break;
    ReadRequest request = std::move(queue_.front());
    queue_.pop_front();
    ++active_;
    mu_.Unlock();
    const int64_t result = ReadWhole(request);
    request.done(result);
    request.done = nullptr;  // what it holds is let go before we count as idle, and without the lock
    mu_.Lock();
    --active_;
    // Those who wait for the last `done` to submit nothing more.
    if (stop_ && active_ == 0) work_.NotifyAll();
  }
  mu_.Unlock();
}

}  // namespace augur
