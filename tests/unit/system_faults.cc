// SPDX-License-Identifier: Apache-2.0
#include "unit/system_faults.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <utility>

namespace augur {
namespace {

// Never destroyed: files are closed until the very end.
struct State {
  std::mutex mutex;
  SystemFaults::Decide decide;
};
State& TheState() {
  static auto* const state = new State;
  return *state;
}

thread_local bool deciding = false;

// Whether the call is to fail, with errno set.
bool Fails(const SystemCall& call) {
  if (std::exchange(deciding, true)) return false;
  int error = 0;
  {
    State& state = TheState();
    const std::lock_guard lock(state.mutex);
    const int before = errno;
    if (state.decide) error = state.decide(call);
    errno = before;
  }
  deciding = false;
  if (error != 0) errno = error;
  return error != 0;
}

}  // namespace

std::string NameOf(int fd) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error).filename().string();
}

bool IsFolder(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

SystemFaults::SystemFaults(Decide decide) {
  const std::lock_guard lock(TheState().mutex);
  TheState().decide = std::move(decide);
}

SystemFaults::~SystemFaults() {
  const std::lock_guard lock(TheState().mutex);
  TheState().decide = nullptr;
}

}  // namespace augur

using augur::Fails;
using augur::SystemCall;

// NOLINTBEGIN(readability-identifier-naming, readability-inconsistent-declaration-parameter-name): the C library's
extern "C" {

int close(int fd) {
  // Linux closes the file whatever the call says.
  const bool fails = Fails({.name = "close", .fd = fd});
  const int error = errno;
  const long result = ::syscall(SYS_close, fd);
  if (fails) errno = error;
  return fails ? -1 : static_cast<int>(result);
}

int fdatasync(int fd) {
  return Fails({.name = "fdatasync", .fd = fd}) ? -1 : static_cast<int>(::syscall(SYS_fdatasync, fd));
}

int flock(int fd, int operation) noexcept {
  const SystemCall call = {.name = "flock", .fd = fd, .flags = static_cast<unsigned>(operation)};
  return Fails(call) ? -1 : static_cast<int>(::syscall(SYS_flock, fd, operation));
}

int fsync(int fd) { return Fails({.name = "fsync", .fd = fd}) ? -1 : static_cast<int>(::syscall(SYS_fsync, fd)); }

int ftruncate(int fd, off_t bytes) noexcept {
  return Fails({.name = "ftruncate", .fd = fd}) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, fd, bytes));
}

ssize_t pread(int fd, void* out, size_t bytes, off_t offset) {
  return Fails({.name = "pread", .fd = fd}) ? -1 : ::syscall(SYS_pread64, fd, out, bytes, offset);
}

int renameat(int from_fd, const char* from, int to_fd, const char* to) noexcept {
  const SystemCall call = {.name = "renameat", .fd = from_fd};
  return Fails(call) ? -1 : static_cast<int>(::syscall(SYS_renameat2, from_fd, from, to_fd, to, 0));
}

int sync_file_range(int fd, off_t offset, off_t bytes, unsigned flags) {
  const SystemCall call = {.name = "sync_file_range", .fd = fd, .flags = flags};
  return Fails(call) ? -1 : static_cast<int>(::syscall(SYS_sync_file_range, fd, offset, bytes, flags));
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming, readability-inconsistent-declaration-parameter-name)
