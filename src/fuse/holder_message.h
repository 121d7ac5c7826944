// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace augur {

// What a daemon and its holder tell each other: one HolderMessage, a packet on a SOCK_SEQPACKET pair.
enum class HolderVerb : uint32_t {
  // From a daemon.
  kMounted,     // with the descriptor of /dev/fuse, and one that keeps the store's index locked if there is one
  kWatch,       // `value`: the number of a thread that ends with the process and waits for nothing in the kernel
  kReady,       // the mount answers; `value`: whether another daemon can go on with it. With a descriptor, if there is
                // one, that keeps the index locked which is shown from now on
  kDying,       // `value`: the signal of which this process is dying
  kExit,        // the daemon ends by itself, with status `value`
  kEnding,      // the daemon ends the mount, or has seen its end
  kUpgrade,     // another program shall serve: a ProgramRequest follows in the packet, with the descriptor of a pipe
                // for what that program says on stderr until it is prepared
  kHandedOver,  // the daemon takes no request any more: the next one shall
  // From the one that is to be next.
  kProgram,   // with the descriptor of its program, before it executes that
  kPrepared,  // it can serve as soon as it is its turn
  // To a daemon.
  kHandOver,    // what it asked for by kUpgrade is prepared; `value`: its process
  kNotStarted,  // ... has failed; `value`: how that process ended, as waitpid(2) tells it, or one of the two below
  kTurn,        // to the next one: serve
  // From one that goes on with the mount, before it takes the first request. Numbers stay as they are: programs of two
  // versions may speak.
  kTakes,
  kNothing  // is never sent
};

// Values of kNotStarted.
inline constexpr int32_t kEndUnknown = -1;
inline constexpr int32_t kNotInTime = -2;  // it was not prepared within kPreparedWithinSeconds
inline constexpr int32_t kOtherUnderWay = -3;
inline constexpr int kPreparedWithinSeconds = 60;

struct HolderMessage {
  HolderVerb verb = HolderVerb::kReady;
  int32_t value = 0;
  std::array<char, 24> device_number{};  // of kMounted
};

// Which program shall serve, and how. Texts end with a zero byte.
struct ProgramRequest {
  static constexpr size_t kTextBytesMax = 4096;
  std::array<char, kTextBytesMax> path{};     // absolute; empty: the one that serves now
  std::array<char, kTextBytesMax> options{};  // as of -o: those that the daemon's command line has instead of its own
};

}  // namespace augur
