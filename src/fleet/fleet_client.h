// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "fleet/fleet_key.h"
#include "fleet/fleet_list.h"
#include "fleet/fleet_member.h"
#include "fleet/fleet_read.h"
#include "fleet/rendezvous.h"

namespace augur {

struct FleetClientOptions {
  FleetList list;
  uint64_t waiting_bytes_max = 0;  // of values that wait to be put there
  FleetEvents events;
  std::chrono::milliseconds between_looks{60'000};  // at the list's file
  std::chrono::milliseconds out = MemberBreaker::kOut;
};

// Whether a value is on its server.
enum class FleetSight : uint8_t {
  kThere,
  kMissing,
  kFull,  // it is not there, and its server takes no more
  kAway,  // the server does not answer
};

// What became of a value, or of a note.
enum class FleetStored : uint8_t {
  kKept,
  kExists,   // of a note: there is one
  kRefused,  // the server is full, or takes no value so large
  kAway,     // the server does not answer
};

// How many servers the fleet has, and how many are out (MemberBreaker).
struct FleetCounts {
  uint64_t members = 0;
  uint64_t out = 0;
};

// FleetClient reads values from the memcached servers of a fleet, and puts values there. A key belongs to one server
// (Rendezvous). A server that is slow, stopped or gone costs its own share, and readers wait for it no longer than its
// deadline (ReplyDeadline). Each server has a thread of its own, as it may wait for a name or an answer. Further
// threads: a clock that ends the parts of reads whose deadline has passed, and one that reads the list's file every
// minute. Safe from any thread; nothing but Make, Start and Stop waits. Not for data whose truth matters: who reads
// must check each value, as any machine of the network can change it.
class FleetClient {
 public:
  // Reads the list. kInvalid, kIo: as FleetList::Read.
  static Result<std::unique_ptr<FleetClient>> Make(FleetClientOptions options);
  // Stops.
  ~FleetClient();
  FleetClient(const FleetClient&) = delete;
  FleetClient& operator=(const FleetClient&) = delete;

  // Until this, nothing is found and nothing is kept. kNoSpace: the system gives no thread. REQUIRES: called once; no
  // other thread of this process will fork.
  Status Start() AUGUR_EXCLUDES(mu_);
  // Ends all reads, without what has not come, and the threads.
  void Stop() AUGUR_EXCLUDES(mu_, clock_mu_);

  // Reads values; see FleetRead. `done` is called once, on a thread of the client or before this returns. `urgent`: a
  // reader waits.
  void Get(std::vector<FleetWanted> wanted, bool urgent, FleetRead::IsRight is_right, FleetRead::Done done)
      AUGUR_EXCLUDES(mu_, clock_mu_);
  // As FleetMember::Offer, of the server that the key belongs to.
  bool Offer(const FleetKey& key, const std::function<FleetValue()>& make) AUGUR_EXCLUDES(mu_);

  // What a machine does for the others (FleetErrand): behind all reads and offers, and only as fast as the servers are.
  // `done` is called once, on a thread of the client or before this returns.
  //
  // Says of each value whether it is there.
  void Look(const std::vector<FleetKey>& keys, std::function<void(const std::vector<FleetSight>&)> done)
      AUGUR_EXCLUDES(mu_);
  // Puts a value there, whose bytes are right and stay until `done` is called.
  void Put(const FleetKey& key, std::span<const std::byte> bytes, std::function<void(FleetStored)> done)
      AUGUR_EXCLUDES(mu_);
  // Leaves a note for the other machines, of which one alone can be the first, and which is gone after `lifetime`.
  void Note(const FleetKey& key, std::chrono::seconds lifetime, std::function<void(FleetStored)> done)
      AUGUR_EXCLUDES(mu_);

  std::vector<FleetAddress> addresses() const AUGUR_EXCLUDES(mu_);
  // How many servers come before this one for the key; nothing: it is not in the list.
  std::optional<size_t> RankOf(const Hash128& key, const FleetAddress& member) const AUGUR_EXCLUDES(mu_);
  FleetCounts counts() const AUGUR_EXCLUDES(mu_);
  // Another number than before: a server that was out has come back, or the list has changed.
  uint64_t changes() const AUGUR_EXCLUDES(mu_);

 private:
  using MemberRef = std::shared_ptr<FleetMember>;
  // The list at one time.
  struct Members {
    std::vector<MemberRef> members;
    Rendezvous places;    // of the same
    uint64_t number = 0;  // of the lists so far
  };
  using MembersRef = std::shared_ptr<const Members>;
  struct Deadline {
    FleetMember::Clock::time_point time;
    MemberRef member;
    std::weak_ptr<FleetRead> read;
    size_t part = 0;
    bool operator>(const Deadline& other) const { return time > other.time; }
  };

  explicit FleetClient(FleetClientOptions options);
  MembersRef Now() const AUGUR_EXCLUDES(mu_);
  using Storing = std::function<Result<MemcachedConnection::Kept>(MemcachedConnection&, MemcachedConnection::Time)>;
  void Store(const FleetKey& key, uint64_t bytes, std::function<void(FleetStored)> done, Storing storing)
      AUGUR_EXCLUDES(mu_);
  // Members of these addresses: those that were there already, and new ones.
  MembersRef MakeMembers(const std::vector<FleetAddress>& addresses, const Members& before);
  void WatchDeadlines() AUGUR_EXCLUDES(clock_mu_);
  void WatchList() AUGUR_EXCLUDES(mu_);
  void ReadListAgain() AUGUR_EXCLUDES(mu_);

  // Constant after construction, or with its own synchronization.
  const FleetClientOptions options_;
  FleetWaiting waiting_;

  mutable Mutex mu_;
  MembersRef members_ AUGUR_GUARDED_BY(mu_);
  CondVar stop_;
  bool stopping_ AUGUR_GUARDED_BY(mu_) = false;

  Mutex clock_mu_;
  CondVar clock_changed_;
  // One for each part of a read whose deadline is still to come, also of those that were answered.
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_ AUGUR_GUARDED_BY(clock_mu_);
  bool clock_stopping_ AUGUR_GUARDED_BY(clock_mu_) = false;

  std::thread clock_;
  std::thread list_;
};

}  // namespace augur
