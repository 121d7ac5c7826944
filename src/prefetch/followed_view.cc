// SPDX-License-Identifier: Apache-2.0
#include "prefetch/followed_view.h"

#include <string>

namespace augur {

void FollowedView::Start() {
  if (means_.mount.views != nullptr) return SelectView(means_.mount.views->RootView());
  files_ = std::make_unique<ViewFiles>(means_.store, nullptr, 0);
}

ViewPrefetch& FollowedView::Begin() {
  if (!prefetch_) prefetch_ = std::make_unique<ViewPrefetch>(means_, *files_);
  return *prefetch_;
}

void FollowedView::LookAhead() {
  const bool at_end = !prefetch_ || prefetch_->AtEnd();
  turns_.LookAhead(at_end, source() == OrderSource::kPredicted, source() == OrderSource::kNothing);
}

// REQUIRES: the mount has views, and there is no prefetch.
void FollowedView::SelectView(uint32_t view) {
  const PrefetchMount& mount = means_.mount;
  files_ = std::make_unique<ViewFiles>(means_.store, mount.views, view);
  turns_.Begin(view);
  const std::string spec = mount.views->SpecOf(view);
  if (mount.sink != nullptr) mount.sink->SelectView(view);
  if (mount.view != nullptr) mount.view->SelectView(view, spec, view == mount.views->RootView());
  means_.status.SetView(spec);
}

// What the page cache has of the view that is followed and is read no longer, about, in bytes.
uint64_t FollowedView::CachedBytes() {
  uint64_t bytes = means_.unplanned.files() * files_->MeanPages();
  if (prefetch_) {
    const PlannerGauges now = prefetch_->planner().gauges();
    bytes += now.push_window_bytes + now.reusable_bytes;
  }
  return bytes;
}

// Whether the page cache has room for that, and for what other views have there, beside all files of the wanted one.
bool FollowedView::HasRoomBeside(uint64_t cached_bytes) {
  if (means_.mount.sink == nullptr || !means_.options.reusable_bytes_max) return false;
  const uint64_t all = ViewFiles(means_.store, means_.mount.views, turns_.wanted()).AllPages();
  return means_.unplanned.BytesBeside(turns_.wanted()) + cached_bytes + all <= means_.options.reusable_bytes_max();
}

std::optional<FollowedView::Orders> FollowedView::BeginAnew() {
  if (busy()) return std::nullopt;
  const uint32_t left_view = turns_.followed();
  const uint64_t cached_bytes = CachedBytes();
  const bool stays = turns_.turns() && cached_bytes > 0 && HasRoomBeside(cached_bytes);
  const OrderSource from = source();
  std::vector<SharedOrder> rest;
  if (prefetch_) {
    const std::vector<EntryNumber> pushed = prefetch_->planner().TakePushed();
    if (!stays && !pushed.empty() && !dropped_) {
      dropped_ = true;
      prefetch_->pages().Drop(pushed);
      return std::nullopt;
    }
    for (const EntryNumber file : pushed) means_.unplanned.Add(file);
    rest = prefetch_->planner().Rest();
  }
  if (stays) means_.unplanned.Suspend(left_view, cached_bytes);
  means_.unplanned.Forget();
  means_.folders.Clear();
  prefetch_.reset();
  dropped_ = false;

  Orders orders;
  const auto add = [&orders](OrderSource source, const std::vector<SharedOrder>& of_source) {
    for (const auto& order : of_source) orders.emplace_back(source, order);
  };
  if (!turns_.turns()) {
    turns_.Begin(left_view);
    add(from, rest);
    return orders;
  }
  SelectView(turns_.wanted());
  means_.unplanned.Resume(turns_.followed());
  // What is predicted is predicted of the files of the view that was left. A pass is recognised in one view only.
  if (from == OrderSource::kPredicted) {
    turns_.orders().AddInFront(left_view, std::move(rest));
  } else if (from == OrderSource::kGiven) {
    add(from, rest);
  }
  add(OrderSource::kPredicted, turns_.orders().Take(turns_.followed()));
  return orders;
}

}  // namespace augur
