// SPDX-License-Identifier: Apache-2.0
#include "fs/view_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fs/lasting_views.h"
#include "views/view_spec.h"

namespace augur {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ViewTableTest, TwoSpellingsAreOneView) {
  ViewTable table(*ParseViewSpec("npy"));
  const ViewRef one = *table.Find("npy+size=32");
  EXPECT_EQ(*table.Find("size=32x32+fit=short+npy"), one);
  EXPECT_NE(*table.Find("npy+size=33"), one);
  EXPECT_EQ(table.Get(one->number), one);
  EXPECT_EQ(one->text, "npy+size=32");
  EXPECT_NE(*table.Find("npy"), table.root());
  EXPECT_EQ(table.Get(ViewTable::kRootNumber), table.root());
  EXPECT_EQ(table.Get(0), nullptr);
  EXPECT_EQ(table.Get(4), nullptr);
  EXPECT_THAT(table.All(), SizeIs(4));
  EXPECT_EQ(table.Find("nonsense").status().code(), Code::kNotFound);
}

std::string Spec(uint32_t i) { return "npy+crop=" + std::to_string(i); }

TEST(ViewTableTest, HasAMaximumOfThoseInUse) {
  ViewTable table(std::nullopt);
  std::set<uint32_t> numbers;
  for (uint32_t i = 1; i <= ViewTable::kViewsMax; ++i) numbers.insert((*table.Find(Spec(i), 1))->number);
  EXPECT_THAT(numbers, SizeIs(ViewTable::kViewsMax));
  EXPECT_EQ(table.Find("pixels").status().code(), Code::kBusy) << "which the kernel does not remember";
  const uint32_t seventh = (*table.Find("npy+crop=7", 2))->number;
  EXPECT_TRUE(numbers.contains(seventh)) << "one that is there is found";

  // The kernel forgets some; one of them somebody is at work with.
  const uint32_t fifth = (*table.Find("npy+crop=5"))->number;
  table.Forget(fifth, 1);
  table.Forget(seventh, 2);
  ViewRef at_work = *table.Find("npy+crop=5");
  EXPECT_EQ(table.Find("pixels").status().code(), Code::kBusy) << "the seventh is known once more";
  table.Forget(seventh, 1);
  const uint32_t pixels = (*table.Find("pixels"))->number;
  EXPECT_FALSE(numbers.contains(pixels)) << "no number means two views";
  EXPECT_EQ(table.Get(seventh), nullptr);
  EXPECT_EQ(table.Get(fifth), at_work);
  EXPECT_THAT(table.All(), SizeIs(ViewTable::kViewsMax));
  at_work.reset();
  EXPECT_FALSE(numbers.contains((*table.Find("npy+crop=7"))->number)) << "it comes back as another one";
  EXPECT_EQ(table.Get(fifth), nullptr) << "nobody uses it any more";
}

// What one user has in use takes no place from another one; the last quarter is root's and the mount's user's.
TEST(ViewTableTest, EachUserHasAShare) {
  constexpr uint32_t kMounter = 1000;
  ViewTable table(std::nullopt, kMounter);
  uint32_t next = 0;
  const auto take = [&](uint32_t user, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const Result<ViewRef> view = table.Find(Spec(++next), 1, user);
      ASSERT_TRUE(view.ok()) << user << ": " << view.status().text();
    }
  };
  const auto code_of = [&](uint32_t user) { return table.Find("pixels", 1, user).status().code(); };
  for (uint32_t user = 1; user <= 3; ++user) {
    take(user, ViewTable::kUserViewsMax);
    EXPECT_EQ(code_of(user), Code::kBusy) << user;
    EXPECT_TRUE(table.Find(Spec(1), 1, user).ok()) << "one that is there is found";
  }
  EXPECT_EQ(code_of(4), Code::kBusy) << "all places of those who are not trusted are taken";
  take(0, ViewTable::kTrustedViews / 2);
  take(kMounter, ViewTable::kTrustedViews / 2);
  EXPECT_EQ(code_of(0), Code::kBusy);
  // One of user 2 is forgotten: his place is free.
  table.Forget((*table.Find(Spec(ViewTable::kUserViewsMax + 1)))->number, 1);
  EXPECT_EQ(code_of(1), Code::kBusy);
  EXPECT_EQ(code_of(2), Code::kOk);
}

