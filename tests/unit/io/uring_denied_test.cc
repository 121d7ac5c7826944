// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "io/read_engine.h"
#include "unit/io/collector.h"
#include "unit/io/temp_file.h"

namespace augur {
namespace {

// From now on the kernel answers `error` to system call `number`, in this process for good: the way in which Docker and
// containerd forbid io_uring.
bool Deny(long number, int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = 4, .filter = filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What a process without io_uring sees, sent to the parent: a description, then whether the bytes were right.
std::string RunDenied(long number, int error, const std::string& path, const std::vector<std::byte>& model) {
  if (!Deny(number, error)) return "no seccomp here";
  const auto uring = MakeReadEngine(EngineKind::kUring, 8);
  if (uring.ok() || uring.status().code() != Code::kUnsupported) return "kUring was not refused";
  auto engine = MakeReadEngine(EngineKind::kAuto, 8);
  if (!engine.ok()) return engine.status().text();
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::byte> bytes(model.size());
  Collector collector;
  for (size_t i = 0; i < model.size(); i += 1000) {
    (*engine)->Submit({.fd = fd.get(), .offset = i, .data = &bytes[i], .bytes = 1000, .done = collector.Done(i)});
  }
  collector.WaitFor(model.size() / 1000);
  return (*engine)->Description() + (bytes == model ? " [right]" : " [wrong]");
}

struct Denial {
  const char* name;
  long number;
  int error;
  const char* expected;
};

class UringDenied : public testing::TestWithParam<Denial> {};

TEST_P(UringDenied, AutoFallsBackAndReads) {
  const std::vector<std::byte> model = RandomBytes(100000, 1);
  const TempFile file(model);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string seen = RunDenied(GetParam().number, GetParam().error, file.path(), model);
    const bool sent = ::write(in.get(), seen.data(), seen.size()) == static_cast<ssize_t>(seen.size());
    ::_exit(sent ? 0 : 1);
  }
  in.Reset();
  std::string seen(4096, '\0');
  const ssize_t n = ::read(out.get(), seen.data(), seen.size());
  seen.resize(n < 0 ? 0 : static_cast<size_t>(n));
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  if (seen == "no seccomp here") GTEST_SKIP() << "this kernel takes no seccomp filter";
  EXPECT_THAT(seen, testing::AllOf(testing::StartsWith("pread pool"), testing::HasSubstr(GetParam().expected),
                                   testing::EndsWith("[right]")));
}

INSTANTIATE_TEST_SUITE_P(Calls, UringDenied,
                         testing::Values(Denial{"SetupEperm", SYS_io_uring_setup, EPERM, "seccomp"},
                                         Denial{"SetupEnosys", SYS_io_uring_setup, ENOSYS, "(ENOSYS)"},
                                         Denial{"SetupEnomem", SYS_io_uring_setup, ENOMEM, "RLIMIT_MEMLOCK"},
                                         Denial{"EnterEperm", SYS_io_uring_enter, EPERM, "seccomp"}),
                         [](const testing::TestParamInfo<Denial>& denial) { return denial.param.name; });

}  // namespace
}  // namespace augur
