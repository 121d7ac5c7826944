// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "datasets/order.h"

namespace augur {

// FetchedFiles is the account of the files that were read ahead: whether each was used before it was let go, and how
// long before its use it was there. Not synchronized, no clock.
//
// An open that the page cache answered may be told after the file was dropped behind the reader. On a machine with six
// busy processes a core, that was so for 1.5 of 2.6 GB that were read from the page cache. So a file dropped before any
// use was told is in doubt for a while.
class FetchedFiles {
 public:
  // A read that brings its bytes has begun. A READ that comes from now on waits for it, and makes none of its own.
  void Begun(EntryNumber file) { joined_[file] = false; }
  // But this one does not: the read has failed, or another one was there before it.
  void Unjoined(EntryNumber file) { joined_.erase(file); }
  // Its bytes have come. If a READ has waited for them, they are used.
  void Fetched(EntryNumber file) {
    const auto joined = joined_.find(file);
    const bool used = joined != joined_.end() && joined->second;
    if (joined != joined_.end()) joined_.erase(joined);
    if (!used) unread_.insert(file);
  }
  // It is in the page cache from now on.
  void Pushed(EntryNumber file, uint64_t now_us) { pushed_us_[file] = now_us; }
  // It was opened or, when the page cache did not have it, read from us (`missed`). Returns since when it was in the
  // page cache, if we have put it there for this use.
  std::optional<uint64_t> Used(EntryNumber file, bool missed) {
    unread_.erase(file);
    if (!missed) doubted_.erase(file);
    if (const auto joined = joined_.find(file); missed && joined != joined_.end()) joined->second = true;
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
  // Let go out of the page cache, and no use was told so far.
  void Doubt(EntryNumber file, uint64_t now_us) {
    doubted_[file] = now_us;
    doubts_.emplace_back(file, now_us);
  }
  // A file in doubt since before this time, which was fetched for nothing.
  std::optional<EntryNumber> TakeWasted(uint64_t before_us) {
    while (!doubts_.empty() && doubts_.front().second < before_us) {
      const auto [file, since_us] = doubts_.front();
      doubts_.pop_front();
      const auto doubted = doubted_.find(file);
      if (doubted == doubted_.end() || doubted->second != since_us) continue;
      doubted_.erase(doubted);
      return file;
    }
    return std::nullopt;
  }

 private:
  std::unordered_map<EntryNumber, bool> joined_;         // on its way; whether a READ waits for it
  std::unordered_set<EntryNumber> unread_;               // fetched, and not used since
  std::unordered_map<EntryNumber, uint64_t> pushed_us_;  // and not used since
  std::unordered_map<EntryNumber, uint64_t> doubted_;    // since when
  // The same, and some that are not any more: those of the last seconds that StagedFiles waits for (kOpenToldUs).
  std::deque<std::pair<EntryNumber, uint64_t>> doubts_;
};

}  // namespace augur
