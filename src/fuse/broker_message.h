// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace augur {

// What the daemon asks its broker for: one BrokerRequest, answered by one BrokerReply with a text behind it, a packet
// each on a SOCK_SEQPACKET pair.
enum class BrokerVerb : uint32_t {
  kMount,      // answered with the descriptor of /dev/fuse, unless the mount was there, and the clone if there is one
  kReadAhead,  // of `bytes`
  kUnmount,    // sets in_use
  kLaunch,     // sets launch, rank and world_size, of process `pid`
  kWatch,      // `pid`: a thread of the daemon
  kAbortInTheEnd
};

struct BrokerRequest {
  BrokerVerb verb = BrokerVerb::kMount;
  uint32_t pid = 0;
  uint64_t bytes = 0;
};

struct BrokerReply {
  int32_t code = 0;  // of the status, whose text follows; of kMount, when it is OK, a line for the log
  uint32_t in_use = 0;
  uint32_t device_sent = 0;  // of kMount: the first descriptor is that of /dev/fuse
  uint64_t launch = 0;
  uint32_t rank = 0;
  uint32_t world_size = 0;
  std::array<char, 24> device_number{};  // of kMount
};

inline constexpr size_t kBrokerPacketBytesMax = 8192;

}  // namespace augur
