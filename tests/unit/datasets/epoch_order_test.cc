// SPDX-License-Identifier: Apache-2.0
#include "datasets/epoch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> Places(const EpochOrder& order, EntryNumber file) {
  std::vector<uint32_t> places;
  for (const uint64_t item : order.PlacesOf(file)) places.push_back(EpochOrder::PlaceOf(item));
  return places;
}

TEST(EpochOrderTest, AFileIsWhereItIsRead) {
  const EpochOrder order({7, 3, 9});
  EXPECT_EQ(order.size(), 3U);
  EXPECT_THAT(Places(order, 7), ElementsAre(0));
  EXPECT_THAT(Places(order, 3), ElementsAre(1));
  EXPECT_THAT(Places(order, 9), ElementsAre(2));
  for (const EntryNumber other : {0U, 4U, 8U, 10U, std::numeric_limits<EntryNumber>::max()}) {
    EXPECT_THAT(Places(order, other), IsEmpty()) << other;
  }
}

TEST(EpochOrderTest, AFileThatComesAgainHasAllItsPlacesAscending) {
  const EntryNumber last = std::numeric_limits<EntryNumber>::max();
  const EpochOrder order({5, last, 5, 0, 5, last});
  EXPECT_THAT(Places(order, 5), ElementsAre(0, 2, 4));
  EXPECT_THAT(Places(order, last), ElementsAre(1, 5));
  EXPECT_THAT(Places(order, 0), ElementsAre(3));
}

TEST(EpochOrderTest, AnEmptyEpochHasNoFile) {
  const EpochOrder order({});
  EXPECT_EQ(order.size(), 0U);
  EXPECT_THAT(Places(order, 0), IsEmpty());
}

TEST(EpochOrderTest, APartHasItsReadsAlone) {
  const SharedOrder whole = Shared({7, 3, 9, 3});
  EXPECT_EQ(PartOf(whole, 0), whole) << "shared, not copied";
  EXPECT_EQ(PartOf(whole, 0, 4), whole);
  EXPECT_THAT(PartOf(whole, 0, 2)->files(), ElementsAre(7, 3));
  EXPECT_THAT(PartOf(whole, 1)->files(), ElementsAre(3, 9, 3));
  EXPECT_THAT(Places(*PartOf(whole, 1), 3), ElementsAre(0, 2));
  EXPECT_THAT(PartOf(whole, 1, 2)->files(), ElementsAre(3, 9));
  EXPECT_THAT(PartOf(whole, 4)->files(), IsEmpty());
  EXPECT_THAT(PartOf(whole, 0, 0)->files(), IsEmpty());
}

TEST(EpochOrderTest, AgreesWithASearchOfTheOrder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Order files(1 + random() % 500);
    for (EntryNumber& file : files) file = static_cast<EntryNumber>(random() % 300 * 1'000'003);
    std::map<EntryNumber, std::vector<uint32_t>> expected;
    for (uint32_t place = 0; place < files.size(); ++place) expected[files[place]].push_back(place);
    const EpochOrder order(files);
    EXPECT_EQ(order.files(), files);
    for (uint64_t i = 0; i < 300; ++i) {
      const auto file = static_cast<EntryNumber>(i * 1'000'003);
      const std::vector<uint32_t>& places = expected[file];
      EXPECT_EQ(Places(order, file), places);
      const auto from = static_cast<uint32_t>(random() % (files.size() + 2));
      const auto next = std::ranges::lower_bound(places, from);
      EXPECT_EQ(order.PlaceFrom(file, from), next == places.end() ? std::nullopt : std::optional(*next));
    }
  }
}

}  // namespace
}  // namespace augur
