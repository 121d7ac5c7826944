// SPDX-License-Identifier: Apache-2.0
#include "fuse/transport_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace augur {
namespace {

using ::testing::HasSubstr;

bool ChoosesUring(Transport asked, bool restart, UringSwitch offered) {
  const Result<TransportChoice> choice = ChooseTransport(asked, restart, offered);
  EXPECT_TRUE(choice.ok()) << choice.status().text();
  EXPECT_TRUE(!choice.ok() || !choice->why.empty());
  return choice.ok() && choice->uring;
}

TEST(ChooseTransport, DevIsAlwaysThere) {
  for (const UringSwitch offered : {UringSwitch::kOn, UringSwitch::kOff, UringSwitch::kAbsent}) {
    EXPECT_FALSE(ChoosesUring(Transport::kDev, true, offered));
    EXPECT_FALSE(ChoosesUring(Transport::kDev, false, offered));
  }
}

TEST(ChooseTransport, AutoTakesUringOnlyWhereNoOtherDaemonIsToGoOn) {
  EXPECT_TRUE(ChoosesUring(Transport::kAuto, /*restart=*/false, UringSwitch::kOn));
  EXPECT_FALSE(ChoosesUring(Transport::kAuto, /*restart=*/true, UringSwitch::kOn));
  EXPECT_FALSE(ChoosesUring(Transport::kAuto, /*restart=*/false, UringSwitch::kOff));
  EXPECT_FALSE(ChoosesUring(Transport::kAuto, /*restart=*/false, UringSwitch::kAbsent));
}

TEST(ChooseTransport, AutoSaysWhyNot) {
  EXPECT_THAT(ChooseTransport(Transport::kAuto, true, UringSwitch::kOn)->why, HasSubstr("restart=no"));
  EXPECT_THAT(ChooseTransport(Transport::kAuto, false, UringSwitch::kOff)->why, HasSubstr(kUringSwitchFile));
  EXPECT_THAT(ChooseTransport(Transport::kAuto, false, UringSwitch::kAbsent)->why, HasSubstr("Linux 6.14"));
}

TEST(ChooseTransport, UringIsUsedOrRefusedWithTheCure) {
  EXPECT_TRUE(ChoosesUring(Transport::kUring, true, UringSwitch::kOn));
  EXPECT_TRUE(ChoosesUring(Transport::kUring, false, UringSwitch::kOn));
  const Result<TransportChoice> off = ChooseTransport(Transport::kUring, true, UringSwitch::kOff);
  ASSERT_FALSE(off.ok());
  EXPECT_EQ(off.status().code(), Code::kUnsupported);
  EXPECT_THAT(off.status().text(), HasSubstr("-o transport=uring"));
  EXPECT_THAT(off.status().text(), HasSubstr("echo Y > /sys/module/fuse/parameters/enable_uring"));
  const Result<TransportChoice> absent = ChooseTransport(Transport::kUring, true, UringSwitch::kAbsent);
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.status().text(), HasSubstr("Linux 6.14"));
}

TEST(ReadUringSwitch, ReadsWhatTheKernelWrites) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / ("switch-" + std::to_string(getpid()));
  for (const auto& [text, expected] :
       {std::pair{"Y\n", UringSwitch::kOn}, std::pair{"N\n", UringSwitch::kOff}, std::pair{"", UringSwitch::kAbsent}}) {
    std::ofstream(file) << text;
    EXPECT_EQ(ReadUringSwitch(file), expected) << text;
  }
  std::filesystem::remove(file);
  EXPECT_EQ(ReadUringSwitch(file), UringSwitch::kAbsent);
}

}  // namespace
}  // namespace augur
