// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_client.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "base/limited_log.h"
#include "base/thread.h"

namespace augur {
namespace {

// Keys that one errand looks for: enough that the way there and back does not count, and few enough that a reader does
// not wait behind it.
constexpr size_t kKeysMax = 256;
constexpr uint64_t kKeyBytes = 64;  // with the answer

}  // namespace

Result<std::unique_ptr<FleetClient>> FleetClient::Make(FleetClientOptions options) {
  AUGUR_TRY_ASSIGN(addresses, options.list.Read());
  std::unique_ptr<FleetClient> client(new FleetClient(std::move(options)));
  MembersRef members = client->MakeMembers(addresses, {});
  {
    const MutexLock lock(client->mu_);
    client->members_ = std::move(members);
  }
  return client;
}

FleetClient::FleetClient(FleetClientOptions options)
    : options_(std::move(options)), waiting_(options_.waiting_bytes_max), members_(std::make_shared<Members>()) {}

FleetClient::~FleetClient() { Stop(); }

Status FleetClient::Start() {
  for (const MemberRef& member : Now()->members) AUGUR_TRY(member->Start());
  AUGUR_TRY_ASSIGN(clock, StartThread("augur-fleet", [this] { WatchDeadlines(); }));
  clock_ = std::move(clock);
  if (options_.list.file().empty()) return Status::Ok();
  AUGUR_TRY_ASSIGN(list, StartThread("augur-fleetlist", [this] { WatchList(); }));
  list_ = std::move(list);
  return Status::Ok();
}

// The clock last: until then it ends what a server that does not answer has.
void FleetClient::Stop() {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  if (list_.joinable()) list_.join();
  for (const MemberRef& member : Now()->members) member->Stop();
  {
    const MutexLock lock(clock_mu_);
    clock_stopping_ = true;
    clock_changed_.NotifyAll();
  }
  if (clock_.joinable()) clock_.join();
}

FleetClient::MembersRef FleetClient::Now() const {
  const MutexLock lock(mu_);
  return members_;
}

FleetClient::MembersRef FleetClient::MakeMembers(const std::vector<FleetAddress>& addresses, const Members& before) {
  auto made = std::make_shared<Members>();
  made->number = before.number + 1;
  for (const FleetAddress& address : addresses) {
    const auto old = std::ranges::find(before.members, address, [](const MemberRef& one) { return one->address(); });
    made->members.push_back(old != before.members.end()
                                ? *old
                                : std::make_shared<FleetMember>(address, options_.events, waiting_, options_.out));
    made->places.Add(address.text());
  }
  return made;
}

void FleetClient::Get(std::vector<FleetWanted> wanted, bool urgent, FleetRead::IsRight is_right, FleetRead::Done done) {
  const MembersRef members = Now();
  std::map<size_t, std::vector<size_t>> shares;  // by member
  for (size_t value = 0; value < wanted.size(); ++value) {
    shares[members->places.OwnerOf(wanted[value].key.hash)].push_back(value);
  }
  const auto read = std::make_shared<FleetRead>(std::move(wanted), std::move(is_right), std::move(done));
  for (const auto& [member, values] : shares) read->AddPart(values);
  size_t part = 0;
  for (const auto& [member, values] : shares) {
    const MemberRef& asked = members->members[member];
    const std::optional<FleetMember::Clock::time_point> deadline = asked->Ask(read, part, urgent);
    if (deadline) {
      const MutexLock lock(clock_mu_);
      const bool next = deadlines_.empty() || *deadline < deadlines_.top().time;
      deadlines_.push({.time = *deadline, .member = asked, .read = read, .part = part});
      if (next) clock_changed_.NotifyOne();
    } else {
      read->End(part);
    }
    ++part;
  }
}

bool FleetClient::Offer(const FleetKey& key, const std::function<FleetValue()>& make) {
  const MembersRef members = Now();
  return members->members[members->places.OwnerOf(key.hash)]->Offer(key, make);
}

void FleetClient::Look(const std::vector<FleetKey>& keys, std::function<void(const std::vector<FleetSight>&)> done) {
  struct Looking {
    std::vector<FleetSight> sights;
    std::function<void(const std::vector<FleetSight>&)> done;
    std::atomic<size_t> open = 1;  // errands, and this loop

    void End() {
      if (--open == 0) done(sights);
    }
  };
  const auto all = std::make_shared<Looking>();
  all->sights.resize(keys.size(), FleetSight::kAway);
  all->done = std::move(done);
  const MembersRef members = Now();
  std::map<size_t, std::vector<std::vector<size_t>>> shares;  // by member: the keys of each errand
  for (size_t key = 0; key < keys.size(); ++key) {
    std::vector<std::vector<size_t>>& share = shares[members->places.OwnerOf(keys[key].hash)];
    if (share.empty() || share.back().size() == kKeysMax) share.emplace_back();
    share.back().push_back(key);
  }
  for (const auto& [number, share] : shares) {
    const MemberRef& member = members->members[number];
    for (const std::vector<size_t>& some : share) {
      std::vector<std::string> names;
      names.reserve(some.size());
      for (const size_t key : some) names.push_back(keys[key].text());
      ++all->open;
      member->Visit({.bytes = some.size() * kKeyBytes,
                     .act =
                         [all, member, some, names = std::move(names)](MemcachedConnection& connection,
                                                                       MemcachedConnection::Time until) {
                           AUGUR_TRY_ASSIGN(there, connection.Look(names, until));
                           const FleetSight not_there = member->full() ? FleetSight::kFull : FleetSight::kMissing;
                           for (size_t i = 0; i < some.size(); ++i) {
                             all->sights[some[i]] = there[i] ? FleetSight::kThere : not_there;
                           }
                           return Status::Ok();
                         },
                     .done = [all](bool) { all->End(); }});
    }
  }
  all->End();
}

void FleetClient::Put(const FleetKey& key, std::span<const std::byte> bytes, std::function<void(FleetStored)> done) {
  Store(key, key.size, std::move(done),
        [text = key.text(), bytes](MemcachedConnection& connection, MemcachedConnection::Time until) {
          return connection.Set(text, bytes, until, {});
        });
}

void FleetClient::Note(const FleetKey& key, std::chrono::seconds lifetime, std::function<void(FleetStored)> done) {
  Store(key, kKeyBytes, std::move(done),
        [text = key.text() + "-note", lifetime](MemcachedConnection& connection, MemcachedConnection::Time until) {
          return connection.Add(text, {}, until, {.time = lifetime});
        });
}

void FleetClient::Store(const FleetKey& key, uint64_t bytes, std::function<void(FleetStored)> done, Storing storing) {
  using Kept = MemcachedConnection::Kept;
  const MembersRef members = Now();
  const MemberRef& member = members->members[members->places.OwnerOf(key.hash)];
  const auto stored = std::make_shared<FleetStored>(FleetStored::kAway);
  member->Visit({.bytes = bytes,
                 .act =
                     [member, stored, storing = std::move(storing)](MemcachedConnection& connection,
                                                                    MemcachedConnection::Time until) {
                       AUGUR_TRY_ASSIGN(kept, storing(connection, until));
                       member->OnStored(kept);
                       *stored = kept == Kept::kYes      ? FleetStored::kKept
                                 : kept == Kept::kExists ? FleetStored::kExists
                                                         : FleetStored::kRefused;
                       return Status::Ok();
                     },
                 .done = [stored, done = std::move(done)](bool) { done(*stored); }});
}

std::vector<FleetAddress> FleetClient::addresses() const {
  std::vector<FleetAddress> addresses;
  for (const MemberRef& member : Now()->members) addresses.push_back(member->address());
  return addresses;
}

std::optional<size_t> FleetClient::RankOf(const Hash128& key, const FleetAddress& member) const {
  const MembersRef members = Now();
  const auto found = std::ranges::find(members->members, member, [](const MemberRef& one) { return one->address(); });
  if (found == members->members.end()) return std::nullopt;
  return members->places.RankOf(key, static_cast<size_t>(found - members->members.begin()));
}

uint64_t FleetClient::changes() const {
  const MembersRef members = Now();
  uint64_t changes = members->number;
  for (const MemberRef& member : members->members) changes += member->returns();
  return changes;
}

FleetCounts FleetClient::counts() const {
  const MembersRef members = Now();
  return {.members = members->members.size(),
          .out = static_cast<uint64_t>(std::ranges::count_if(members->members, &FleetMember::out))};
}

void FleetClient::WatchDeadlines() {
  std::vector<Deadline> late;
  while (true) {
    {
      const MutexLock lock(clock_mu_);
      if (clock_stopping_) return;
      const auto now = FleetMember::Clock::now();
      if (deadlines_.empty()) {
        clock_changed_.Wait(clock_mu_);
      } else if (deadlines_.top().time > now) {
        clock_changed_.WaitFor(clock_mu_, std::chrono::ceil<std::chrono::milliseconds>(deadlines_.top().time - now));
      }
      while (!deadlines_.empty() && deadlines_.top().time <= FleetMember::Clock::now()) {
        late.push_back(deadlines_.top());
        deadlines_.pop();
      }
    }
    for (const Deadline& one : late) {
      if (const std::shared_ptr<FleetRead> read = one.read.lock()) one.member->OnDeadline(*read, one.part);
    }
    late.clear();
  }
}

void FleetClient::WatchList() {
  while (true) {
    {
      const MutexLock lock(mu_);
      if (!stopping_) stop_.WaitFor(mu_, options_.between_looks);
      if (stopping_) return;
    }
    ReadListAgain();
  }
}

// A file that is wrong, or away, changes nothing: the old list is better than none.
void FleetClient::ReadListAgain() {
  const auto tell = [](const std::string& text) { LogLimited(spdlog::level::warn, "fleet-cache", text, text); };
  const Result<std::vector<FleetAddress>> addresses = options_.list.Read();
  if (!addresses.ok()) {
    return tell("fleet-cache: " + addresses.status().text() + "; the list of before stays in use");
  }
  const MembersRef before = Now();
  const MembersRef made = MakeMembers(*addresses, *before);
  if (std::ranges::equal(made->members, before->members)) return;
  const auto is_in = [](const MembersRef& list, const MemberRef& member) {
    return std::ranges::find(list->members, member) != list->members.end();
  };
  for (const MemberRef& member : made->members) {
    if (is_in(before, member)) continue;
    if (const Status status = member->Start(); !status.ok()) return tell("fleet-cache: " + status.text());
  }
  {
    const MutexLock lock(mu_);
    members_ = made;
  }
  for (const MemberRef& member : before->members) {
    if (!is_in(made, member)) member->Stop();
  }
  spdlog::info("fleet-cache: {} has {} servers now", options_.list.file(), made->members.size());
}

}  // namespace augur
