// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cache/record_cache.h"
#include "control/statistics.h"
#include "prefetch/fetched_files.h"
#include "prefetch/view_files.h"

namespace augur {

// StagedFiles holds the bytes of files that were read and are not yet pushed or kept, and counts the bytes that were
// read for nothing. Not synchronized. REQUIRES: what it is given outlives it.
class StagedFiles {
 public:
  StagedFiles(const ViewFiles& files, Statistics& statistics) : files_(files), statistics_(statistics) {}
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  void Hold(EntryNumber file, std::vector<BlockRef> blocks) { held_[file] = std::move(blocks); }
  bool Holds(EntryNumber file) const { return held_.contains(file); }
  // None: it is not held.
  std::vector<BlockRef> BlocksOf(EntryNumber file) const;
  std::vector<BlockRef> Take(EntryNumber file);
  void Release(EntryNumber file) { held_.erase(file); }

  // A read for the file has begun, which a READ joins; or it has not, as another one was there before it
  // (FetchedFiles).
  void Begun(EntryNumber file) { fetched_.Begun(file); }
  void Unjoined(EntryNumber file) { fetched_.Unjoined(file); }
  // The bytes of the file have come.
  void Fetched(EntryNumber file) { fetched_.Fetched(file); }
  void Pushed(EntryNumber file, uint64_t now_us) { fetched_.Pushed(file, now_us); }
  // The file was opened or, when the page cache did not have it, read (`missed`).
  void Used(EntryNumber file, bool missed, uint64_t now_us);
  // The page cache has it no longer. `opens_seen`: else a pushed file has likely been read.
  void Dropped(EntryNumber file, bool opens_seen, uint64_t now_us);
  // The retained cache does not have it, or no longer. When it is not held either, it may have been read for nothing.
  void LetGo(EntryNumber file);
  // Counts the files that were dropped so long ago that their opens would have been told.
  void CountUnopened(uint64_t now_us);

 private:
  void CountWasted(EntryNumber file);

  const ViewFiles& files_;
  Statistics& statistics_;
  std::unordered_map<EntryNumber, std::vector<BlockRef>> held_;
  FetchedFiles fetched_;
};

}  // namespace augur
