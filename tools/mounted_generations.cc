// SPDX-License-Identifier: Apache-2.0
#include "tools/mounted_generations.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <span>
#include <utility>

#include "base/units.h"
#include "fs/lasting_views.h"
#include "fuse/invalidation.h"
#include "fuse/notify_channel.h"
#include "views/view_spec.h"

namespace augur {
namespace {

// Of the memory for the index, while earlier generations are open: for all of those together.
constexpr uint64_t kEarlierIndexShare = 8;

// How many nodes the kernel is asked about at a reload: a second's worth. What it is not asked about counts as used.
constexpr uint64_t kNodesAskedMax = 1'000'000;

LastingNumbers::Generation NameOf(const Store& store, uint64_t sequence) {
  const StoreSummary& summary = store.summary();
  return {.number = summary.generation,
          .sequence = sequence,
          .index_id = summary.index_id,
          .root_hash = summary.root_hash.value_or(Digest{})};
}

// Whether the kernel may have files of views whose bytes are those of this one generation.
bool HasFilesOf(const LastingViews& views, const LastingNumbers::Generation& generation) {
  return std::ranges::any_of(views.records, [&](const LastingViews::Record& record) {
    if (record.number == 0 || record.nodes == 0 || record.sequence != generation.sequence) return false;
    const Result<ViewSpec> spec = ParseViewSpec(record.name.data());
    return spec.ok() && spec->is_of_generation();
  });
}

// Asks the kernel which nodes it knows. A node of an earlier generation is given to no reader any more, so one that the
// kernel has forgotten stays so.
class KnownNodes {
 public:
  KnownNodes(int device, const LastingViews& views) : channel_(device), has_device_(device >= 0) {
    view_numbers_ = {0, ViewTable::kRootNumber};
    for (const LastingViews::Record& record : views.records) {
      if (record.number != 0) view_numbers_.push_back(record.number);
    }
  }

  bool Has(uint64_t number) {
    if (!has_device_) return true;
    return std::ranges::any_of(view_numbers_, [&](uint32_t view) {
      if (asked_ == kNodesAskedMax) return true;
      ++asked_;
      return InvalidateAttributes(channel_, Node{.view = view, .entry = number}.id()) != ENOENT;
    });
  }

