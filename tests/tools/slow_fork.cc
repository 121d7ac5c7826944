// SPDX-License-Identifier: Apache-2.0
// slow_fork: preloaded (LD_PRELOAD) into augurfs, it makes its holder, whose name is augur-holder, lose the processor
// for a moment after each fork, as it may on a busy machine.

#include <dlfcn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <string_view>

// NOLINTNEXTLINE(readability-identifier-naming): the C library's
extern "C" pid_t fork() {
  constexpr useconds_t kMomentUs = 500'000;
  static const auto real = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"));
  const pid_t child = real();
  std::array<char, 16> name{};
  (void)prctl(PR_GET_NAME, name.data());
  if (child > 0 && std::string_view(name.data()) == "augur-holder") usleep(kMomentUs);
  return child;
}
