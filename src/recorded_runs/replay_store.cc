// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_store.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/units.h"
#include "recorded_runs/replay_folders.h"
#include "store/hash.h"

namespace augur {
namespace {

// Each file once, in the order in which they came.
Order Distinct(std::span<const EntryNumber> seen) {
  Order distinct;
  std::unordered_set<EntryNumber> known;
  for (const EntryNumber file : seen) {
    if (known.insert(file).second) distinct.push_back(file);
  }
  return distinct;
}

// Takes off what the number of epochs that were tried makes likely, and what is no better than chance.
std::vector<ReplayMatch> Judge(std::vector<ReplayMatch> matches, size_t tried) {
  for (ReplayMatch& match : matches) match.bits -= std::log2(static_cast<double>(std::max<size_t>(tried, 1)));
  std::erase_if(matches, [](const ReplayMatch& match) { return match.bits <= 0; });
  std::stable_sort(matches.begin(), matches.end(),
                   [](const ReplayMatch& a, const ReplayMatch& b) { return a.bits > b.bits; });
  return matches;
}

// Whether all that is recorded in `part` is in `run`, too.
bool IsBeginningOf(const ReplayHead& part, const Run& run) {
  if (part.epochs.empty() || part.epochs.size() > run.epochs.size()) return false;
  if (!part.finding.empty() && part.finding != run.finding) return false;
  for (size_t epoch = 0; epoch < part.epochs.size(); ++epoch) {
    const Order& order = run.epochs[epoch];
    const Order& head = part.epochs[epoch].head;
    if (part.epochs[epoch].files != order.size() || !std::equal(head.begin(), head.end(), order.begin())) return false;
  }
  return true;
}

}  // namespace

std::string ReplayFolderPath(const char* xdg_cache_home, const char* home, const std::string& store_path) {
  const auto absolute = [](const char* path) { return path != nullptr && path[0] == '/'; };
  std::string folder;
  if (absolute(xdg_cache_home)) {
    folder = xdg_cache_home;
  } else if (absolute(home)) {
    folder = std::string(home) + "/.cache";
  } else {
    return {};
  }
  char* const real = ::realpath(store_path.c_str(), nullptr);
  const std::string place = real != nullptr ? real : store_path;
  std::free(real);
  return folder + "/augurfs/orders/" + HexOf(HashBytes64(std::as_bytes(std::span(place))));
}

Result<std::unique_ptr<ReplayStore>> ReplayStore::Open(const std::string& folder, const StoreSummary& summary,
                                                       const ReplayLimits& limits) {
  if (summary.entry_count > uint64_t{1} << 32) {
    return Status(Code::kUnsupported, "a store of over 2^32 entries: orders of its runs are not kept");
  }
  AUGUR_TRY_ASSIGN(opened, ReplayFolder::Open(folder));
  // What can only be read is still good to read from.
  static_cast<void>(opened.TouchFolder());
  static_cast<void>(TrimReplayFolders(std::filesystem::path(folder).parent_path().string(), limits.stores_max));
  const ReplayIdentity identity{
      .index_id = summary.index_id, .generation = summary.generation, .entry_count = summary.entry_count};
  std::unique_ptr<ReplayStore> store(new ReplayStore(std::move(opened), identity, limits));
  AUGUR_TRY_ASSIGN(heads, store->ReadHeads());  // for what it removes
  return store;
}

Result<std::vector<ReplayStore::Recorded>> ReplayStore::ReadHeads() const {
  AUGUR_TRY_ASSIGN(files, folder_.List());
  std::vector<Recorded> recorded;
  for (ReplayFolder::File& file : files) {
    const Result<UniqueFd> fd = folder_.OpenFile(file.name);
    if (!fd.ok()) continue;
    Result<ReplayHead> head = ReadReplayHead(fd->get());
    if (head.ok() && head->identity == identity_) {
      recorded.push_back({.file = std::move(file), .head = *std::move(head)});
      continue;
    }
    // A daemon of a later generation may be at work beside us.
    const bool stale =
        head.ok() ? head->identity.generation <= identity_.generation : head.status().code() == Code::kCorrupt;
    if (stale) AUGUR_TRY(folder_.Remove(file.name));
  }
  return recorded;
}

Status ReplayStore::Save(const std::string& name, const Run& run) {
  if (run.finding.size() > kFindingBytesMax) {
    return {Code::kInvalid, "a finding of " + std::to_string(run.finding.size()) + " bytes: at most " +
                                std::to_string(kFindingBytesMax)};
  }
  for (const Order& order : run.epochs) {
    const bool known =
        std::all_of(order.begin(), order.end(), [this](EntryNumber number) { return number < identity_.entry_count; });
    if (!known) return {Code::kInvalid, "an order with entries that the store does not have"};
  }
  const uint64_t bytes_max = std::min(limits_.run_bytes_max, limits_.store_bytes_max);
  AUGUR_TRY(folder_.Write(name, RenderReplay(identity_, run, bytes_max)));
  AUGUR_TRY_ASSIGN(recorded, ReadHeads());
  uint64_t bytes = 0;
  size_t count = 0;
  for (const Recorded& one : recorded) {
    if (one.file.name == name) bytes += one.file.bytes, ++count;
  }
  for (const Recorded& one : recorded) {
    if (one.file.name == name) continue;
    const bool fits = count < limits_.store_runs_max && bytes + one.file.bytes <= limits_.store_bytes_max;
    if (fits && !IsBeginningOf(one.head, run)) {
      bytes += one.file.bytes;
      ++count;
    } else {
      AUGUR_TRY(folder_.Remove(one.file.name));
    }
  }
  return Status::Ok();
}

Result<Run> ReplayStore::Load(const std::string& name) const {
  AUGUR_TRY_ASSIGN(fd, folder_.OpenFile(name));
  const Result<ReplayHead> head = ReadReplayHead(fd.get());
  if (head.ok()) {
    uint64_t bytes = 0;
    for (const ReplayEpoch& epoch : head->epochs) bytes += epoch.files * sizeof(EntryNumber);
    if (bytes > limits_.load_bytes_max) return Status(Code::kNoSpace, name + ": a run of " + FormatSize(bytes));
  }
  Result<Run> run = head.ok() ? ReadReplay(fd.get()) : Result<Run>(head.status());
  if (run.ok() && head->identity == identity_) return run;
  if (!run.ok() && run.status().code() != Code::kCorrupt) return run;
  if (!run.ok()) AUGUR_TRY(folder_.Remove(name));
  return Status(Code::kNotFound, name + ": " + (run.ok() ? "of another generation" : run.status().text()));
}

Result<std::vector<ReplayRun>> ReplayStore::List() const {
  AUGUR_TRY_ASSIGN(recorded, ReadHeads());
  std::vector<ReplayRun> runs;
  for (const Recorded& one : recorded) {
    ReplayRun run{.name = one.file.name,
                  .finding = one.head.finding,
                  .epoch_files = {},
                  .time_sec = one.file.time_sec,
                  .bytes = one.file.bytes};
    for (const ReplayEpoch& epoch : one.head.epochs) run.epoch_files.push_back(epoch.files);
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<std::vector<ReplayMatch>> ReplayStore::Match(std::span<const EntryNumber> seen) const {
  AUGUR_TRY_ASSIGN(recorded, ReadHeads());
  const Order distinct = Distinct(seen);
  std::vector<ReplayMatch> matches;
  for (const Recorded& one : recorded) {
    for (size_t epoch = 0; epoch < one.head.epochs.size(); ++epoch) {
      const double bits = BitsOfBeginning(distinct, one.head.epochs[epoch]);
      matches.push_back({.run = one.file.name, .epoch = epoch, .bits = bits});
    }
  }
  const size_t tried = matches.size();
  return Judge(std::move(matches), tried);
}

}  // namespace augur
