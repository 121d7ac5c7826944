// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "prefetch/planned_files.h"
#include "prefetch/view_files.h"
#include "prefetch/view_prefetch.h"
#include "prefetch/view_turns.h"

namespace augur {

// FollowedView is the view of the mount that is followed now. It leaves that view for another one when ViewTurns says
// so, and when nothing is under way. Used by the planning thread only. REQUIRES: what it is given outlives it.
class FollowedView {
 public:
  using Orders = std::vector<std::pair<OrderSource, SharedOrder>>;

  explicit FollowedView(const ViewPrefetch::Means& means) : means_(means) {}
  FollowedView(const FollowedView&) = delete;
  FollowedView& operator=(const FollowedView&) = delete;

  // Follows the view that the root of the mount shows. Once, before the others.
  void Start();
  // Leaves nothing. REQUIRES: not busy.
  void Stop() { prefetch_.reset(); }

  ViewTurns& turns() { return turns_; }
  const ViewFiles& files() const { return *files_; }
  // nullptr: no order is known yet.
  ViewPrefetch* prefetch() const { return prefetch_.get(); }
  OrderSource source() const { return prefetch_ ? prefetch_->source() : OrderSource::kNothing; }
  // The first order has come: begins the prefetch when there is none.
  ViewPrefetch& Begin();
  bool busy() const { return prefetch_ && prefetch_->busy(); }

  // Wants the view that is read next, when that is known to be another.
  void LookAhead();
  // Forgets all files that were met, and leaves the view that was followed for the wanted one. The pushed files are
  // dropped from the page cache, once; where it has room for both views they stay there, since readers may come back.
  // Returns the orders that are to be followed now. Nothing: not yet, since something is still under way.
  std::optional<Orders> BeginAnew();

 private:
  void SelectView(uint32_t view);
  uint64_t CachedBytes();
  bool HasRoomBeside(uint64_t cached_bytes);

  // Constant after construction.
  const ViewPrefetch::Means means_;

  ViewTurns turns_;
  std::unique_ptr<ViewFiles> files_;
  std::unique_ptr<ViewPrefetch> prefetch_;
  // Whether BeginAnew has had the pushed files dropped. Pages that come after that were brought by a reader of the view
  // that is left. They are the kernel's to take: a reader who goes on would bring them again as fast as they are
  // dropped, without an end.
  bool dropped_ = false;
};

}  // namespace augur
