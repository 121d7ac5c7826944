// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"

namespace augur {

// How requests of the kernel reach the daemon: -o transport=.
enum class Transport {
  kAuto,   // kUring where the kernel offers it and no other daemon is to go on with the mount; else kDev
  kDev,    // read(2) and write(2) of /dev/fuse
  kUring,  // FUSE over io_uring
};

// Whether the kernel offers FUSE over io_uring.
enum class UringSwitch {
  kOn,
  kOff,     // it could: root has not switched it on
  kAbsent,  // it has no such switch: Linux before 6.14, or built without
};

// The switch of root: Y or N.
inline constexpr const char* kUringSwitchFile = "/sys/module/fuse/parameters/enable_uring";

// What a switch file says. kAbsent also where /sys is not mounted.
UringSwitch ReadUringSwitch(const std::string& path = kUringSwitchFile);

struct TransportChoice {
  bool uring = false;
  std::string why;  // for people: "asked for", "off in this kernel: ..."
};

// Chooses; pure. `restart`: another daemon is to go on with the mount when one dies. Over io_uring it does, but the
// kernel ends a request with ECANCELED that it was just handing to a thread that dies: so kAuto means kDev then.
// kUnsupported: kUring was asked for, and the kernel does not offer it; with the cure.
Result<TransportChoice> ChooseTransport(Transport asked, bool restart, UringSwitch offered);

}  // namespace augur
