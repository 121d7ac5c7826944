// SPDX-License-Identifier: Apache-2.0
#include "fuse/holder_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>

#include <csignal>
#include <cstring>
#include <vector>

namespace augur {
namespace {

// FUSE_INIT as a kernel with these flags sends it.
std::vector<std::byte> Init(uint32_t flags, uint32_t flags2) {
  const fuse_in_header header = {.len = sizeof(fuse_in_header) + sizeof(fuse_init_in), .opcode = FUSE_INIT};
  fuse_init_in arguments{};
  arguments.flags = flags;
  arguments.flags2 = flags2;
  std::vector<std::byte> bytes(header.len);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &arguments, sizeof arguments);
  return bytes;
}

constexpr uint32_t kExt = 1U << 30;       // FUSE_INIT_EXT: there is a second word of flags
constexpr uint32_t kHasResend = 1U << 7;  // FUSE_HAS_RESEND of Linux 6.9, bit 39 of both words

TEST(KernelResends, FromLinux69On) {
  EXPECT_TRUE(KernelResends(Init(kExt, kHasResend)));
  EXPECT_FALSE(KernelResends(Init(kExt, ~kHasResend)));
}

TEST(KernelResends, NotBeforeThereWasASecondWord) {
  EXPECT_FALSE(KernelResends(Init(~kExt, kHasResend)));
  std::vector<std::byte> old = Init(kExt, kHasResend);
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
