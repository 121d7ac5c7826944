// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Takes orders up to a limit, and has something to drop.
class FakePrefetch : public PrefetchControl {
 public:
  uint64_t OrderFilesMax(Place /*place*/) const override { return files_max; }
  Status AddOrder(Order order, Place place) override {
    if (place == Place::kInstead) orders.clear();
    orders.push_back(std::move(order));
    return Status::Ok();
  }
  std::vector<std::pair<std::string, std::string>> Describe() const override { return {{"policy", "sweep"}}; }
  DropReport Drop() override { return {.retained_cache_bytes = 7, .push_window_bytes = 8}; }
  Result<uint64_t> BeginWarm(std::shared_ptr<const Order> files) override {
    if (!warms) return Status(Code::kUnsupported, "nothing is kept");
    warmed.push_back(*files);
    return warmed.size();
  }
  Result<WarmReport> Warmed(uint64_t run, bool end) override {
    if (run != warmed.size()) return Status(Code::kStopped, "another run");
    return WarmReport{.files = 9,
                      .bytes = 8,
                      .planned_files = 7,
                      .planned_bytes = 6,
                      .kept_files = 5,
                      .kept_bytes = 4,
                      .unreadable_files = 3,
                      .too_long_files = 2,
                      .running = !end};
  }

  uint64_t files_max = 100;
  std::vector<Order> orders;
  bool warms = true;
  std::vector<Order> warmed;
};

// Takes orders that were predicted; nothing reads, so none comes.
class NoOrders : public PredictedOrders {
 public:
  void Predict(SharedOrder /*order*/, uint32_t /*view*/, bool /*anew*/) override {}
  void ForgetPredicted() override {}
  void NeedOpens(bool /*needed*/) override {}
  bool FollowsGiven() const override { return false; }
  uint64_t PredictedFilesMax() const override { return 100; }
};

class DaemonControlTest : public StoreFixture {
 protected:
  void SetUp() override {
    Write([](StoreWriter& writer) {
      ASSERT_TRUE(writer.AddFile("a", {.mode = 0644}, {}, AsBytes("a")).ok());
      ASSERT_TRUE(writer.AddDirectory("b", {.mode = 0755}).ok());
      ASSERT_TRUE(writer.AddFile("b/c", {.mode = 0644}, {}, AsBytes("c")).ok());
    });
    Open();
  }

  DaemonControl Control(PrefetchControl* prefetch) {
    return {store_, statistics_,
            DaemonControlOptions{
                .mount_point = "/mnt", .order_prefix = "/mnt", .facts = {{"store", "/data/s"}}, .prefetch = prefetch}};
  }

  static Result<ControlReply> Ask(DaemonControl& control, const std::string& command, const json& request = {},
                                  std::vector<std::string> pieces = {}) {
    size_t next = 0;
    return control.Handlers().find(command)->second(request, [&](std::string& piece) -> Result<bool> {
      if (next == pieces.size()) return false;
      piece = pieces[next++];
      return true;
    });
  }

  EntryNumber EntryOf(const std::string& path) { return static_cast<EntryNumber>(NodeOf(path) - 1); }

  FakePrefetch prefetch_;
};

TEST_F(DaemonControlTest, TellsOfTheMountInThreeForms) {
  statistics_.Add(Stat::kMisses, 3);
  DaemonControl control = Control(&prefetch_);
  const json parsed = json::parse(control.Json(), nullptr, false);
  ASSERT_TRUE(parsed.is_object());
  EXPECT_EQ(parsed["mount"], json({{"mountpoint", "/mnt"}, {"store", "/data/s"}, {"policy", "sweep"}}));
  EXPECT_EQ(parsed["counters"]["misses"], 3);
  EXPECT_THAT(control.Metrics(), HasSubstr("augurfs_misses_total{mountpoint=\"/mnt\"} 3\n"));
  EXPECT_EQ(Ask(control, "status", {{"format", "json"}})->body, control.Json());
  EXPECT_EQ(Ask(control, "status", {{"format", "table"}})->body, control.Table());
  EXPECT_EQ(Ask(control, "status", {{"format", 5}})->body, control.Table());
}

TEST_F(DaemonControlTest, TellsOfJobs) {
  DaemonControl without = Control(&prefetch_);
  EXPECT_EQ(Ask(without, "jobs")->body, "[]");
  EXPECT_EQ(Ask(without, "jobs")->header, json({{"predicts", false}}));
  NoOrders orders;
  OrderPredictor predictor(store_, orders, statistics_, {.search_threads = 1, .replay_folder = {}});
  DaemonControl control(
      store_, statistics_,
      {.mount_point = "/mnt", .order_prefix = {}, .facts = {}, .prefetch = &prefetch_, .predictor = &predictor});
  ASSERT_TRUE(predictor.Start().ok());
  const auto self = static_cast<uint32_t>(getpid());
  predictor.OnRead(0, EntryOf("a"), self);
  predictor.OnRead(0, EntryOf("b/c"), self);
  predictor.Flush();
  // The table of what is known is made after the reads were taken in.
  std::vector<OrderReport> jobs;
  while (jobs.empty() || jobs[0].files < 2) {
    std::this_thread::yield();
    jobs = ParseOrders(Ask(control, "jobs")->body);
  }
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].state, OrderReport::State::kSought);
  EXPECT_EQ(jobs[0].files, 2u);
  EXPECT_GT(jobs[0].script, 0u);
  predictor.Stop();
}

