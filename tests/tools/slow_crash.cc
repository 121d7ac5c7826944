// SPDX-License-Identifier: Apache-2.0
// slow_crash: preloaded (LD_PRELOAD) into augurfs, it makes a daemon wait where it locks the index of its store, so
// before it serves, and once more where it dies of a signal, after its holder was told.

#include <dlfcn.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>

namespace {

constexpr useconds_t kMomentUs = 500'000;

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the C library's
extern "C" int flock(int fd, int operation) {
  static const auto real = reinterpret_cast<int (*)(int, int)>(dlsym(RTLD_NEXT, "flock"));
  if ((operation & LOCK_SH) != 0) usleep(kMomentUs);
  return real(fd, operation);
}

// NOLINTNEXTLINE(readability-identifier-naming): the C library's
extern "C" int raise(int signal) {
  static const auto real = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "raise"));
  usleep(kMomentUs);
  return real(signal);
}
