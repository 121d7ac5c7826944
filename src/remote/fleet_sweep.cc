// SPDX-License-Identifier: Apache-2.0
#include "remote/fleet_sweep.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/limited_log.h"
#include "base/thread.h"
#include "base/units.h"
#include "store/store_files.h"

namespace augur {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooksAtIndex{200};
constexpr milliseconds kBetweenLooksAtFleet{2'000};

// A machine goes through the store for its own pieces, for those of which it is the second, the third, and for all
// others. Machines that look for the same pieces at the same time only cost looks.
constexpr size_t kTurns = 4;
// Notes of which one alone may be lost with its server.
constexpr uint64_t kNotes = 3;
// This number of refused pieces in a row ends a walk: two, as one piece may have records of one size alone.
constexpr uint64_t kRefusedMax = 2;
constexpr uint64_t kFailedMax = 3;

// One request at a time fills a slow line. Where a piece comes within the first, another one is read beside it: at 200
// MB/s and 30 ms a request brings 75 MB/s, and four pieces at once take 170 ms each. Where it takes longer than the
// second, fewer bring as much.
constexpr milliseconds kQuick{250};
constexpr milliseconds kSlow{500};

}  // namespace

FleetSweep::FleetSweep(FleetCopy& copy, std::shared_ptr<const Store> store, std::unique_ptr<ShardSource> source,
                       FleetSweepOptions options)
    : copy_(copy), store_(std::move(store)), options_(std::move(options)), source_(std::move(source)), cursor_(store_) {
  AUGUR_CHECK(options_.bytes_max >= kBytesMin);
  const uint64_t count = std::clamp<uint64_t>(options_.bytes_max / kFetchBytes, 1, kFetches);
  for (uint64_t i = 0; i < count; ++i) {
    fetches_.push_back(
        std::make_unique<PieceFetch>(*source_, std::min(options_.bytes_max / count, kFetchBytes), [this] {
          const MutexLock lock(mu_);
          changed_.NotifyAll();
        }));
  }
}

Status FleetSweep::Start() {
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-sweep", [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

void FleetSweep::Stop() {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  for (const std::unique_ptr<PieceFetch>& fetch : fetches_) fetch->Cancel();
  source_->Drain();
}

bool FleetSweep::IsStopping() const {
  const MutexLock lock(mu_);
  return stopping_;
}

bool FleetSweep::Sleep(milliseconds time) {
  const MutexLock lock(mu_);
  if (!stopping_) changed_.WaitFor(mu_, time);
  return !stopping_;
}

void FleetSweep::Set(Phase phase, const std::string& cause) {
  const MutexLock lock(mu_);
  phase_ = phase;
  cause_ = cause;
}

Result<FleetAddress> FleetSweep::FindSelf() const {
  const auto stopped = [this] { return IsStopping(); };
  return options_.self.FindIn(copy_.client().addresses(), [&](const std::string& host) {
    return !stopped() && (options_.is_here ? options_.is_here(host) : IsThisMachine(host, stopped));
  });
}

void FleetSweep::Run() {
  (void)setpriority(PRIO_PROCESS, 0, kLowestNice);
  while (store_->files().MissingIndexBytes() > 0) {
    if (!Sleep(kBetweenLooksAtIndex)) return;
  }
  while (!IsStopping()) {
    const uint64_t before = copy_.client().changes();
    const Result<FleetAddress> self = FindSelf();
    if (IsStopping()) return;
    auto again = std::chrono::steady_clock::time_point::max();
    if (self.ok()) {
      const Walk walk = WalkOnce(*self);
      if (IsStopping()) return;
      Tell(walk);
      if (walk.must_look) again = std::chrono::steady_clock::now() + options_.claim;
    } else {
      const std::string& text = self.status().text();
      LogLimited(spdlog::level::warn, "fleet-cache", text,
                 "fleet-cache: this machine reads no share of the store for the others: " + text);
      Set(Phase::kNoSelf, text);
    }
    do {
      if (!Sleep(kBetweenLooksAtFleet)) return;
    } while (copy_.client().changes() == before && std::chrono::steady_clock::now() < again);
  }
}

FleetSweep::Walk FleetSweep::WalkOnce(const FleetAddress& self) {
  Walk walk;
  const size_t turns = std::min(kTurns, copy_.client().addresses().size());
  for (size_t turn = 0; turn < turns && !IsOver(walk); ++turn) {
    Set(turn == 0 ? Phase::kOwn : Phase::kOthers);
    cursor_.Restart();
    while (!IsOver(walk)) {
      const std::vector<WantedBlock> piece = cursor_.Next();
      if (piece.empty()) break;
      const std::optional<FleetKey> name = copy_.KeyOf(piece[0]);
      if (turn == 0) {
        const MutexLock lock(mu_);
        percent_ = cursor_.percent();
      }
      const std::optional<size_t> rank = name ? copy_.client().RankOf(name->hash, self) : std::nullopt;
      if (rank && std::min(*rank, kTurns - 1) == turn) Visit(piece, turn == 0, walk);
    }
    (void)IdleFetch(/*at_once=*/1, walk);  // once all have ended
  }
  for (const std::unique_ptr<PieceFetch>& fetch : fetches_) {
    if (fetch->idle()) fetch->Release();
  }
  return walk;
}

bool FleetSweep::IsOver(const Walk& walk) const {
  return IsStopping() || walk.refused >= kRefusedMax || walk.failed >= kFailedMax;
}

void FleetSweep::Visit(const std::vector<WantedBlock>& piece, bool own, Walk& walk) {
  PieceFetch* const fetch = IdleFetch(at_once_, walk);
  if (fetch == nullptr || IsOver(walk)) return;
  std::promise<std::vector<FleetSight>> looked;
  copy_.Look(piece, [&looked](const std::vector<FleetSight>& sights) { looked.set_value(sights); });
  const std::vector<FleetSight> sights = looked.get_future().get();
  std::vector<WantedBlock> missing;
  for (size_t i = 0; i < piece.size(); ++i) {
    if (sights[i] == FleetSight::kMissing) missing.push_back(piece[i]);
  }
  walk.away |= std::ranges::count(sights, FleetSight::kAway) > 0;
  if (missing.empty()) {
    if (std::ranges::count(sights, FleetSight::kFull) > 0) ++walk.refused;
    return;
  }
  const std::optional<FleetKey> name = copy_.KeyOf(piece[0]);
  if (!name || !Claim(*name, own, walk)) return;
  fetch->Take(std::move(missing));
  fetch->BeginTurn();
}

// The note is on the server that has the piece's first record, or, as that may be the one that died, on another one.
bool FleetSweep::Claim(const FleetKey& name, bool own, Walk& walk) {
  for (uint64_t number = 0; number < kNotes; ++number) {
    std::promise<FleetStored> noted;
    copy_.client().Note({.hash = {.low = name.hash.low + number, .high = name.hash.high}, .size = name.size},
                        options_.claim, [&noted](FleetStored stored) { noted.set_value(stored); });
    switch (noted.get_future().get()) {
      case FleetStored::kKept: return true;
      case FleetStored::kExists: walk.must_look = true; return false;
      case FleetStored::kRefused:
      case FleetStored::kAway: break;
    }
  }
  return own;
}

uint64_t FleetSweep::CountBusy() const {
  return static_cast<uint64_t>(std::ranges::count_if(fetches_, [](const auto& fetch) { return !fetch->idle(); }));
}

PieceFetch* FleetSweep::WaitForRead() {
  const MutexLock lock(mu_);
  while (!stopping_) {
    for (const std::unique_ptr<PieceFetch>& fetch : fetches_) {
      if (fetch->read()) return fetch.get();
    }
    changed_.Wait(mu_);
  }
  return nullptr;
}

PieceFetch* FleetSweep::IdleFetch(uint64_t at_once, Walk& walk) {
  while (CountBusy() >= at_once) {
    PieceFetch* const fetch = WaitForRead();
    if (fetch == nullptr) return nullptr;
    PutTurn(*fetch, walk);
    fetch->BeginTurn();
  }
  for (const std::unique_ptr<PieceFetch>& fetch : fetches_) {
    if (fetch->idle()) return fetch.get();
  }
  return nullptr;
}

void FleetSweep::Adapt(milliseconds took) {
  if (took < kQuick) at_once_ = std::min<uint64_t>(at_once_ + 1, fetches_.size());
  if (took > kSlow) at_once_ = std::max<uint64_t>(at_once_ - 1, 1);
}

// All records are sent before the first answer is waited for: each server has its share of them.
void FleetSweep::PutTurn(PieceFetch& fetch, Walk& walk) {
  {
    const MutexLock lock(mu_);
    swept_bytes_ += fetch.read_bytes();
  }
  copy_.statistics().Add(Stat::kFleetSweptBytes, fetch.read_bytes());
  if (const Status failure = fetch.failure(); !failure.ok()) {
    ++walk.failed;
    walk.must_look = true;
    LogLimited(spdlog::level::warn, "fleet-cache", "sweep",
               "fleet-cache: a part of this machine's share was not read for the others: " + failure.text());
  } else {
    walk.failed = 0;
    Adapt(fetch.took());
  }
  std::vector<std::future<FleetStored>> stored;
  fetch.ForEachBlock([&](const WantedBlock& wanted, std::span<const std::byte> bytes) {
    if (!copy_.HasBytes(wanted, bytes)) return;  // whoever reads it asks for it again, and is told
    const auto one = std::make_shared<std::promise<FleetStored>>();
    stored.push_back(one->get_future());
    copy_.Put(wanted, bytes, [one](FleetStored what) { one->set_value(what); });
  });
  bool kept = false;
  bool refused = false;
  for (std::future<FleetStored>& one : stored) {
    const FleetStored what = one.get();
    kept |= what == FleetStored::kKept;
    refused |= what == FleetStored::kRefused;
    walk.away |= what == FleetStored::kAway;
  }
  if (kept) walk.refused = 0;
  if (refused && !kept) ++walk.refused;
}

void FleetSweep::Tell(const Walk& walk) {
  const bool full = walk.refused >= kRefusedMax;
  const bool failed = walk.failed >= kFailedMax;
  Set(full     ? Phase::kFull
      : failed ? Phase::kFailed
               : Phase::kDone,
      walk.away ? "; what belongs to servers of the fleet that do not answer is missing" : "");
  const std::string text = Describe();
  LogLimited(full ? spdlog::level::warn : spdlog::level::info, "fleet-cache", text, "fleet-cache: " + text);
}

uint64_t FleetSweep::percent() const {
  const MutexLock lock(mu_);
  return percent_;
}

std::string FleetSweep::Describe() const {
  const MutexLock lock(mu_);
  const std::string read = FormatSize(swept_bytes_) + " read from the store's server for the fleet";
  const std::string part = std::to_string(percent_) + " % of this machine's share";
  switch (phase_) {
    case Phase::kIndex: return "the sweep waits for the store's index";
    case Phase::kNoSelf: return "no sweep: " + cause_;
    case Phase::kOwn: return "the sweep has done " + part + ", " + read;
    case Phase::kOthers: return "the sweep looks for what other machines have not read, " + read;
    case Phase::kDone: return "the sweep is over, " + read + cause_;
    case Phase::kFailed: return "the sweep waits, as the store's server does not answer, after " + part + ", " + read;
    case Phase::kFull:
      return "the sweep ended after " + part + ", " + read +
             ": the fleet is full (memcached -m), or takes no record so large (-I 2m)";
  }
  return {};
}

}  // namespace augur