TEST_F(DaemonControlTest, HintsAreQueuedOneByOne) {
  DaemonControl control = Control(&prefetch_);
  // Cut anywhere, as pieces of a pipe are.
  const Result<ControlReply> first = Ask(control, "hint", {}, {"b/", "c\n", "a\nb/c", "\n/mnt/a\n"});
  ASSERT_TRUE(first.ok()) << first.status().text();
  EXPECT_EQ(first->header["files"], 4);
  ASSERT_TRUE(Ask(control, "hint", {}, {"1\n0\n"}).ok());
  ASSERT_EQ(prefetch_.orders.size(), 2u);
  EXPECT_THAT(prefetch_.orders[0], ElementsAre(EntryOf("b/c"), EntryOf("a"), EntryOf("b/c"), EntryOf("a")));
  EXPECT_THAT(prefetch_.orders[1], ElementsAre(EntryOf("b/c"), EntryOf("a")));
}

TEST_F(DaemonControlTest, WrongOrdersAreRefusedAsAWhole) {
  DaemonControl control = Control(&prefetch_);
  const Result<ControlReply> wrong = Ask(control, "hint", {}, {"a\nmissing\n"});
  EXPECT_EQ(wrong.status().code(), Code::kInvalid);
  EXPECT_THAT(wrong.status().text(), HasSubstr("line 2"));
  EXPECT_FALSE(Ask(control, "hint", {}, {}).ok());
  prefetch_.files_max = 1;
  EXPECT_EQ(Ask(control, "hint", {}, {"a\na\n"}).status().code(), Code::kNoSpace);
  EXPECT_THAT(prefetch_.orders, IsEmpty());
  EXPECT_TRUE(Ask(control, "hint", {}, {"a\n"}).ok());
}

TEST_F(DaemonControlTest, NumbersTakeNoMoreThanThereIs) {
  DaemonControl control(store_, statistics_,
                        DaemonControlOptions{.mount_point = "/mnt",
                                             .order_prefix = "/mnt",
                                             .facts = {},
                                             .prefetch = &prefetch_,
                                             .order_bytes_max = sizeof(EntryNumber)});
  EXPECT_EQ(Ask(control, "hint", {}, {"1\n0\n"}).status().code(), Code::kNoSpace);
  EXPECT_TRUE(Ask(control, "hint", {}, {"b/c\na\n"}).ok()) << "paths need no list";
}

TEST_F(DaemonControlTest, OneOrderIsReadAtATime) {
  DaemonControl control = Control(&prefetch_);
  std::promise<void> reading;
  std::promise<void> go_on;
  auto first = std::async(std::launch::async, [&] {
    return control.Handlers().find("hint")->second({}, [&](std::string&) -> Result<bool> {
      reading.set_value();
      go_on.get_future().wait();
      return Status(Code::kStopped, "the client has gone");
    });
  });
  reading.get_future().wait();
  EXPECT_EQ(Ask(control, "hint", {}, {"a\n"}).status().code(), Code::kBusy);
  EXPECT_TRUE(Ask(control, "status").ok());
  go_on.set_value();
  EXPECT_EQ(first.get().status().code(), Code::kStopped);
  EXPECT_TRUE(Ask(control, "hint", {}, {"a\n"}).ok());
  EXPECT_EQ(prefetch_.orders.size(), 1u);
}

TEST_F(DaemonControlTest, DropSaysHowMuch) {
  DaemonControl control = Control(&prefetch_);
  const Result<ControlReply> dropped = Ask(control, "drop");
  ASSERT_TRUE(dropped.ok());
  EXPECT_EQ(dropped->header, json({{"retained_cache_bytes", 7}, {"push_window_bytes", 8}}));
}

TEST_F(DaemonControlTest, WarmsAllOrTheFilesOfAnOrder) {
  DaemonControl control = Control(&prefetch_);
  const Result<ControlReply> all = Ask(control, "warm", {{"all", true}});
  ASSERT_TRUE(all.ok()) << all.status().text();
  EXPECT_EQ(all->header, json({{"run", 1}}));
  EXPECT_EQ(Ask(control, "warm", {}, {"b/c\n"})->header, json({{"run", 2}}));
  EXPECT_THAT(prefetch_.warmed, ElementsAre(ElementsAre(EntryOf("a"), EntryOf("b/c")), ElementsAre(EntryOf("b/c"))));
  const Result<ControlReply> wrong = Ask(control, "warm", {}, {"a\nmissing\n"});
  EXPECT_EQ(wrong.status().code(), Code::kInvalid);
  EXPECT_THAT(wrong.status().text(), HasSubstr("line 2"));
  prefetch_.warms = false;
  EXPECT_EQ(Ask(control, "warm", {{"all", true}}).status().code(), Code::kUnsupported);
}

