// SPDX-License-Identifier: Apache-2.0
#include "io/uring_refusal.h"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace augur {

std::string UringRefusal(int error, const std::string& sysctl) {
  switch (error) {
    case EPERM:
    case EACCES:
      // Linux 6.6 and newer: 1 is "only root and the group kernel.io_uring_group", 2 is "nobody".
      if (!sysctl.empty() && (sysctl[0] == '1' || sysctl[0] == '2')) {
        return "io_uring is forbidden by kernel.io_uring_disabled = " + sysctl.substr(0, 1) +
               " (EPERM): sysctl kernel.io_uring_disabled=0 allows it";
      }
      return "io_uring is forbidden, mostly by a container's seccomp profile (EPERM): a profile that allows "
             "io_uring_setup, io_uring_enter and io_uring_register lifts it";
    case ENOSYS:
      // A kernel that has the sysctl has io_uring. Profiles of Podman answer ENOSYS, those of Docker EPERM.
      if (!sysctl.empty()) {
        return "io_uring is hidden, mostly by a container's seccomp profile (ENOSYS): a profile that allows "
               "io_uring_setup, io_uring_enter and io_uring_register lifts it";
      }
      return "this kernel is without io_uring (ENOSYS): Linux 5.6 or newer built with CONFIG_IO_URING has it";
    case EINVAL:
    case EOPNOTSUPP: return "this kernel's io_uring is too old to read (EINVAL): Linux 5.6 or newer is needed";
    case ENOMEM:
      return "the rings of io_uring find no memory (ENOMEM): before Linux 5.12 they count as locked memory "
             "(RLIMIT_MEMLOCK): raise ulimit -l; from then on only ulimit -v limits them";
    case ENFILE: return "the system has no free file descriptor for io_uring (ENFILE): raise fs.file-max with sysctl";
    case EMFILE: return "io_uring found no free file descriptor (EMFILE): raise ulimit -n";
    default: return "io_uring cannot be set up: " + std::generic_category().message(error);
  }
}

Status UringRefused(int error) {
  std::string sysctl;
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> sysctl;
  return {Code::kUnsupported, UringRefusal(error, sysctl)};
}

}  // namespace augur
