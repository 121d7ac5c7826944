// SPDX-License-Identifier: Apache-2.0
#include "fuse/lasting_state.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace augur {
namespace {

using testing::HasSubstr;

LastingState::Shared Made() {
  Result<LastingState::Shared> made = LastingState::Make();
  EXPECT_TRUE(made.ok()) << made.status().text();
  return std::move(made).value();
}

// Promise: another program that opens the state has the same memory.
TEST(LastingState, IsSharedByItsDescriptor) {
  const LastingState::Shared made = Made();
  made.state->numbers.sets[1].generations[0].number = 7;
  const Result<LastingState*> opened = LastingState::Open(made.fd.get());
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  EXPECT_NE(*opened, made.state);
  EXPECT_EQ((*opened)->numbers.sets[1].generations[0].number, 7U);
  (*opened)->upgrade.to = 4711;
  EXPECT_EQ(made.state->upgrade.to, 4711);
}

TEST(LastingState, TheViewsBeginEmpty) {
  const LastingState::Shared made = Made();
  EXPECT_EQ(made.state->views.next_number, 0U);
  for (const LastingViews::Record& record : made.state->views.records) EXPECT_EQ(record.number, 0U);
}

// Promise: each part of the header tells another layout.
TEST(LastingState, AnotherLayoutIsRefusedWithBoth) {
  const LastingState::Shared made = Made();
  LastingState::Header& header = made.state->header;
  const LastingState::Header own = header;
  header.layout = own.layout + 1;
  const Status refused = LastingState::Open(made.fd.get()).status();
  EXPECT_EQ(refused.code(), Code::kUnsupported);
  EXPECT_THAT(refused.text(), HasSubstr("layout " + std::to_string(own.layout + 1) + "-"));
  EXPECT_THAT(refused.text(), HasSubstr("knows " + std::to_string(own.layout) + "-"));
  header = own;
  header.bytes += 8;
  EXPECT_EQ(LastingState::Open(made.fd.get()).status().code(), Code::kUnsupported);
  header = own;
  EXPECT_TRUE(LastingState::Open(made.fd.get()).ok());
}

TEST(LastingState, OtherDescriptorsAreRefused) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(LastingState::Open(null.get()).status().code(), Code::kInvalid);
  EXPECT_EQ(LastingState::Open(-1).status().code(), Code::kInvalid);
  const LastingState::Shared made = Made();
  made.state->header.magic[0] = 'x';
  EXPECT_EQ(LastingState::Open(made.fd.get()).status().code(), Code::kInvalid);
}

// Promise: no daemon can make the holder's memory go away.
TEST(LastingState, KeepsItsSize) {
  const LastingState::Shared made = Made();
  EXPECT_EQ(ftruncate(made.fd.get(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(made.fd.get(), 2 * sizeof(LastingState)), -1);
  EXPECT_EQ(errno, EPERM);
}

}  // namespace
}  // namespace augur