 private:
  NotifyChannel channel_;
  const bool has_device_;
  std::vector<uint32_t> view_numbers_;
  uint64_t asked_ = 0;
};

}  // namespace

Result<std::unique_ptr<MountedGenerations>> MountedGenerations::Open(std::unique_ptr<StorePlace> place,
                                                                     const StoreOptions& options, LastingState* held,
                                                                     Start start, int device) {
  std::unique_ptr<MountedGenerations> opened(new MountedGenerations(std::move(place), options, held, start));
  if (held == nullptr || start == Start::kFirst) {
    AUGUR_TRY(opened->OpenFirst());
    return opened;
  }
  const LastingNumbers::Set& set = held->numbers.Current();
  const bool is_other = options.generation != 0 && options.generation != set.generations[0].number;
  AUGUR_TRY(start == Start::kNext && is_other ? opened->OpenNext(set, device) : opened->OpenShown(set));
  return opened;
}

Status MountedGenerations::OpenFirst() {
  AUGUR_TRY_ASSIGN(store, Store::Open(*place_, options_));
  shown_ = std::move(store);
  return Status::Ok();
}

Result<std::shared_ptr<const Store>> MountedGenerations::OpenAgain(const LastingNumbers::Generation& generation) const {
  StoreOptions options = options_;
  options.generation = generation.number;
  if (options.root_hash) options.root_hash = generation.root_hash;
  AUGUR_TRY_ASSIGN(store, Store::Open(*place_, options));
  if (!(store->summary().index_id == generation.index_id)) {
    return Status(Code::kChanged, Printable(store->path()) + ": generation " + std::to_string(generation.number) +
                                      " is not the one that was mounted: unmount, and mount again");
  }
  return store;
}

Status MountedGenerations::OpenShown(const LastingNumbers::Set& set) {
  const uint64_t index_bytes = options_.index_bytes_max;
  if (set.generation_count > 1) options_.index_bytes_max -= index_bytes / kEarlierIndexShare;
  AUGUR_TRY_ASSIGN(store, OpenAgain(set.generations[0]));
  shown_ = std::move(store);
  sequence_ = set.generations[0].sequence;
  if (set.run_count == 0) return Status::Ok();
  numbers_ = NodeNumbers(std::span(set.runs).first(set.run_count));
  options_.index_bytes_max = index_bytes / kEarlierIndexShare / (set.generation_count - 1);
  for (uint64_t i = 1; i < set.generation_count; ++i) OpenEarlier(set.generations[i]);
  NoteOldNames(set.old_names, std::nullopt);
  return Status::Ok();
}

Status MountedGenerations::OpenNext(const LastingNumbers::Set& set, int device) {
  const uint64_t index_bytes = options_.index_bytes_max;
  options_.index_bytes_max -= index_bytes / kEarlierIndexShare;
  AUGUR_TRY(OpenFirst());
  AUGUR_TRY_ASSIGN(before, OpenAgain(set.generations[0]));
  const StoreSummary& from = before->summary();
  const auto explain = [&](const Status& status) {
    return Status(status.code(), "no way from generation " + std::to_string(from.generation) + " to " +
                                     std::to_string(shown_->summary().generation) + ": " + status.text());
  };
  const Result<TreeChanges> compared = TreeComparison(*before, *shown_).Run(LastingNumbers::kRunsMax);
  constexpr const char* kCure = ": unmount, and mount again";
  if (compared.status().code() == Code::kNoSpace) {
    return explain({Code::kNoSpace, compared.status().text() + kCure});
  }
  if (!compared.ok()) return explain(compared.status());
  sequence_ = set.generations[0].sequence + 1;
  // The names of the one that is shown are old, too, from now on.
  next_ = Next{.next_number = set.next_number, .runs = {}, .old_names = set.old_names + 1};
  const NodeNumbers numbers_before(std::span(set.runs).first(set.run_count));
  std::vector<NumberRun> runs =
      numbers_before.RunsOfNext(from.entry_count, shown_->summary().entry_count, compared->kept, &next_->next_number);
  // What this reload makes old is in use, or may be: the daemon that serves still gives it.
  KnownNodes known(device, held_->views);
  runs = NodeNumbers::WithoutUnused(
      runs, [&](const NumberRun& run, uint64_t number) { return run.generation == 1 || known.Has(number); });
  // Those that are still needed, and those of which the kernel has names.
  std::vector<LastingNumbers::Generation> generations;
  std::vector<uint64_t> becomes(set.generation_count + 1, 0);
  for (uint64_t i = 1; i <= set.generation_count; ++i) {
    const bool has_entries = std::ranges::find(runs, i, &NumberRun::generation) != runs.end();
    if (i > next_->old_names && !has_entries && !HasFilesOf(held_->views, set.generations[i - 1])) continue;
    generations.push_back(set.generations[i - 1]);
    becomes[i] = generations.size();
  }
  for (NumberRun& run : runs) run.generation = becomes[run.generation];
  if (generations.size() > LastingNumbers::kEarlierMax) {
    return explain({Code::kNoSpace, "files of " + std::to_string(generations.size() - 1) +
                                        " earlier generations are still open: end the programs that have them, or "
                                        "unmount, and mount again"});
  }
  if (runs.size() > LastingNumbers::kRunsMax) {
    return explain({Code::kNoSpace, std::string("too much of the tree has changed since it was mounted") + kCure});
  }
  options_.index_bytes_max = index_bytes / kEarlierIndexShare / generations.size();
  for (const LastingNumbers::Generation& generation : generations) OpenEarlier(generation);
  numbers_ = NodeNumbers(runs);
  next_->runs = std::move(runs);
  NoteOldNames(next_->old_names, compared->folders);
  next_->old_names = old_names_.generations.size();
  return Status::Ok();
}

void MountedGenerations::OpenEarlier(const LastingNumbers::Generation& generation) {
  Earlier earlier = {.generation = generation, .store = nullptr, .shards = nullptr};
  Result<std::shared_ptr<const Store>> store = OpenAgain(generation);
  if (store.ok()) {
    earlier.store = std::move(store).value();
  } else {
    spdlog::warn("generation {} is gone: what is still open of it, and has changed since, gives EIO: {}",
                 generation.number, store.status().text());
  }
  earlier_.push_back(std::move(earlier));
}

void MountedGenerations::NoteOldNames(uint64_t generations, std::optional<std::vector<FolderPair>> folders) {
  old_names_.folders = std::move(folders);
  for (uint64_t i = 0; i < generations; ++i) {
    if (earlier_[i].store == nullptr) {
      spdlog::error("programs may still see names of generation {}, which is gone: unmount, and mount again",
                    earlier_[i].generation.number);
      return;
    }
    old_names_.generations.push_back(earlier_[i].store);
  }
}

Result<uint64_t> MountedGenerations::Newest() const {
  const Result<StorePlace::Opened> opened = place_->Open(0);
  if (!opened.ok()) return opened.status().In(Printable(place_->path()));
  return opened->manifest.generation;
}

void MountedGenerations::WriteDown() {
  if (held_ == nullptr) return;
  LastingNumbers& numbers = held_->numbers;
  if (numbers.Current().generation_count == 0) {
    LastingNumbers::Set& first = numbers.sets[numbers.current];
    first.generations[0] = NameOf(*shown_, sequence_);
    first.next_number = shown_->summary().entry_count;
    first.generation_count = 1;
  }
  if (!next_) return;
  LastingNumbers::Set& set = numbers.Other();
  set.next_number = next_->next_number;
  set.generations[0] = NameOf(*shown_, sequence_);
  set.generation_count = 1;
  for (const Earlier& earlier : earlier_) set.generations[set.generation_count++] = earlier.generation;
  set.old_names = next_->old_names;
  set.run_count = next_->runs.size();
  std::ranges::copy(next_->runs, set.runs.begin());
  numbers.Turn();
  next_->runs = {};
}

void MountedGenerations::OpenShards(const MakeShards& make) {
  for (Earlier& earlier : earlier_) {
    if (earlier.store != nullptr) earlier.shards = make(earlier.store);
  }
}

std::vector<EarlierGeneration> MountedGenerations::earlier() const {
  std::vector<EarlierGeneration> all;
  all.reserve(earlier_.size());
  for (const Earlier& earlier : earlier_) {
    all.push_back({.number = earlier.generation.number,
                   .sequence = earlier.generation.sequence,
                   .store = earlier.store,
                   .source = earlier.shards.get()});
  }
  return all;
}

void MountedGenerations::Drain() {
  for (const Earlier& earlier : earlier_) {
    if (earlier.shards != nullptr) earlier.shards->Drain();
  }
}

}  // namespace augur