TEST_F(DaemonControlTest, TellsHowFarAWarmingIs) {
  DaemonControl control = Control(&prefetch_);
  ASSERT_TRUE(Ask(control, "warm", {{"all", true}}).ok());
  json expected = {{"files", 9},         {"bytes", 8},      {"planned_files", 7}, {"planned_bytes", 6},
                   {"kept_files", 5},    {"kept_bytes", 4}, {"running", true},    {"unreadable_files", 3},
                   {"too_long_files", 2}};
  EXPECT_EQ(Ask(control, "warm_progress", {{"run", 1U}})->header, expected);
  expected["running"] = false;
  EXPECT_EQ(Ask(control, "warm_progress", {{"run", 1U}, {"end", true}})->header, expected);
  EXPECT_EQ(Ask(control, "warm_progress", {{"run", 2U}}).status().code(), Code::kStopped);
  EXPECT_EQ(Ask(control, "warm_progress", {{"run", "1"}}).status().code(), Code::kInvalid);
}

TEST_F(DaemonControlTest, HintsOfSamplersAreUnderstoodOrRefused) {
  NoOrders orders;
  OrderPredictor predictor(store_, orders, statistics_, {.search_threads = 1, .replay_folder = {}});
  DaemonControl control(
      store_, statistics_,
      {.mount_point = "/mnt", .order_prefix = {}, .facts = {}, .prefetch = &prefetch_, .predictor = &predictor});
  const auto hint = [&](const json& words) { return Ask(control, "hint_sampler", {{"words", words}}); };
  // Before the thread that takes them has begun.
  const Result<ControlReply> taken =
      hint({"--sampler=distributed", "--seed=42", "--epoch-from=2", "--world-size=8", "--ranks=0-3"});
  ASSERT_TRUE(taken.ok()) << taken.status().text();
  EXPECT_EQ(taken->header,
            json({{"accepted", "torch DistributedSampler, seed 42 + epoch, ranks 0-3 of 8, from epoch 2"}}));
  const std::vector<std::pair<json, std::string>> wrong = {
      {{"--sampler=torhc"}, "give one of torch, "},
      {{"--sampler=torch"}, "give --seed"},
      {{"--seed=1"}, "--sampler is missing"},
      {{"--sampler=torch", "--sed=1"}, "not an option of it"},
      {{"--sampler=torch", 5}, "no list of words"},
      {"--sampler=torch", "no list of words"},
      {{"--sampler=torch", "--seed"}, "value is missing"},
      {{"--sampler=torch", "--seed=1", "--position=68719476736"}, "too far into the stream"}};
  for (const auto& [words, text] : wrong) {
    const Result<ControlReply> refused = hint(words);
    EXPECT_EQ(refused.status().code(), Code::kInvalid) << words;
    EXPECT_THAT(refused.status().text(), HasSubstr(text)) << words;
  }
  EXPECT_EQ(Ask(control, "hint_sampler").status().code(), Code::kInvalid);
  // Only the right one is told.
  ASSERT_TRUE(predictor.Start().ok());
  json mount;
  while (!mount.contains("hint")) {
    std::this_thread::yield();
    mount = json::parse(control.Json())["mount"];
  }
  EXPECT_THAT(mount["hint"].get<std::string>(), HasSubstr("seed 42 + epoch, ranks 0-3 of 8, from epoch 2"));
  EXPECT_FALSE(mount.contains("hint_2"));
  predictor.Stop();
}

TEST_F(DaemonControlTest, WithoutPrefetchTheCureIsSaid) {
  DaemonControl control = Control(nullptr);
  for (const char* command : {"hint", "hint_sampler", "warm", "warm_progress", "drop"}) {
    const Result<ControlReply> refused = Ask(control, command, {}, {"a\n"});
    EXPECT_EQ(refused.status().code(), Code::kUnsupported);
    EXPECT_THAT(refused.status().text(), HasSubstr("-o predict=off"));
  }
  EXPECT_EQ(json::parse(control.Json())["mount"]["prefetch"], "off");
}

TEST_F(DaemonControlTest, WithoutViewsThereAreNone) {
  DaemonControl control = Control(nullptr);
  const Result<ControlReply> reply = Ask(control, "views");
  ASSERT_TRUE(reply.ok()) << reply.status().text();
  EXPECT_EQ(json::parse(reply->body), json::array());
}

TEST_F(DaemonControlTest, ViewsAreCountedUntilItGivesUp) {
  ViewTotals totals(store_);
  const ViewTable table(*ParseViewSpec("npy"));
  const Result<ViewTotal> total = totals.Of(*table.root());
  ASSERT_TRUE(total.ok()) << total.status().text();
  EXPECT_EQ(total->images + total->bytes, 0u);
  ViewTotals ended(store_);
  ended.GiveUp();
  EXPECT_EQ(ended.Of(*table.root()).status().code(), Code::kStopped);
}

}  // namespace
}  // namespace augur
