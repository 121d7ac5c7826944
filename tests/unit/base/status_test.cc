// SPDX-License-Identifier: Apache-2.0
#include "augur/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace augur {
namespace {

Result<std::unique_ptr<int>> Half(int value) {
  if (value % 2 != 0) return Status(Code::kInvalid, std::to_string(value) + " is odd");
  return std::make_unique<int>(value / 2);
}

Status Quarter(int value, int* out) {
  AUGUR_TRY_ASSIGN(half, Half(value));
  AUGUR_TRY_ASSIGN(quarter, Half(*half));
  *out = *quarter;
  return Status::Ok();
}

TEST(Status, TryPassesTheFirstFailureOn) {
  int out = 0;
  EXPECT_TRUE(Quarter(12, &out).ok());
  EXPECT_EQ(out, 3);
  const Status status = Quarter(6, &out);
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_EQ(status.text(), "3 is odd");
  EXPECT_EQ(out, 3);
}

TEST(Status, InAddsContextToFailuresOnly) {
  EXPECT_TRUE(Status::Ok().In("store").ok());
  EXPECT_EQ(Status(Code::kIo, "cause").In("context").text(), "context: cause");
}

TEST(Status, ErrnoHasCodeAndWords) {
  const Status status = ErrnoStatus(ENOENT, "/data");
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.text(), "/data: No such file or directory");
  EXPECT_EQ(ErrnoStatus(ENOSPC, "x").code(), Code::kNoSpace);
  EXPECT_EQ(ErrnoStatus(EACCES, "x").code(), Code::kPermission);
  EXPECT_EQ(ErrnoStatus(EIO, "x").code(), Code::kIo);
}

}  // namespace
}  // namespace augur
