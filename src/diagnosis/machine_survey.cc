// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/machine_survey.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/blanks.h"
#include "base/cores.h"
#include "base/memory.h"
#include "base/proc_text.h"
#include "base/text_file.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "io/uring_refusal.h"

namespace augur {
namespace {

// Empty: it cannot be read.
std::string TextOf(const std::string& path) {
  Result<std::string> text = ReadTextFile(path);
  return text.ok() ? std::move(text).value() : std::string();
}

// Empty: the kernel gives one.
std::string AskForUring(const std::string& root) {
  io_uring_params params{};
  const UniqueFd ring(static_cast<int>(syscall(__NR_io_uring_setup, 1, &params)));
  if (ring.valid()) return {};
  return UringRefusal(errno, TextOf(root + "/proc/sys/kernel/io_uring_disabled"));
}

MachineFacts::FuseDevice LookAtFuse(const std::string& root) {
  const UniqueFd device(open((root + "/dev/fuse").c_str(), O_RDWR | O_CLOEXEC));
  if (device.valid()) return MachineFacts::FuseDevice::kUsable;
  return errno == ENOENT ? MachineFacts::FuseDevice::kMissing : MachineFacts::FuseDevice::kRefused;
}

std::string FindProgram(const std::string& root, const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread.
  const char* const path = getenv("PATH");
  for (const std::string_view folder : Split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    std::string file = std::string(folder) + "/" + name;
    if (!folder.empty() && access((root + file).c_str(), X_OK) == 0) return file;
  }
  return {};
}

// A line of that word, without a comment sign before it.
bool HasLine(const std::string& text, std::string_view word) {
  const auto lines = Split(text, '\n');
  return std::ranges::any_of(lines, [word](std::string_view line) { return WithoutBlanks(line) == word; });
}

MachineFacts::Switch SwitchOf(const std::string& text) {
  if (text.empty()) return MachineFacts::Switch::kAbsent;
  return text[0] == 'Y' || text[0] == '1' ? MachineFacts::Switch::kOn : MachineFacts::Switch::kOff;
}

}  // namespace

MachineFacts SurveyMachine(const std::string& root) {
  MachineFacts facts;
  facts.cores = UsableCores();
  if (const Result<MemoryRoom> memory = MachineMemory(); memory.ok()) {
    facts.memory_bytes = memory->total_bytes;
    facts.memory_available_bytes = memory->available_bytes;
  }
  struct statvfs shm {};
  if (statvfs((root + "/dev/shm").c_str(), &shm) == 0) {
    facts.shm_bytes = shm.f_blocks * shm.f_frsize;
    facts.shm_free_bytes = shm.f_bavail * shm.f_frsize;
  }
  rlimit locked{};
  if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0) {
    facts.memlock_bytes = locked.rlim_cur == RLIM_INFINITY ? UINT64_MAX : locked.rlim_cur;
  }
  utsname kernel{};
  if (uname(&kernel) == 0) {
    facts.kernel_release = kernel.release;
    // NOLINTNEXTLINE(cert-err34-c): what is not of this form leaves 0, which is "not known".
    (void)std::sscanf(kernel.release, "%u.%u", &facts.kernel_major, &facts.kernel_minor);
  }
  facts.is_root = geteuid() == 0;
  facts.fusermount = FindProgram(root, "fusermount3");
  facts.fuse_device = LookAtFuse(root);
  facts.user_allow_other = HasLine(TextOf(root + "/etc/fuse.conf"), "user_allow_other");
  facts.enable_uring = SwitchOf(TextOf(root + "/sys/module/fuse/parameters/enable_uring"));
  facts.io_uring_refusal = AskForUring(root);
  return facts;
}

uint64_t ReadAheadOf(const std::string& device, const std::string& root) {
  const std::string text = TextOf(root + "/sys/class/bdi/" + device + "/read_ahead_kb");
  const Result<uint64_t> kilobytes = ParseCount(WithoutBlanks(text));
  return kilobytes.ok() ? *kilobytes * kKiB : 0;
}

}  // namespace augur
