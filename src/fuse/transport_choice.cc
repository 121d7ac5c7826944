// SPDX-License-Identifier: Apache-2.0
#include "fuse/transport_choice.h"

#include <fstream>

namespace augur {
namespace {

std::string Cure(UringSwitch offered) {
  const std::string file = kUringSwitchFile;
  if (offered == UringSwitch::kOff) {
    return "FUSE over io_uring is off in this kernel: as root, 'echo Y > " + file + "' switches it on";
  }
  return "this kernel has no FUSE over io_uring, as there is no " + file +
         ": it takes Linux 6.14 or newer built with CONFIG_FUSE_IO_URING, the module fuse, and /sys";
}

}  // namespace

UringSwitch ReadUringSwitch(const std::string& path) {
  std::ifstream file(path);
  char value = 0;
  if (!(file >> value)) return UringSwitch::kAbsent;
  return value == 'Y' || value == '1' ? UringSwitch::kOn : UringSwitch::kOff;
}

Result<TransportChoice> ChooseTransport(Transport asked, bool restart, UringSwitch offered) {
  if (asked == Transport::kDev) return TransportChoice{.uring = false, .why = "asked for by transport=dev"};
  if (asked == Transport::kUring) {
    if (offered != UringSwitch::kOn) return Status(Code::kUnsupported, "-o transport=uring: " + Cure(offered));
    return TransportChoice{.uring = true, .why = "asked for by transport=uring"};
  }
  if (offered != UringSwitch::kOn) return TransportChoice{.uring = false, .why = Cure(offered)};
  if (restart) {
    return TransportChoice{.uring = false,
                           .why = "over io_uring a crash costs readers an error (transport=uring, restart=no)"};
  }
  return TransportChoice{.uring = true, .why = "this kernel offers it, and restart=no"};
}

}  // namespace augur
