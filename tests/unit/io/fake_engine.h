// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "io/read_engine.h"

namespace augur {

// What goes wrong, as shares of the reads from 0 to 1, the same for the same seed and order of submission. Who must
// survive what:
//   latency     reads end late and in any order: everyone.
//   short_read  fewer bytes than the file has, as from a file cut off under us: who asked must make it a failure of
//   that
//               record, never a short reply. (Short answers of the kernel stay inside the engines, see ReadProgress.)
//   eio         -EIO: the reader of that record gets kIo; nothing is kept; the next read of it is tried again.
//   bit_flip    one bit is wrong: the checksum must find it, kCorrupt for that record; nothing else suffers.
// The cache must survive all of them as "the load failed": told to all who joined it, and not kept.
struct Faults {
  uint64_t seed = 1;
  std::chrono::microseconds latency_max{0};
  double short_read = 0;
  double eio = 0;
  double bit_flip = 0;
};

// A ReadEngine whose files are byte strings under made-up descriptors. One thread calls `done`, in an order of its own.
// AddFile and faults only before the first Submit.
class FakeEngine final : public ReadEngine {
 public:
  explicit FakeEngine(const Faults& faults = {}) : faults_(faults), random_(faults.seed), thread_([this] { Run(); }) {}

  ~FakeEngine() override {
    {
      const MutexLock lock(mu_);
      stop_ = true;
    }
    work_.NotifyAll();
    thread_.join();
  }
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;

  void AddFile(int fd, std::vector<std::byte> bytes) { files_[fd] = std::move(bytes); }

  void Submit(ReadRequest request) override {
    {
      const MutexLock lock(mu_);
      waiting_.push_back(std::move(request));
    }
    work_.NotifyOne();
  }

  std::string Description() const override { return "fake, seed " + std::to_string(faults_.seed); }

 private:
  void Run() {
    mu_.Lock();
    for (;;) {
      while (waiting_.empty() && !stop_) work_.Wait(mu_);
      if (waiting_.empty()) break;
      std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
      ReadRequest request = std::move(waiting_.back());
      waiting_.pop_back();
      mu_.Unlock();
      if (faults_.latency_max.count() > 0) {
        std::this_thread::sleep_for(faults_.latency_max * static_cast<int>(random_() % 1000) / 1000);
      }
      request.done(Read(request));
      request.done = nullptr;
      mu_.Lock();
    }
    mu_.Unlock();
  }

  int64_t Read(const ReadRequest& request) {
    if (Happens(faults_.eio)) return -EIO;
    const auto file = files_.find(request.fd);
    if (file == files_.end()) return -EBADF;
    const std::vector<std::byte>& from = file->second;
    if (request.offset >= from.size()) return 0;
    size_t n = std::min<size_t>(request.bytes, from.size() - request.offset);
    if (n > 0 && Happens(faults_.short_read)) n = random_() % n;
    if (n == 0) return 0;
    std::memcpy(request.data, from.data() + request.offset, n);
    if (Happens(faults_.bit_flip)) request.data[random_() % n] ^= static_cast<std::byte>(1u << random_() % 8);
    return static_cast<int64_t>(n);
  }

  bool Happens(double share) { return share > 0 && std::uniform_real_distribution<double>()(random_) < share; }

  // Constant from the first Submit on.
  const Faults faults_;
  std::map<int, std::vector<std::byte>> files_;

  std::mt19937_64 random_;  // of the thread alone

  Mutex mu_;
  CondVar work_;
  std::vector<ReadRequest> waiting_ AUGUR_GUARDED_BY(mu_);
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;

  std::thread thread_;  // last: it uses all of the above
};

// A ReadEngine that hands everything to another one: override Submit to look at a read or to let it fail.
class ForwardingEngine : public ReadEngine {
 public:
  explicit ForwardingEngine(ReadEngine& base) : base_(base) {}
  void Submit(ReadRequest request) override { base_.Submit(std::move(request)); }
  std::string Description() const override { return base_.Description(); }

 protected:
  ReadEngine& base_;
};

}  // namespace augur
