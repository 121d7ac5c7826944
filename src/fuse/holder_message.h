// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace augur {

// What a daemon tells its holder: one HolderMessage, a packet on a SOCK_SEQPACKET pair. Nothing is answered.
enum class HolderVerb : uint32_t {
  kMounted,  // with the descriptor of /dev/fuse, and one that keeps the store's index locked if there is one
  kWatch,    // `value`: the number of a thread that ends with the process and waits for nothing in the kernel
  kReady,    // the mount answers; `value`: whether another daemon can go on with it
  kDying,    // `value`: the signal of which this process is dying
  kExit,     // the daemon ends by itself, with status `value`
  kEnding    // the daemon ends the mount, or has seen its end
};

struct HolderMessage {
  HolderVerb verb = HolderVerb::kReady;
  int32_t value = 0;
  std::array<char, 24> device_number{};  // of kMounted
};

}  // namespace augur
