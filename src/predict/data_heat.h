// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// DataHeat tells hot data from cold: whether the files that readers open come from memory, so that no prediction can
// save a wait. It compares two counters: files that readers opened, and files that the daemon fetched from a disk or
// decoded, for readers or ahead of them.
//
//   - Cold data turns hot once 64 files were opened in half a second or more, and at most one in 64 was fetched. The
//     wait for one file in 64 costs less than the search for the order does.
//   - Hot data turns cold once 16 files were fetched, beside two a second. No share of the opened files can be told:
//     opens of hot data need not be seen.
//   - Data that turns cold within a minute is partly hot. Each time the half second doubles, up to 32 s, so that such a
//     run is not searched for anew every second.
//
// Not synchronized; no clock: counters and times are handed in. Not for one job among several: the counters are of the
// whole mount.
class DataHeat {
 public:
  static constexpr uint64_t kHotAfterUs = 500'000;
  static constexpr uint64_t kFilesToBeHot = 64;
  static constexpr double kFetchedPart = 1.0 / 64;
  static constexpr double kFetchedToBeCold = 16;
  static constexpr double kFetchedASecond = 2;
  static constexpr uint64_t kLongHotUs = 60'000'000;
  static constexpr uint32_t kDoublingsMax = 6;

  // Both counters only grow.
  struct Counters {
    uint64_t opened = 0;  // a file that is opened and then read may count twice
    double fetched = 0;   // in files: a part of a file may be fetched
  };
  enum class Turn { kNone, kHot, kCold };

  // Takes the counters at `now_us`, of a clock that does not go back, and returns the change. To be called ten times a
  // second or oftener while files are opened: no shorter time can be told apart. At first data is cold.
  Turn Look(uint64_t now_us, const Counters& counters);
  // Data is cold until files that are opened from now on show that it is hot. Not a turn: nothing is doubled.
  void BeginAnew(uint64_t now_us, const Counters& counters);
  bool hot() const { return hot_; }

 private:
  Turn LookWhileCold(uint64_t now_us, const Counters& counters);
  Turn LookWhileHot(uint64_t now_us, const Counters& counters);
  void CountFrom(uint64_t now_us, const Counters& counters);

  bool hot_ = false;
  uint32_t doublings_ = 0;  // of kHotAfterUs
  uint64_t hot_since_us_ = 0;
  // Cold: where the files that may turn out hot begin. Hot: the last look.
  uint64_t since_us_ = 0;
  Counters since_;
  double fetched_ = 0;  // hot: files that count
};

}  // namespace augur
