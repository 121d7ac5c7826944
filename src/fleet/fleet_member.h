// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "fleet/fleet_address.h"
#include "fleet/fleet_errand.h"
#include "fleet/fleet_key.h"
#include "fleet/fleet_read.h"
#include "fleet/member_breaker.h"
#include "fleet/memcached_connection.h"
#include "fleet/reply_deadline.h"

namespace augur {

// A value to be put into the fleet's cache, and what keeps its bytes alive.
struct FleetValue {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;  // key.size of them
  std::function<bool()> is_right;    // asked on the member's thread before the value is sent
};

// What became of values that were offered. Called on a member's thread.
struct FleetEvents {
  std::function<void()> on_kept;     // a server has taken a value
  std::function<void()> on_refused;  // a server is full, or away
};

// Memory of values that wait to be sent, of all members together.
class FleetWaiting {
 public:
  explicit FleetWaiting(uint64_t bytes_max) : bytes_max_(bytes_max) {}
  // False: with these bytes more than `bytes_max` would wait. A value that waits alone may be larger than that.
  bool Add(uint64_t bytes) {
    const uint64_t before = bytes_.fetch_add(bytes);
    if (before == 0 || before + bytes <= bytes_max_) return true;
    bytes_.fetch_sub(bytes);
    return false;
  }
  void Remove(uint64_t bytes) { bytes_.fetch_sub(bytes); }

 private:
  const uint64_t bytes_max_;
  std::atomic<uint64_t> bytes_ = 0;
};

// FleetMember is one memcached server of the fleet: a thread with a connection, and the requests that wait for it.
// Reads for which a reader waits go first, then reads ahead, then values that are put there, then errands. The thread
// may be stuck for as long as the server is; whoever asks waits no longer than the deadline that Ask gives (FleetClient
// has the clock). Safe from any thread.
class FleetMember {
 public:
  using Clock = std::chrono::steady_clock;

  // `out`: see MemberBreaker. REQUIRES: events and waiting outlive it.
  FleetMember(FleetAddress address, const FleetEvents& events, FleetWaiting& waiting,
              std::chrono::milliseconds out = MemberBreaker::kOut);
  // Stops.
  ~FleetMember() { Stop(); }
  FleetMember(const FleetMember&) = delete;
  FleetMember& operator=(const FleetMember&) = delete;

  // kNoSpace: the system gives no thread. REQUIRES: no other thread of this process will fork.
  Status Start();
  // Ends the thread, and all that waits for it: parts of reads without a value.
  void Stop() AUGUR_EXCLUDES(mu_);

  const FleetAddress& address() const { return address_; }
  bool out() const AUGUR_EXCLUDES(mu_);
  // It is taken for full: it has refused kRefusalsFull values in a row, and was not away since.
  bool full() const AUGUR_EXCLUDES(mu_);
  // How often it was out and answered again.
  uint64_t returns() const AUGUR_EXCLUDES(mu_);

  // Asks for a part of a read, and gives its deadline. Nothing: the server is out, or has too much to do; the part has
  // not ended.
  std::optional<Clock::time_point> Ask(const std::shared_ptr<FleetRead>& read, size_t part, bool urgent)
      AUGUR_EXCLUDES(mu_);
  // The deadline of a part has passed.
  void OnDeadline(FleetRead& read, size_t part);

  // Takes the value that `make` gives, to put it there. False: it waits already, too much waits, or the server is out
  // or full; `make` is not called then.
  bool Offer(const FleetKey& key, const std::function<FleetValue()>& make) AUGUR_EXCLUDES(mu_);

  // Takes an errand; as many may wait as are given. Where the server is out, it ends at once.
  void Visit(FleetErrand errand) AUGUR_EXCLUDES(mu_);
  // What became of a value in an errand.
  void OnStored(MemcachedConnection::Kept kept) AUGUR_EXCLUDES(mu_);

 private:
  // A part of a read that is not answered yet.
  struct Question {
    std::shared_ptr<FleetRead> read;
    size_t part = 0;
    size_t next = 0;     // of the part's values: the first that was not asked for
    uint64_t bytes = 0;  // of those that were not
    Clock::time_point asked;
  };
  struct Keep {
    FleetKey key;
    FleetValue value;
  };
  // What waits for an answer, of one urgency.
  struct Queue {
    std::deque<Question> questions;  // at most kQueueBytesMax in all, or one: Ask refuses others
    uint64_t bytes = 0;
  };
  struct HashOfKey {
    size_t operator()(const FleetKey& key) const { return key.hash.low; }
  };

  // Values that one request asks for. They are enough to fill a connection (16 took as little as 64 in the
  // measurements), and few enough that who comes next does not wait long.
  static constexpr size_t kValuesMax = 16;
  static constexpr uint64_t kBytesMax = uint64_t{1} << 20;
  // Of questions that wait: more would pass their deadline.
  static constexpr uint64_t kQueueBytesMax = uint64_t{16} << 20;
  // For this time after a refusal a full server is offered nothing. A value that is refused costs the network as much
  // as one that is kept.
  static constexpr std::chrono::seconds kAfterRefusal{1};
  // memcached refuses a value when the memory for values of about its size is full. It may still have room for some
  // other size.
  static constexpr int kRefusalsFull = 4;

  void Run() AUGUR_EXCLUDES(mu_);
  // How long the thread waits for a request that moves `bytes` bytes.
  ReplyDeadline::Duration Patience(uint64_t bytes) const AUGUR_EXCLUDES(mu_);
  // Asks for some values of the question. True: there are more.
  bool Answer(Question& question) AUGUR_EXCLUDES(mu_);
  void Put(const Keep& keep) AUGUR_EXCLUDES(mu_);
  void Do(const FleetErrand& errand) AUGUR_EXCLUDES(mu_);
  void OnFailure(const std::string& cause) AUGUR_EXCLUDES(mu_);
  void OnAnswer() AUGUR_EXCLUDES(mu_);
  void DropAll() AUGUR_EXCLUDES(mu_);

  // Constant after construction, or with its own synchronization.
  const FleetAddress address_;
  const FleetEvents& events_;
  FleetWaiting& waiting_bytes_;

  mutable Mutex mu_;
  CondVar changed_;
  Queue urgent_ AUGUR_GUARDED_BY(mu_);
  Queue ahead_ AUGUR_GUARDED_BY(mu_);
  // At most the bytes of FleetWaiting, with those of the other members: Offer refuses others.
  std::deque<Keep> keeps_ AUGUR_GUARDED_BY(mu_);
  // Of keeps_, of those that are being made, and of the one that is being sent.
  std::unordered_set<FleetKey, HashOfKey> waiting_ AUGUR_GUARDED_BY(mu_);
  // One for each record of a piece, SweepCursor::kPieceBlocks at most: FleetSweep waits for their ends.
  std::deque<FleetErrand> errands_ AUGUR_GUARDED_BY(mu_);
  MemberBreaker breaker_ AUGUR_GUARDED_BY(mu_);
  uint64_t returns_ AUGUR_GUARDED_BY(mu_) = 0;
  ReplyDeadline deadline_ AUGUR_GUARDED_BY(mu_);
  Clock::time_point full_until_ AUGUR_GUARDED_BY(mu_);
  int refusals_ AUGUR_GUARDED_BY(mu_) = 0;  // in a row
  bool running_ AUGUR_GUARDED_BY(mu_) = false;

  MemcachedConnection connection_;  // used by the thread only, but for Interrupt

  std::thread thread_;
};

}  // namespace augur
