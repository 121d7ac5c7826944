// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "augur/store.h"
#include "control/statistics.h"
#include "predict/data_heat.h"
#include "readers/access.h"

namespace augur {

// HotDataPause pauses the prediction while all files come from memory. It compares the accesses with the files that the
// daemon fetched (DataHeat). It keeps the last accesses of a pause: for the first job that reads from the disk they are
// its beginning.
//
// Not synchronized; no clock. Memory: kKeptMax accesses. REQUIRES: `statistics` outlives it.
class HotDataPause {
 public:
  // 64 reads of each of 64 streams: of a stream no more is compared with a candidate. 98 KB.
  static constexpr size_t kKeptMax = 4096;
  // Data turns cold by 16 fetched files beside two a second (DataHeat): within 8 s where four a second are fetched. Of
  // a slower beginning the first reads are let go.
  static constexpr uint64_t kKeptUs = 8'000'000;

  // `fetched_files`: made up in tests; empty: by the statistics.
  HotDataPause(const StoreSummary& summary, const Statistics& statistics, std::function<double()> fetched_files);

  // This number of accesses came.
  void Count(uint64_t accesses) { accesses_ += accesses; }
  // Whether the data has turned hot or cold since the last call.
  DataHeat::Turn Look(uint64_t now_us);
  bool hot() const { return heat_.hot(); }
  // An order was followed until now: files came from memory because they were read ahead, and say nothing of the next.
  void BeginAnew(uint64_t now_us) { heat_.BeginAnew(now_us, Counted()); }

  bool paused() const { return paused_; }
  void Begin() { paused_ = true; }
  // An access in the pause.
  void Keep(const Access& access);
  // Returns the kept accesses of the last kKeptUs.
  std::vector<Access> End(uint64_t now_us);

 private:
  double FetchedFiles() const;
  DataHeat::Counters Counted() const { return {.opened = accesses_, .fetched = FetchedFiles()}; }

  // Constant after construction.
  const Statistics& statistics_;
  const std::function<double()> fetched_files_;
  const double file_bytes_;  // of a file of the mean size

  DataHeat heat_;
  uint64_t accesses_ = 0;
  bool paused_ = false;
  std::deque<Access> kept_;  // the last kKeptMax of a pause
};

}  // namespace augur
