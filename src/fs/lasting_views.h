// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace augur {

// LastingViews is what a ViewTable writes down for the daemon that takes over the mount: which view has which number,
// in memory that outlives the process. Its nodes are at the kernel, and must go on to mean the same files. All zero at
// first. One ViewTable at a time adds and removes records, under its lock; a process that is killed in the middle
// of that leaves a record whole or not at all. The nodes of a record are counted there and nowhere else: the daemon
// before still answers look-ups that waited for a table of archives when the next one counts already. The counts may be
// too high after a kill, and never too low.
struct LastingViews {
  static constexpr size_t kRecordsMax = 2048;
  static constexpr size_t kNameBytesMax = 256;  // NAME_MAX and its zero byte

  struct Record {
    uint32_t number;                       // of the view; 0: nothing is written here. Set last, and cleared first
    uint32_t user;                         // who owns it
    uint64_t nodes;                        // that the kernel has
    uint64_t sequence;                     // View::sequence
    uint64_t of_root;                      // 1: it has the archives of the root's view, and no name
    std::array<char, kNameBytesMax> name;  // by which the kernel knows it, or the view's own text
  };

  uint32_t next_number;  // the first that no view had; 0: none had one
  std::array<Record, kRecordsMax> records;

  // Writes a view down: all but the number of `view`, which is `number`. nullptr: there is no room, or the name is too
  // long.
  Record* Add(uint32_t number, const Record& view, std::string_view name) {
    if (name.size() >= kNameBytesMax) return nullptr;
    for (Record& record : records) {
      if (record.number != 0) continue;
      record.user = view.user;
      record.nodes = view.nodes;
      record.sequence = view.sequence;
      record.of_root = view.of_root;
      record.name.fill('\0');
      name.copy(record.name.data(), name.size());
      std::atomic_ref(record.number).store(number, std::memory_order_release);
      return &record;
    }
    return nullptr;
  }
  // `nodes` as in a record, or in the memory of one process.
  static void Know(uint64_t& nodes, uint64_t more) {
    std::atomic_ref(nodes).fetch_add(more, std::memory_order_relaxed);
  }
  static void Forget(uint64_t& nodes, uint64_t fewer) {
    const std::atomic_ref count(nodes);
    uint64_t before = count.load(std::memory_order_relaxed);
    while (!count.compare_exchange_weak(before, before - std::min(before, fewer), std::memory_order_relaxed)) {
    }
  }
  static void Remove(Record& record) { std::atomic_ref(record.number).store(0, std::memory_order_release); }
};

}  // namespace augur
