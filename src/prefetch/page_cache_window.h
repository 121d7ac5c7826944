// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/file_states.h"
#include "prefetch/planner_input.h"
#include "prefetch/reader_pages.h"

namespace augur {

// PageCacheWindow says how many bytes of the next files the page cache holds, and how far ahead of the reader they are.
// Not synchronized; no I/O, no clock. It decides nothing: PageCachePlanner pushes and drops by it.
class PageCacheWindow {
 public:
  // REQUIRES: all outlive it.
  PageCacheWindow(const PlannerInput& in, const FileStates& files, const ReaderPages& reader_pages)
      : in_(in), files_(files), reader_pages_(reader_pages) {}

  // The page cache has room for everything, and has lost next to nothing of it so far.
  bool HoldsAll() const;
  // The page cache serves the file, and the retained cache need not have it.
  bool Serves(Slot slot) const { return files_.pages().Contains(slot) && HoldsAll(); }
  // Of pushed files.
  uint64_t bytes_max() const;
  // Of these, the part that is free for files that readers bring in by themselves, until it can be dropped.
  uint64_t bytes_aside() const;
  // The uses up to here have room.
  Position End() const;
  // ... and their files are pushed.
  Position PushEnd() const;
  // There is room for a file, beside those on the way, or another one is needed later.
  bool Takes(Position use, uint64_t bytes) const;

 private:
  const PlannerInput& in_;
  const FileStates& files_;
  const ReaderPages& reader_pages_;
};

}  // namespace augur
