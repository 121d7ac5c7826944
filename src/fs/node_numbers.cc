// SPDX-License-Identifier: Apache-2.0
#include "fs/node_numbers.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace augur {
namespace {

std::tuple<uint64_t, uint64_t> EntryOf(const NumberRun& run) { return {run.generation, run.entry}; }

void SortAndJoin(std::vector<NumberRun>& runs) {
  std::ranges::sort(runs, {}, EntryOf);
  size_t last = 0;
  for (size_t i = 1; i < runs.size(); ++i) {
    NumberRun& before = runs[last];
    const bool joins = runs[i].generation == before.generation && runs[i].entry == before.entry + before.count &&
                       runs[i].number == before.number + before.count;
    if (joins) {
      before.count += runs[i].count;
    } else {
      runs[++last] = runs[i];
    }
  }
  if (!runs.empty()) runs.resize(last + 1);
}

// Calls `take` with each piece of [0, end) that no run of `kept` has. REQUIRES: sorted by `begin`, and none overlaps.
void ForEachGap(const std::vector<KeptRun>& kept, uint64_t KeptRun::*begin, uint64_t end,
                const std::function<void(uint64_t first, uint64_t count)>& take) {
  uint64_t at = 0;
  for (const KeptRun& run : kept) {
    AUGUR_CHECK(run.*begin >= at);
    if (run.*begin > at) take(at, run.*begin - at);
    at = run.*begin + run.count;
  }
  if (end > at) take(at, end - at);
}

}  // namespace

NodeNumbers::NodeNumbers(std::span<const NumberRun> runs)
    : by_entry_(runs.begin(), runs.end()), by_number_(runs.begin(), runs.end()) {
  std::ranges::sort(by_entry_, {}, EntryOf);
  std::ranges::sort(by_number_, {}, &NumberRun::number);
}

// nullptr: no run has it.
const NumberRun* NodeNumbers::RunOf(uint64_t generation, uint64_t entry) const {
  const auto next = std::ranges::upper_bound(by_entry_, std::tuple(generation, entry), {}, EntryOf);
  if (next == by_entry_.begin()) return nullptr;
  const NumberRun& run = *std::prev(next);
  return run.generation == generation && entry - run.entry < run.count ? &run : nullptr;
}

uint64_t NodeNumbers::NumberOf(uint64_t entry) const {
  if (by_entry_.empty()) return entry;
  const NumberRun* const run = RunOf(0, entry);
  AUGUR_CHECK(run != nullptr);
  return run->number + (entry - run->entry);
}

std::optional<uint64_t> NodeNumbers::NumberOfEarlier(uint64_t generation, uint64_t entry) const {
  const NumberRun* const run = RunOf(generation, entry);
  if (run == nullptr) return std::nullopt;
  return run->number + (entry - run->entry);
}

std::optional<NodeNumbers::Place> NodeNumbers::Find(uint64_t number) const {
  if (by_number_.empty()) return Place{.generation = 0, .entry = number};
  const auto next = std::ranges::upper_bound(by_number_, number, {}, &NumberRun::number);
  if (next == by_number_.begin()) return std::nullopt;
  const NumberRun& run = *std::prev(next);
  if (number - run.number >= run.count) return std::nullopt;
  return Place{.generation = run.generation, .entry = run.entry + (number - run.number)};
}

void NodeNumbers::SplitByNumber(uint64_t entry, uint64_t count,
                                const std::function<void(uint64_t number, uint64_t count)>& take) const {
  if (by_entry_.empty()) return take(entry, count);
  while (count > 0) {
    const NumberRun* const run = RunOf(0, entry);
    AUGUR_CHECK(run != nullptr);
    const uint64_t skip = entry - run->entry;
    const uint64_t taken = std::min(count, run->count - skip);
    take(run->number + skip, taken);
    entry += taken;
    count -= taken;
  }
}

std::vector<NumberRun> NodeNumbers::RunsOfNext(uint64_t entries, uint64_t next_entries, std::vector<KeptRun> kept,
                                               uint64_t* next_number) const {
  std::vector<NumberRun> runs;
  for (const NumberRun& run : by_number_) {
    if (run.generation == 0) continue;
    runs.push_back(run);
    ++runs.back().generation;
  }
  std::ranges::sort(kept, {}, &KeptRun::before);
  ForEachGap(kept, &KeptRun::before, entries, [&](uint64_t first, uint64_t count) {
    SplitByNumber(first, count, [&](uint64_t number, uint64_t taken) {
      runs.push_back({.number = number, .entry = first, .count = taken, .generation = 1});
      first += taken;
    });
  });
  std::ranges::sort(kept, {}, &KeptRun::after);
  for (const KeptRun& run : kept) {
    uint64_t entry = run.after;
    SplitByNumber(run.before, run.count, [&](uint64_t number, uint64_t taken) {
      runs.push_back({.number = number, .entry = entry, .count = taken, .generation = 0});
      entry += taken;
    });
  }
  ForEachGap(kept, &KeptRun::after, next_entries, [&](uint64_t first, uint64_t count) {
    runs.push_back({.number = *next_number, .entry = first, .count = count, .generation = 0});
    *next_number += count;
  });
  SortAndJoin(runs);
  return runs;
}

std::vector<NumberRun> NodeNumbers::WithoutUnused(
    std::span<const NumberRun> runs, const std::function<bool(const NumberRun& run, uint64_t number)>& is_used) {
  std::vector<NumberRun> used;
  for (const NumberRun& run : runs) {
    if (run.generation == 0) {
      used.push_back(run);
      continue;
    }
    for (uint64_t i = 0; i < run.count; ++i) {
      if (!is_used(run, run.number + i)) continue;
      used.push_back({.number = run.number + i, .entry = run.entry + i, .count = 1, .generation = run.generation});
    }
  }
  SortAndJoin(used);
  return used;
}

}  // namespace augur