// However many of them a user looks up, the mount's own user has numbers left, and so have others.
TEST(ViewTableTest, NoUserUsesUpTheNumbers) {
  constexpr uint32_t kMounter = 1000;
  ViewTable table(std::nullopt, kMounter);
  // Each is dropped before it comes again, and then has another number.
  const auto spec = [](uint32_t i) { return Spec(1 + i % (4 * ViewTable::kViewsMax)); };
  uint32_t next = 0;
  for (; next < ViewTable::kUserNumbersMax; ++next) ASSERT_TRUE(table.Find(spec(next), 0, 7).ok()) << next;
  const Result<ViewRef> refused = table.Find(spec(next), 0, 7);
  EXPECT_EQ(refused.status().code(), Code::kBusy);
  EXPECT_THAT(refused.status().text(), HasSubstr("as many as one user may: unmount"));
  EXPECT_TRUE(table.Find(spec(next - 1), 0, 7).ok()) << "one that is there is found";
  for (const uint32_t user : {0U, kMounter, 8U}) EXPECT_TRUE(table.Find(spec(next++), 0, user).ok()) << user;
}

TEST(ViewTableTest, HalfOfTheNumbersAreForThoseWhoAreTrusted) {
  constexpr uint32_t kMounter = 1000;
  const auto lasting = std::make_unique<LastingViews>();
  lasting->next_number = ViewTable::kRootNumber / 2;
  {
    ViewTable table(std::nullopt, kMounter, lasting.get());
    EXPECT_EQ(table.Find("pixels", 0, 7).status().code(), Code::kBusy);
    EXPECT_TRUE(table.Find("pixels", 0, kMounter).ok());
    EXPECT_TRUE(table.Find("pixels", 0, 7).ok()) << "one that is there is found";
  }
  lasting->next_number = ViewTable::kRootNumber - 1;
  ViewTable table(std::nullopt, kMounter, lasting.get());
  EXPECT_TRUE(table.Find("pixels", 0, 0).ok()) << "the last one";
  const Result<ViewRef> refused = table.Find("npy", 0, 0);
  EXPECT_EQ(refused.status().code(), Code::kBusy);
  EXPECT_THAT(refused.status().text(), HasSubstr("unmount, and mount again"));
}

// A kernel that forgets what it is asked to, unless it is in use.
class ForgettingKernel {
 public:
  explicit ForgettingKernel(ViewTable& table) : table_(table) {
    table.SetAskToForget([this](const std::string& name) { asked_.push_back(name); });
  }
  bool LookUp(const std::string& spec, uint32_t user) {
    const Result<ViewRef> view = table_.Find(spec, 1, user);
    if (!view.ok()) return false;
    ++nodes_[spec];
    numbers_[spec] = (*view)->number;
    for (const std::string& name : std::exchange(asked_, {})) {
      if (in_use_.contains(name)) continue;
      table_.Forget(numbers_.at(name), std::exchange(nodes_[name], 0));
      forgotten_.insert(name);
    }
    return true;
  }
  void Use(const std::string& spec) { in_use_.insert(spec); }
  uint32_t NumberOf(const std::string& spec) { return numbers_.at(spec); }
  const std::set<std::string>& forgotten() const { return forgotten_; }

 private:
  ViewTable& table_;
  std::vector<std::string> asked_;
  std::map<std::string, uint64_t> nodes_;
  std::map<std::string, uint32_t> numbers_;
  std::set<std::string> in_use_;
  std::set<std::string> forgotten_;
};

TEST(ViewTableTest, AnyNumberCanBeLookedUpOneAfterTheOther) {
  for (const uint32_t user : {0U, 7U}) {
    ViewTable table(std::nullopt);
    ForgettingKernel kernel(table);
    ASSERT_TRUE(kernel.LookUp("pixels", user));
    ASSERT_TRUE(kernel.LookUp("npy", user));
    kernel.Use("npy");
    for (uint32_t i = 1; i <= 5 * ViewTable::kViewsMax; ++i) {
      ASSERT_TRUE(kernel.LookUp(Spec(i), user)) << i << " of user " << user;
      ASSERT_NE(table.Get(kernel.NumberOf("pixels")), nullptr) << "which is read all the time";
    }
    EXPECT_FALSE(kernel.forgotten().contains("pixels")) << "the one used longest ago goes first";
    EXPECT_NE(table.Get(kernel.NumberOf("npy")), nullptr) << "what is open stays";
    EXPECT_LE(table.All().size(), ViewTable::kViewsMax);
  }
}

TEST(ViewTableTest, WhoLooksUpManyLosesHisOwn) {
  ViewTable table(std::nullopt);
  ForgettingKernel kernel(table);
  for (const char* const spec : {"npy", "pixels", "npy+size=224"}) ASSERT_TRUE(kernel.LookUp(spec, 5));
  for (uint32_t i = 1; i <= 5 * ViewTable::kViewsMax; ++i) ASSERT_TRUE(kernel.LookUp(Spec(i), 7)) << i;
  EXPECT_GT(kernel.forgotten().size(), ViewTable::kViewsMax);
  for (const char* const spec : {"npy", "pixels", "npy+size=224"}) {
    EXPECT_FALSE(kernel.forgotten().contains(spec));
    EXPECT_NE(table.Get(kernel.NumberOf(spec)), nullptr) << spec;
  }
}

}  // namespace
}  // namespace augur
