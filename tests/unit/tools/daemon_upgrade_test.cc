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

}  // namespace
}  // namespace augur
