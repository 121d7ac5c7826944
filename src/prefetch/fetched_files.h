// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "order/order.h"

namespace augur {

// FetchedFiles is the account of what was read ahead: whether it was used before it was let go, and how long before its
// use it was there. Not synchronized, no clock.
class FetchedFiles {
 public:
  // Its bytes have come.
  void Fetched(EntryNumber file) { unread_.insert(file); }
  // It is in the page cache from now on.
  void Pushed(EntryNumber file, uint64_t now_us) { pushed_us_[file] = now_us; }
  // It was opened or read. Returns since when it was in the page cache, if we have put it there for this use.
  std::optional<uint64_t> Used(EntryNumber file) {
    unread_.erase(file);
    const auto pushed = pushed_us_.find(file);
    if (pushed == pushed_us_.end()) return std::nullopt;
    const uint64_t since_us = pushed->second;
    pushed_us_.erase(pushed);
    return since_us;
  }
  // The page cache has it no longer. `assume_used`: uses of pages are not seen.
  void Dropped(EntryNumber file, bool assume_used) {
    if (pushed_us_.erase(file) > 0 && assume_used) unread_.erase(file);
  }
  // Our memory has it no longer. Whether it was fetched for nothing.
  bool LetGo(EntryNumber file) { return !pushed_us_.contains(file) && unread_.erase(file) > 0; }

 private:
  std::unordered_set<EntryNumber> unread_;               // fetched, and not used since
  std::unordered_map<EntryNumber, uint64_t> pushed_us_;  // and not used since
};

}  // namespace augur
