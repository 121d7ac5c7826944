// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>

#include "datasets/order.h"
#include "readers/streams.h"

namespace augur {

// LastReaders knows of the last reads of a job which stream made the last read of each file. One thread at a time.
// Holds kReadsMax reads.
class LastReaders {
 public:
  static constexpr uint64_t kReadsMax = 4096;

  // The read with this number, which is larger than those before.
  void Add(EntryNumber file, StreamId stream, uint64_t number) {
    last_.insert_or_assign(file, Read{.number = number, .stream = stream});
    reads_.emplace_back(file, number);
    if (reads_.size() <= kReadsMax) return;
    const auto [oldest, oldest_number] = reads_.front();
    reads_.pop_front();
    if (const auto at = last_.find(oldest); at != last_.end() && at->second.number == oldest_number) last_.erase(at);
  }
  // Whether another stream made the last read of the file, and it has this number or a larger one.
  bool IsOfOther(EntryNumber file, StreamId stream, uint64_t since) const {
    const auto at = last_.find(file);
    return at != last_.end() && at->second.stream != stream && at->second.number >= since;
  }

 private:
  struct Read {
    uint64_t number = 0;
    StreamId stream = 0;
  };
  std::unordered_map<EntryNumber, Read> last_;
  std::deque<std::pair<EntryNumber, uint64_t>> reads_;  // the last kReadsMax
};

}  // namespace augur
