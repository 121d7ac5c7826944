// SPDX-License-Identifier: Apache-2.0
#include "fuse/holder_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>

#include <csignal>
#include <vector>

#include "unit/fuse/init_request.h"

namespace augur {
namespace {

constexpr uint32_t kHasResend = 1U << 7;  // FUSE_HAS_RESEND of Linux 6.9, bit 39 of both words

TEST(KernelResends, FromLinux69On) {
  EXPECT_TRUE(KernelResends(Init(kInitExt, kHasResend)));
  EXPECT_FALSE(KernelResends(Init(kInitExt, ~kHasResend)));
}

TEST(KernelResends, NotBeforeThereWasASecondWord) {
  EXPECT_FALSE(KernelResends(Init(~kInitExt, kHasResend)));
  std::vector<std::byte> old = Init(kInitExt, kHasResend);
  old.resize(sizeof(fuse_in_header) + 16);  // as Linux 5.15 sends it
  EXPECT_FALSE(KernelResends(old));
  EXPECT_FALSE(KernelResends({}));
}

TEST(DescribeDeath, NamesTheSignal) {
  EXPECT_EQ(DescribeDeath({.signal = SIGKILL}), "was killed by signal 9 (KILL)");
  EXPECT_EQ(DescribeDeath({.status = 2}), "has ended with status 2");
}

TEST(DescribeDeath, SaysWhereTheCoreIs) {
  EXPECT_THAT(DescribeDeath({.pid = 4711, .signal = SIGSEGV, .dumped = true}),
              testing::StartsWith("was killed by signal 11 (SEGV); its core: "));
  EXPECT_THAT(DescribeDeath({.pid = 4711, .signal = SIGSEGV, .is_dying = true}),
              testing::HasSubstr("if a core is written: "));
}

}  // namespace
}  // namespace augur
