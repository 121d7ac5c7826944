// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "augur/status.h"

namespace augur {

// Number of a file or folder at the kernel: view number << 40 | entry + 1. View 0 is the original files, the root is 1,
// 0 is illegal. In the first generation that a mount shows it is a pure function of the store; later ones have other
// numbers (NodeNumbers).
using NodeId = uint64_t;
inline constexpr NodeId kRootNode = 1;

// The parts of a NodeId: which view, and which entry of the index, by its number.
struct Node {
  static constexpr int kViewShift = 40;
  static constexpr uint64_t kEntryMask = (uint64_t{1} << kViewShift) - 1;

  // The last view: the virtual files of VirtualFolder. Entry 0 is the folder, and those at the very end stand for its
  // files in a listing, where they have no other number yet.
  static constexpr uint32_t kVirtualView = (uint32_t{1} << 24) - 1;
  static constexpr uint64_t kListedEntry = kEntryMask - 1;  // of the first file; the others below it
  // The view before it has the folder .augur/views, as entry 0. Those of ViewTable are below.
  static constexpr uint32_t kViewsFolderView = kVirtualView - 1;

  uint32_t view = 0;
  uint64_t entry = 0;

  NodeId id() const { return uint64_t{view} << kViewShift | (entry + 1); }

  // Nothing for an id that no node can have.
  static std::optional<Node> FromId(NodeId id) {
    if ((id & kEntryMask) == 0) return std::nullopt;
    return Node{static_cast<uint32_t>(id >> kViewShift), (id & kEntryMask) - 1};
  }
};

inline Status NoSuchNode(NodeId id) { return {Code::kNotFound, "node " + std::to_string(id) + ": no such node"}; }

}  // namespace augur
