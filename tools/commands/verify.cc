// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "augur/store.h"
#include "base/mutex.h"
#include "base/units.h"
#include "tools/commands/commands.h"
#include "tools/output.h"
#include "tools/progress_bar.h"
#include "tools/stop_signals.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// A store that is all wrong has a defect an entry; more of them in one JSON object would help no reader.
constexpr size_t kListedDefectsMax = 1000;

// Defects says each defect on stderr as it is found, and keeps the first ones. Safe from any thread.
class Defects {
 public:
  explicit Defects(ProgressBar& progress) : progress_(progress) {}
  void Add(const Status& defect) AUGUR_EXCLUDES(mu_) {
    progress_.Print("augurpack: " + defect.text());
    const MutexLock lock(mu_);
    if (texts_.size() < kListedDefectsMax) texts_.push_back(defect.text());
  }
  std::vector<std::string> Take() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    return std::move(texts_);
  }

 private:
  ProgressBar& progress_;  // own synchronization
  Mutex mu_;
  std::vector<std::string> texts_ AUGUR_GUARDED_BY(mu_);
};

std::string Text(const std::string& store, const VerifyReport& report) {
  return store + ": checked " + std::to_string(report.index_blocks) + " index blocks, " +
         std::to_string(report.entries) + " entries, " + std::to_string(report.shards) + " shards, " +
         std::to_string(report.records) + " records of " + FormatSize(report.record_bytes) + ", " +
         std::to_string(report.catalogue_items) + " catalogue items: " +
         (report.defects == 0   ? "no defects"
          : report.defects == 1 ? "1 defect"
                                : std::to_string(report.defects) + " defects") +
         "\n";
}

std::string Json(const std::string& store, const VerifyReport& report, const std::vector<std::string>& defects) {
  const nlohmann::ordered_json json = {{"store", store},
                                       {"index_blocks", report.index_blocks},
                                       {"entries", report.entries},
                                       {"shards", report.shards},
                                       {"records", report.records},
                                       {"record_bytes", report.record_bytes},
                                       {"catalogue_items", report.catalogue_items},
                                       {"defects", report.defects},
                                       {"first_defects", defects}};
  // A path may hold bytes that are not UTF-8; JSON cannot.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int RunVerify(const VerifyOptions& options) {
  ProgressBar progress("verifying", ProgressBar::Choose(options.quiet));
  const auto threads = static_cast<int>(ResolveThreads(options.threads));
  // O_DIRECT, so that the disk is checked and not the page cache, and no other pages are evicted from it.
  const StoreOptions open = {
      .direct = true, .open_shards_max = static_cast<uint32_t>(threads), .root_hash = options.root_hash};
  const Result<std::unique_ptr<StorePlace>> place = MakeStorePlace(options.store, open, options.remote, ThisUser());
  if (!place.ok()) return Fail(kAugurpack, place.status());
  // The header says how many bytes are ahead. When the store cannot be opened, VerifyStore says why.
  if (const auto store = Store::Open(**place, open); store.ok()) {
    const Status allowed = CheckAllowed(**store, **place, "--foreign=");
    if (allowed.code() == Code::kPermission) return Fail(kAugurpack, allowed);
    progress.SetTotal(0, (*store)->summary().record_bytes);
  }
  const StopSignals signals;  // not before: until the store is open, the wait for a server would go on
  Defects defects(progress);
  Result<VerifyReport> report = VerifyStore(
      **place, threads, [&](const Status& defect) { defects.Add(defect); },
      [&](uint64_t bytes) { progress.Set(0, bytes); }, options.root_hash, StopSignals::Caught);
  progress.Finish();
  if (report.status().code() == Code::kStopped) {
    return FailStopped(kAugurpack, ": not all of the store was checked; the same command starts anew");
  }
  if (!report.ok()) {
    // A store too broken to open is as clear an answer as one that opens and is broken.
    if (report.status().code() != Code::kCorrupt) return Fail(kAugurpack, report.status());
    defects.Add(report.status());
    report = VerifyReport{.defects = 1};
  }
  const int answer = report->defects == 0 ? kExitDone : kExitNo;
  const std::string shown = StoreForLog(options.store);
  Status written;
  if (options.json) {
    written = WriteOut(Json(shown, *report, defects.Take()), answer);
  } else if (!options.quiet) {
    written = WriteOut(Text(Printable(shown), *report), answer);
  }
  if (!written.ok()) return Fail(kAugurpack, written);
  return answer;
}

}  // namespace augur
