// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/augurfs_options.h"

namespace augur {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const json kRequest = {{"command", "restart"}, {"binary", ""}, {"options", json::array()}};

class DaemonUpgradeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made =
        DaemonUpgrade::Make({.values = Values(AugurfsProgram().commands.front()), .generation = 1, .newest = [] {
                               return Result<uint64_t>(uint64_t{1});
                             }});
    ASSERT_TRUE(made.ok()) << made.status().text();
    upgrade_ = std::move(made).value();
  }

  // Asks on another thread, and returns when the main thread is wanted.
  std::future<Result<ControlReply>> Ask() {
    auto asked = std::async(std::launch::async, [this] { return upgrade_->Ask(kRequest); });
    pollfd ready = {.fd = upgrade_->event_fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&ready, 1, -1), 1);
    return asked;
  }

  std::unique_ptr<DaemonUpgrade> upgrade_;
};

TEST_F(DaemonUpgradeTest, WhoeverWaitsAtTheEndIsTold) {
  std::future<Result<ControlReply>> asked = Ask();
  upgrade_->GiveUp();
  const Status refused = asked.get().status();
  EXPECT_EQ(refused.code(), Code::kStopped);
  EXPECT_THAT(refused.text(), HasSubstr("is ending"));
  // Nobody passes this one on.
  EXPECT_EQ(upgrade_->Ask(kRequest).status().code(), Code::kStopped);
}

TEST_F(DaemonUpgradeTest, OneAtATime) {
  std::future<Result<ControlReply>> asked = Ask();
  EXPECT_EQ(upgrade_->Ask(kRequest).status().code(), Code::kBusy);
  upgrade_->Hear({.verb = HolderVerb::kHandOver, .value = 4711});
  const Result<ControlReply> reply = asked.get();
  ASSERT_TRUE(reply.ok()) << reply.status().text();
  EXPECT_EQ(reply->header.at("next"), 4711);
  upgrade_->GiveUp();
}

// What two daemons write down: here both are this process.
TEST(Upgrade, IsThatOfTheDaemonThatTookRequests) {
  const Result<LastingState::Shared> made = LastingState::Make();
  ASSERT_TRUE(made.ok()) << made.status().text();
  LastingState& state = *made->state;
  Upgrade& upgrade = state.upgrade;
  NoteAsking(upgrade);
  NoteStopping(upgrade);
  EXPECT_EQ(upgrade.to, 0);
  EXPECT_EQ(DescribeServing(&state, 1).header.count("from_process"), 0U);
  NoteTaking(upgrade);
  upgrade.from.process = 42;  // as if another one had asked
  EXPECT_EQ(upgrade.to, getpid());
  const json serving = DescribeServing(&state, 1).header;
  EXPECT_EQ(serving.at("from_process"), 42);
  EXPECT_EQ(serving.at("from_version"), AUGUR_VERSION);
  EXPECT_GE(serving.at("gap_us"), 0);
  // The next one fails before it takes any.
  NoteAsking(upgrade);
  NoteStopping(upgrade);
  EXPECT_EQ(DescribeServing(&state, 1).header, serving);
}

// One that dies before it has stopped is followed by the next one all the same.
TEST(Upgrade, HasNoTimeOfOneThatDidNotStop) {
  const Result<LastingState::Shared> made = LastingState::Make();
  ASSERT_TRUE(made.ok()) << made.status().text();
  Upgrade& upgrade = made->state->upgrade;
  NoteAsking(upgrade);
  NoteTaking(upgrade);
  EXPECT_EQ(upgrade.from.process, getpid());
  EXPECT_EQ(upgrade.gap_ns, 0);
}

}  // namespace
}  // namespace augur
