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
  std::unique_ptr<PreadEngine> engine(new PreadEngine);
  const unsigned wanted = std::clamp(depth, 1u, kThreadsMax);
  for (unsigned i = 0; i < wanted; ++i) {
    Result<std::thread> thread = StartThread("augur-pread", [raw = engine.get()] { raw->Run(); });
    if (!thread.ok()) {
      if (engine->threads_.empty()) return thread.status().In("pread pool");
      spdlog::warn("pread pool: {} of {} threads: {}", i, wanted, thread.status().text());
      break;
    }
    engine->threads_.push_back(std::move(thread).value());
  }
  engine->description_ = "pread pool: " + std::to_string(engine->threads_.size()) + " threads; " + why;
  return std::unique_ptr<ReadEngine>(std::move(engine));
}

PreadEngine::~PreadEngine() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void PreadEngine::Submit(ReadRequest request) {
  AUGUR_CHECK(request.done != nullptr);
  {
    const MutexLock lock(mu_);
    queue_.push_back(std::move(request));
  }
  work_.NotifyOne();
}

void PreadEngine::Run() {
  mu_.Lock();
  for (;;) {
    while (queue_.empty() && !(stop_ && active_ == 0)) work_.Wait(mu_);
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
