// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_client.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/limited_log.h"
#include "base/thread.h"

namespace augur {

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
