// SPDX-License-Identifier: Apache-2.0
#include "io/uring_refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace augur {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(UringRefusal, NamesWhoForbidsIt) {
  EXPECT_THAT(UringRefusal(EPERM, ""), AllOf(HasSubstr("seccomp profile"), HasSubstr("EPERM")));
  EXPECT_THAT(UringRefusal(EPERM, "0"), HasSubstr("seccomp profile"));
  EXPECT_THAT(UringRefusal(EPERM, "2"),
              AllOf(HasSubstr("kernel.io_uring_disabled = 2"), HasSubstr("EPERM"), Not(HasSubstr("seccomp"))));
  EXPECT_THAT(UringRefusal(EPERM, "1"), HasSubstr("kernel.io_uring_disabled = 1"));
}

TEST(UringRefusal, NamesTheCure) {
  EXPECT_THAT(UringRefusal(ENOSYS, ""), HasSubstr("CONFIG_IO_URING"));
  EXPECT_THAT(UringRefusal(ENOSYS, "0"), AllOf(HasSubstr("seccomp profile"), HasSubstr("ENOSYS")));
  EXPECT_THAT(UringRefusal(EINVAL, ""), HasSubstr("Linux 5.6"));
  EXPECT_THAT(UringRefusal(ENOMEM, ""), AllOf(HasSubstr("RLIMIT_MEMLOCK"), HasSubstr("ulimit -l")));
  EXPECT_THAT(UringRefusal(EMFILE, ""), HasSubstr("ulimit -n"));
  EXPECT_THAT(UringRefusal(EIO, ""), HasSubstr("Input/output error"));
}

}  // namespace
}  // namespace augur
