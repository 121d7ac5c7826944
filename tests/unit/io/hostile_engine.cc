// SPDX-License-Identifier: Apache-2.0
#include "unit/io/hostile_engine.h"

#include <algorithm>
#include <cerrno>

namespace augur {
namespace {

constexpr uint64_t kSectorBytes = 4096;

bool Happens(std::mt19937_64& random, double share) {
  return share > 0 && std::uniform_real_distribution<double>()(random) < share;
}

void FlipBit(std::byte* bytes, uint64_t count, std::mt19937_64& random) {
  bytes[random() % count] ^= static_cast<std::byte>(1U << random() % 8);
}

}  // namespace

HostileEngine::HostileEngine(std::unique_ptr<ReadEngine> base, const Hostility& hostility)
    : hostility_(hostility), order_(hostility.seed), base_(std::move(base)), thread_([this] { Run(); }) {}

HostileEngine::~HostileEngine() {
  {
    const MutexLock lock(mu_);
    while (under_way_ > 0) changed_.Wait(mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

std::string HostileEngine::Description() const { return "hostile, seed " + std::to_string(hostility_.seed); }

void HostileEngine::BeGood() {
  const MutexLock lock(mu_);
  good_ = true;
}

HostileEngine::Counts HostileEngine::counts() const {
  const MutexLock lock(mu_);
  return counts_;
}

void HostileEngine::Submit(ReadRequest request) {
  {
    const MutexLock lock(mu_);
    ++under_way_;
  }
  ReadRequest below{
      .fd = request.fd, .offset = request.offset, .data = request.data, .bytes = request.bytes, .done = {}};
  below.done = [this, request = std::move(request)](int64_t result) {
    const MutexLock lock(mu_);
    ++counts_.reads;
    ended_.push_back({.request = request, .result = good_ ? result : Spoil(request, result)});
    changed_.NotifyAll();
  };
  base_->Submit(std::move(below));
}

// What the reader is told, and the bytes that go with it.
int64_t HostileEngine::Spoil(const ReadRequest& request, int64_t result) {
  uint64_t before = 0;  // sectors of it that were read before
  for (uint64_t at = request.offset / kSectorBytes; at * kSectorBytes < request.offset + request.bytes; ++at) {
    before += times_read_[at]++ > 0 ? 1 : 0;
  }
  const uint64_t times = times_read_[request.offset / kSectorBytes];
  std::seed_seq seeds = {hostility_.seed, request.offset, uint64_t{request.bytes}, times};
  std::mt19937_64 random(seeds);
  if (result <= 0) return result;
  auto bytes = static_cast<uint64_t>(result);
  const bool again = before > 0 && Happens(random, hostility_.flip_again);
  if (again || Happens(random, hostility_.flip)) {
    ++counts_.flipped;
    // The first and the last sector may have bytes of a neighbour.
    const uint64_t first = std::min(bytes, kSectorBytes - request.offset % kSectorBytes);
    const uint64_t last = (request.offset + bytes - 1) % kSectorBytes + 1;
    switch (random() % 3) {
      case 0: FlipBit(request.data, first, random); break;
      case 1: FlipBit(request.data + (bytes - std::min(bytes, last)), std::min(bytes, last), random); break;
      default: FlipBit(request.data, bytes, random); break;
    }
  }
  if (request.bytes > hostility_.large_bytes || Happens(random, hostility_.eio)) {
    ++counts_.failed;
    bytes = random() % (bytes + 1);
    result = -EIO;
  } else if (Happens(random, hostility_.cut)) {
    ++counts_.cut;
    bytes = random() % bytes;
    result = static_cast<int64_t>(bytes);
  }
  if (bytes < request.bytes && result != static_cast<int64_t>(request.bytes)) {
    std::generate(request.data + bytes, request.data + request.bytes, [&] { return static_cast<std::byte>(random()); });
  }
  return result;
}

// Ends reads, one at a time, any of those that have come.
void HostileEngine::Run() {
  mu_.Lock();
  while (true) {
    while (ended_.empty() && !stopping_) changed_.Wait(mu_);
    if (ended_.empty()) break;
    if (hostility_.late_max.count() > 0 && !good_) {
      const auto late = std::chrono::microseconds(order_() % static_cast<uint64_t>(hostility_.late_max.count()));
      mu_.Unlock();
      std::this_thread::sleep_for(late);  // others come meanwhile
      mu_.Lock();
    }
    std::swap(ended_[order_() % ended_.size()], ended_.back());
    Ended one = std::move(ended_.back());
    ended_.pop_back();
    mu_.Unlock();
    one.request.done(one.result);
    one.request.done = nullptr;
    mu_.Lock();
    if (--under_way_ == 0) changed_.NotifyAll();
  }
  mu_.Unlock();
}

}  // namespace augur
