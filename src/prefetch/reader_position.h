// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "prefetch/neighbour_reads.h"
#include "prefetch/read_schedule.h"

namespace augur {

// How far readers may be apart from each other, counted in files.
struct ReaderPositionOptions {
  // The least `lag`: two workers read at the same time, so the first file of two may still be read.
  static constexpr uint32_t kLagMin = 2;

  // Worker processes of one loader read batches in turn. So the reads of an epoch come in an order that differs from
  // the epoch's by up to workers * files that each has ahead. 16 workers with 2 batches of 32 each are 1,024.
  uint32_t spread_max = 1024;
  // A file counts as read when the reader is this many further, though it was never seen: its open was not reported.
  uint32_t unseen_max = 1024;
  // A file that was seen counts as read when the reader is this many further: it may still be reading it.
  uint32_t lag = 64;
  // The front moves when this many reads were seen at or after it, so that another program that happens to read files
  // ahead of it does not move it. 1 where only few reads are seen at all.
  uint32_t support = 4;
  // Only this many of the last reads may support each other; 0: all. Where some of the reads that are seen are the
  // kernel's readahead, those far ahead of the front are forgotten so.
  uint32_t support_of = 0;
  // Of the last 16 reads elsewhere, this many beside each other are a reader who has jumped there.
  uint32_t strays_to_jump = 8;
  // Opens are seen. Then a READ elsewhere does not say that the reader is there: who maps his files touches pages of
  // files that he opened long ago.
  bool opens = false;

  // Of samples in archives; the prefetch has memory for `files_in_memory` of them. All reads are seen but those that
  // the page cache serves; some that are seen are the kernel's.
  static ReaderPositionOptions OfArchives(uint64_t files_in_memory);
};

// ReaderPosition follows the readers through a schedule: which positions have been read, and where the front is. Not
// synchronized, no clock. Reads outside of the schedule's near future are not taken for progress, unless they go on.
// Then the reader has jumped (a restart, a resume in mid-epoch), and the front jumps after it.
class ReaderPosition {
 public:
  using Options = ReaderPositionOptions;
  enum class Kind {
    kNew,      // a read of the coming ones
    kOld,      // seen before, or behind: the same reader again
    kForeign,  // not of this schedule's near future
    kJump,     // the front has moved elsewhere: everything that was computed from it must be computed anew
  };
  // How an access fits the schedule.
  struct Match {
    Kind kind = Kind::kForeign;
    Position position = kNever;  // of the read, when kNew or kJump
    bool first_miss = false;     // it is the first one of this use that was `missed`
  };

  ReaderPosition(const ReadSchedule& schedule, Options options) : schedule_(schedule), options_(options) {}

  const Options& options() const { return options_; }
  void SetOptions(const Options& options) { options_ = options; }

  // A file of the schedule was opened; `missed`: or read.
  Match OnAccess(Slot slot, bool missed = false);
  // Puts the front to the beginning of the schedule, when the schedule was empty before.
  void Restart(Position begin);

  // The reader has passed everything before `tail`; `front` is where it will read next, about.
  Position tail() const { return tail_; }
  // What may yet be told of lies at or after this: the open of a READ that was told before it, or the other way round.
  Position base() const { return base_; }
  Position front() const { return front_; }
  // The positions that the reader is done with since the last call, each once: those seen when the front is `lag`
  // further, the others when the tail passes them. After a jump or a restart: without those that were passed before it.
  std::vector<Position> TakePassed() { return std::exchange(passed_, {}); }
  // True for positions before the tail, and for those seen.
  bool WasRead(Position position) const;
  // The schedule's files are read, but not in its order. Never, where only few reads are seen at all (`support` is 1):
  // of them none are neighbours.
  bool lost() const { return options_.support > 1 && neighbour_reads_.lost(); }
  // True for a file that was seen and not yet passed: TakePassed will tell it.
  bool IsBeingRead(Slot slot) const;

 private:
  // Reads elsewhere that are remembered. Eight of 16 lie in a sixteenth of an epoch by chance once in 65,000 reads;
  // eight of 32 would once in 400.
  static constexpr size_t kStrays = 16;

  // How a read was seen, a bit each.
  static constexpr uint8_t kByOpen = 1;
  static constexpr uint8_t kByRead = 2;
  static constexpr uint8_t kNotPassed = 4;  // it is in recent_

  uint8_t HowSeen(Position position) const;
  void Mark(Position position, uint8_t how);
  void MarkBeside(Position position, uint8_t how);
  void MarkRecent(Position position, uint8_t how, Position front);
  void FollowReads();
  void ForgetChance(Position epoch_reads);
  void Advance();
  const ReadSchedule::Epoch& FrontsEpoch() const;
  bool Together(Position one, Position other) const;
  bool InReach(Position position) const;
  Match MatchHere(Slot slot, bool missed);
  Match Stray(Slot slot, bool missed);
  bool JumpNear(Position position, bool missed);
  void JumpTo(const std::vector<Position>& read, bool missed);
  std::vector<Position> FindReader(EntryNumber last) const;

  const ReadSchedule& schedule_;
  Options options_;
  // Not after the tail nor any of recent_; where opens are seen, up to `spread_max` before the tail.
  Position base_ = 0;
  Position tail_ = 0;
  Position front_ = 0;
  // One for each read that was seen and is not yet passed, by where the front was at least.
  std::priority_queue<std::pair<Position, Position>, std::vector<std::pair<Position, Position>>, std::greater<>>
      recent_;
  std::vector<Position> passed_;
  // How, of the positions from base_ on: no more than twice `spread_max`, `unseen_max` and `lag` together.
  std::deque<uint8_t> seen_;
  // Seen at or after the front, fewer than `support`; and how many reads of the schedule were seen before each.
  std::vector<std::pair<Position, uint64_t>> in_front_;
  uint64_t seen_reads_ = 0;
  double chance_ = 0;                                      // of those, how many are to be forgotten as a stranger's
  std::array<std::array<Position, 2>, kStrays> strays_{};  // in the front's epoch, and in the one after it
  size_t stray_count_ = 0;
  NeighbourReads neighbour_reads_;
};

}  // namespace augur
