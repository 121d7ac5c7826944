// SPDX-License-Identifier: Apache-2.0
#include "fs/node_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace augur {
namespace {

// A tree of named entries, and how each generation of it numbers them: the model, one entry at a time.
class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed) {
    for (uint64_t i = 0; i < 40; ++i) {
      entries_.push_back(i);
      numbers_[i] = i;
    }
    next_identity_ = next_number_ = entries_.size();
  }

  // Removes, replaces and adds entries; the root stays. Returns the runs of what is kept, one entry each.
  std::vector<KeptRun> Change() {
    std::vector<uint64_t> next = {entries_[0]};
    std::vector<KeptRun> kept = {{.before = 0, .after = 0, .count = 1}};
    std::map<uint64_t, uint64_t> numbers = {{entries_[0], 0}};
    before_ = entries_;
    for (uint64_t i = 1; i < entries_.size(); ++i) {
      const uint64_t chance = random_() % 10;
      if (chance < 3) next.push_back(next_identity_++);  // one is added, or takes the place
      if (chance < 2) continue;
      kept.push_back({.before = i, .after = next.size(), .count = 1});
      next.push_back(entries_[i]);
      numbers[entries_[i]] = numbers_[entries_[i]];
    }
    for (const uint64_t entry : next) {
      if (!numbers.contains(entry)) numbers[entry] = next_number_++;
    }
    entries_ = std::move(next);
    numbers_ = std::move(numbers);
    return kept;
  }

  std::mt19937_64 random_;
  std::vector<uint64_t> entries_;         // what each entry is
  std::vector<uint64_t> before_;          // ... in the generation before
  std::map<uint64_t, uint64_t> numbers_;  // by what it is
  uint64_t next_identity_ = 0;
  uint64_t next_number_ = 0;
};

// The generation and the entry that a number stands for.
std::pair<uint64_t, uint64_t> PlaceOf(const NodeNumbers& numbers, uint64_t number) {
  const std::optional<NodeNumbers::Place> place = numbers.Find(number);
  EXPECT_TRUE(place.has_value()) << "number " << number;
  return place.has_value() ? std::pair(place->generation, place->entry) : std::pair(UINT64_MAX, UINT64_MAX);
}

TEST(NodeNumbers, OfTheFirstGenerationAreTheEntries) {
  const NodeNumbers numbers;
  EXPECT_EQ(numbers.NumberOf(17), 17U);
  EXPECT_EQ(PlaceOf(numbers, 17), std::pair(uint64_t{0}, uint64_t{17}));
  EXPECT_FALSE(numbers.NumberOfEarlier(1, 17));
}

// Promise: what is kept has its number, all else one that nothing had, and each old number still means the old entry.
TEST(NodeNumbers, AgreeWithTheModelOverManyGenerations) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Model model(seed);
    NodeNumbers numbers;
    uint64_t next_number = model.next_number_;
    std::map<uint64_t, uint64_t> what;  // each number that was ever given, and what it stands for
    for (const auto& [entry, number] : model.numbers_) what[number] = entry;
    std::vector<std::vector<uint64_t>> history;  // the entries of each generation, the newest first
    for (int generation = 0; generation < 6; ++generation) {
      const uint64_t entries = model.entries_.size();
      std::vector<KeptRun> kept = model.Change();
      std::shuffle(kept.begin(), kept.end(), model.random_);
      history.insert(history.begin(), model.before_);
      const std::vector<NumberRun> runs =
          numbers.RunsOfNext(entries, model.entries_.size(), std::move(kept), &next_number);
      numbers = NodeNumbers(runs);
      for (uint64_t entry = 0; entry < model.entries_.size(); ++entry) {
        const uint64_t number = numbers.NumberOf(entry);
        const uint64_t identity = model.entries_[entry];
        const auto [had, is_new] = what.emplace(number, identity);
        EXPECT_EQ(had->second, identity) << "number " << number << " stood for something else";
        EXPECT_EQ(is_new, !std::ranges::any_of(
                              history, [&](const auto& old) { return std::ranges::find(old, identity) != old.end(); }));
        EXPECT_EQ(PlaceOf(numbers, number), std::pair(uint64_t{0}, entry));
      }
      for (const auto& [number, identity] : what) {
        const auto [in, entry] = PlaceOf(numbers, number);
        ASSERT_LE(in, history.size());
        const auto& found = in == 0 ? model.entries_ : history[in - 1];
        EXPECT_EQ(found.at(entry), identity);
        if (in == 0) continue;
        EXPECT_EQ(numbers.NumberOfEarlier(in, entry), number);
      }
      EXPECT_FALSE(numbers.Find(next_number));
    }
  }
}

TEST(NodeNumbers, UnusedNumbersMeanNothing) {
  uint64_t next_number = 10;
  // Entries 3 to 5 are gone, and so is 8.
  const std::vector<KeptRun> kept = {{.before = 0, .after = 0, .count = 3},
                                     {.before = 6, .after = 3, .count = 2},
                                     {.before = 9, .after = 5, .count = 1}};
  const std::vector<NumberRun> runs = NodeNumbers().RunsOfNext(10, 6, kept, &next_number);
  EXPECT_EQ(runs.size(), 5U);
  const auto used = NodeNumbers::WithoutUnused(runs, [](const NumberRun&, uint64_t number) { return number == 4; });
  const NodeNumbers numbers(used);
  EXPECT_FALSE(numbers.Find(3));
  EXPECT_EQ(PlaceOf(numbers, 4), std::pair(uint64_t{1}, uint64_t{4}));
  EXPECT_FALSE(numbers.Find(5));
  EXPECT_FALSE(numbers.Find(8));
  EXPECT_EQ(numbers.NumberOf(5), 9U);
  EXPECT_EQ(next_number, 10U);
}

}  // namespace
}  // namespace augur
