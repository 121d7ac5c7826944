// SPDX-License-Identifier: Apache-2.0
#include "base/thread_refusal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/thread.h"

namespace augur {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // reserves terabytes of address space
#else
constexpr bool kSanitized = false;
#endif

// Says on stderr how a thread is refused, and ends the process.
[[noreturn]] void SayRefusal() {
  // The second: some C libraries have a stack left over.
  for (int i = 0; i < 2; ++i) {
    Result<std::thread> thread = StartThread("refused", [] { pause(); });
    if (!thread.ok()) {
      std::cerr << thread.status().text() << std::endl;
      _exit(0);
    }
    thread->detach();
  }
  _exit(1);
}

void LimitAddressSpace() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (1 << 20);
  const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  setrlimit(RLIMIT_AS, &limit);
}

[[noreturn]] void SayRefusalWithoutAddressSpace() {
  LimitAddressSpace();
  SayRefusal();
}

[[noreturn]] void SayRefusalWithoutProcesses() {
  const rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
  setrlimit(RLIMIT_NPROC, &limit);
  constexpr uid_t kNobody = 65534;
  if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(1);
  SayRefusal();
}

TEST(ThreadRefusalTest, NamesTheLimitOfAddressSpace) {
  if (kSanitized) GTEST_SKIP() << "under a sanitizer";
  EXPECT_EXIT(SayRefusalWithoutAddressSpace(), ::testing::ExitedWithCode(0), "no room for its stack.*ulimit -v");
}

TEST(ThreadRefusalTest, NamesTheLimitOfProcesses) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EXIT(SayRefusalWithoutProcesses(), ::testing::ExitedWithCode(0), "limit of processes .ulimit -u, pids.max");
}

TEST(ThreadRefusalTest, GuessesNothingForOtherCauses) {
  EXPECT_EQ(ThreadRefusal(EPERM).text().find("ulimit"), std::string::npos);
  EXPECT_EQ(ThreadRefusal(EPERM).code(), Code::kNoSpace);
}

}  // namespace
}  // namespace augur
