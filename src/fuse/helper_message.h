// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/order.h"

namespace augur {

// What the daemon and its helper process say to each other: a HelperHeader and what follows it, one packet each on a
// SOCK_SEQPACKET pair. Requests are worked on in their order, and so are their answers.
enum class HelperVerb : uint32_t {
  // To the helper.
  kAttach,      // MountDevice, then the path; with the descriptor of a clone of the mount, if there is one
  kStat,        // entries; answered by kDone
  kDrop,        // entries; answered by kDone
  kWatch,       // entries
  kUnwatch,     // all folders
  kSelectView,  // the view of the entries from now on: HelperView, then its spec

  // To the daemon.
  kAttached,   // the mount is there
  kDone,       // the oldest kStat or kDrop that has no answer
  kOpened,     // entries, of the header's view
  kLost,       // the mount is not there (any more), with the reason: the helper ends
  kUnmounted,  // the mount is gone from its folder: the helper ends
  kNote,       // a line for the log
  kNotWatched  // a line for the log: a folder could not be watched
};

struct HelperHeader {
  HelperVerb verb = HelperVerb::kNote;
  uint32_t count = 0;  // entries, or bytes of text
  uint32_t view = 0;   // of kOpened
};

// The view of kSelectView, as MountView::SelectView has it.
struct HelperView {
  uint32_t number = 0;
  uint32_t is_root = 0;
};

// Entries in a packet at most. A packet of 4 KiB is quickly copied and far below what a socket takes by default (208
// KiB). The helper looks after its inotify queue between packets: 1,024 drops of 32 us are 33 ms. In these a reader at
// 8 us a file opens 4,100 files, a quarter of the queue's 16,384.
inline constexpr size_t kHelperEntriesMax = 1024;

// Longest packet: a path and what comes before it.
inline constexpr size_t kHelperPacketBytesMax = 8192;

// A packet of the verb and `count` things of `body`.
inline std::vector<std::byte> HelperPacket(HelperVerb verb, size_t count, std::span<const std::byte> body,
                                           uint32_t view = 0) {
  const HelperHeader header = {.verb = verb, .count = static_cast<uint32_t>(count), .view = view};
  const auto head = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> packet(head.begin(), head.end());
  packet.insert(packet.end(), body.begin(), body.end());
  return packet;
}

}  // namespace augur
