// SPDX-License-Identifier: Apache-2.0
#include "prefetch/view_turns.h"

namespace augur {
namespace {

// Reads of another view alone that make it the one that is followed: when the one so far was not read at all, and when
// it was. Of two jobs that take turns by chance, so many come of one in 2^64.
constexpr uint64_t kReadsToBegin = 4;
constexpr uint64_t kReadsToTurn = 64;

}  // namespace

void ViewTurns::Begin(uint32_t view) {
  followed_ = wanted_ = view;
  reads_elsewhere_ = 0;
  reads_at_turn_ = reads_seen_;
}

bool ViewTurns::OnAccess(uint32_t view) {
  if (view == followed_) {
    reads_elsewhere_ = 0;
    ++reads_seen_;
    return true;
  }
  // A reader of another view is followed once it is alone: as long as the one that is followed is read too, it stays.
  if (view != elsewhere_) reads_elsewhere_ = 0;
  elsewhere_ = view;
  const uint64_t enough = reads_seen_ == reads_at_turn_ ? kReadsToBegin : kReadsToTurn;
  if (++reads_elsewhere_ >= enough) wanted_ = view;
  return false;
}

void ViewTurns::LookAhead(bool at_end, bool predicted, bool unknown) {
  if (turns() || !at_end || orders_.empty() || orders_.next_view() == followed_) return;
  if (predicted || (unknown && reads_elsewhere_ > 0)) wanted_ = orders_.next_view();
}

}  // namespace augur
