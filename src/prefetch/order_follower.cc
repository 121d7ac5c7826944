// SPDX-License-Identifier: Apache-2.0
#include "prefetch/order_follower.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace augur {
namespace {

// A recognised pass is queued in pieces of so many files, when fewer than that are left, and of a long one in larger
// ones: the planner goes over all files that it has met when some are added. That takes 0.2 to 0.5 s for a million
// (bench/RESULTS.md), so 1 ms for a piece at most, and with pieces of an eighth 1.6 us (8 * 0.2) for each file that is
// added.
constexpr size_t kSequencePiece = 2048;
constexpr size_t kSequenceGrowth = 8;
// So many reads after the last of all orders end them, whatever of them was not seen to be read: its last files may
// still be read until then (ReaderPositionOptions::lag).
constexpr uint64_t kReadsAfterEnd = 64;
// All of the store is brought when it fits, but not before so many files have been read: a look at a mount is no run.
constexpr uint64_t kReadsToFill = 8;

}  // namespace

OrderFollower::OrderFollower(const Means& means)
    : means_(means),
      path_order_(means.store, means.options.order_bytes_max),
      detector_(
          [this](EntryNumber file, size_t count, Order* files) {
            const Status status = path_order_.Next(file, TreeOrder::kFilesFirst, count, files);
            if (!status.ok()) spdlog::debug("what comes next: {}", status.text());
          },
          means.store->summary().file_count) {}

void OrderFollower::Announce(uint64_t files, bool instead) {
  if (instead) given_files_.store(0, std::memory_order_relaxed);
  given_files_.fetch_add(files, std::memory_order_relaxed);
}

void OrderFollower::Give(const SharedOrder& order, bool instead) {
  if (instead && means_.view.source() == OrderSource::kGiven) ForgetOrders();
  means_.view.turns().orders().Clear();
  Queue(order, OrderSource::kGiven);
}

void OrderFollower::Predict(const SharedOrder& order, uint32_t view, bool anew) {
  if (means_.view.source() == OrderSource::kGiven) return;
  ViewPrefetch* const prefetch = means_.view.prefetch();
  ViewOrders& elsewhere = means_.view.turns().orders();
  if (anew && prefetch != nullptr) prefetch->planner().Clear();
  if (anew) elsewhere.Clear();
  if (prefetch != nullptr) prefetch->EndFill();
  if (view != means_.view.turns().followed() || !elsewhere.empty()) return elsewhere.Add(view, order);
  Queue(order, OrderSource::kPredicted);
}

void OrderFollower::ForgetPredicted() {
  means_.view.turns().orders().Clear();
  if (means_.view.source() == OrderSource::kPredicted) ForgetOrders();
}

void OrderFollower::OnAccess(EntryNumber file) {
  const OrderSource source = means_.view.source();
  const bool predicted = source == OrderSource::kPredicted && !means_.view.prefetch()->AtEnd();
  if (source != OrderSource::kGiven && !predicted) detector_.Observe(file);
}

void OrderFollower::ForgetReads() {
  means_.view.turns().ForgetReads();
  reads_at_end_ = 0;
}

bool OrderFollower::Follow() {
  means_.view.LookAhead();
  if ((full_ || means_.view.turns().turns()) && !BeginAnew()) return false;
  if (means_.view.source() == OrderSource::kGiven && GivenHasEnded()) ForgetOrders();
  if (means_.view.source() != OrderSource::kGiven) FollowPass();
  FillWhenAllFits();
  return true;
}

void OrderFollower::CountGiven() {
  if (means_.view.source() != OrderSource::kGiven) return;
  const PlannerGauges gauges = means_.view.prefetch()->planner().gauges();
  given_files_.store(gauges.end - std::min(gauges.end, gauges.position), std::memory_order_relaxed);
}

void OrderFollower::Queue(const SharedOrder& order, OrderSource source) {
  // It is not told what is read of an order.
  if (source != OrderSource::kPass) detector_.Forget();
  means_.view.Begin().Append(order, source);
}

// What comes is as unknown as before the first order. REQUIRES: there is one.
void OrderFollower::ForgetOrders() {
  means_.view.prefetch()->ForgetOrders();
  given_files_.store(0, std::memory_order_relaxed);
}

// Another view is followed, or the same one with empty tables. False: not yet, since something is still under way.
bool OrderFollower::BeginAnew() {
  const bool given = means_.view.source() == OrderSource::kGiven;
  const std::optional<FollowedView::Orders> orders = means_.view.BeginAnew();
  if (!orders) return false;
  full_ = false;
  for (const auto& [source, order] : *orders) Queue(order, source);
  // A given order may have ended just now.
  if (given && means_.view.source() != OrderSource::kGiven) given_files_.store(0, std::memory_order_relaxed);
  return true;
}

// Whether the given order was read, or is not read at all. REQUIRES: one is followed.
bool OrderFollower::GivenHasEnded() {
  const PlannerGauges gauges = means_.view.prefetch()->planner().gauges();
  const uint64_t reads_seen = means_.view.turns().reads_seen();
  if (gauges.position < gauges.end) reads_at_end_ = reads_seen;
  if (gauges.lost && gauges.epochs_queued > 0) {
    spdlog::warn(
        "the files are not read as 'augurctl hint --order' has said: its {} epochs are forgotten; give the "
        "order again when a run begins anew",
        gauges.epochs_queued);
    means_.statistics.Add(Stat::kOrdersLost, gauges.epochs_queued);
    return true;
  }
  // It has ended; or some of it was not seen to be read, and the reader has gone on to something else.
  return gauges.epochs_queued == 0 || reads_seen - reads_at_end_ >= kReadsAfterEnd;
}

// The planner follows a recognised pass where it knows no order.
void OrderFollower::FollowPass() {
  const bool follows = means_.view.source() == OrderSource::kPass;
  if (!detector_.following()) {
    if (follows) ForgetOrders();
    return;
  }
  size_t met = 0;
  uint64_t table_bytes = 0;
  if (const ViewPrefetch* const prefetch = means_.view.prefetch()) {
    const PlannerGauges gauges = prefetch->planner().gauges();
    if (follows && gauges.end - std::min(gauges.end, gauges.position) >= kSequencePiece) return;
    met = prefetch->planner().files_met();
    table_bytes = prefetch->planner().TableBytes();
  }
  const size_t count = std::max(kSequencePiece, met / kSequenceGrowth);
  // Of a pass over more files than there is memory for, those at its beginning are forgotten.
  full_ = met > 2 * kSequencePiece && table_bytes + count * kBytesPerFileAndRead > means_.options.order_bytes_max;
  if (full_) return;
  Order piece = detector_.Take(count);
  if (!piece.empty()) Queue(std::make_shared<const EpochOrder>(std::move(piece)), OrderSource::kPass);
}

void OrderFollower::FillWhenAllFits() {
  const OrderSource source = means_.view.source();
  if (means_.retained == nullptr || means_.view.turns().reads_seen() < kReadsToFill) return;
  if (source == OrderSource::kGiven || source == OrderSource::kPredicted) return;
  if (means_.view.prefetch() != nullptr && means_.view.prefetch()->filling()) return;
  // A file that must be rendered takes the processors that the reader needs, and he will ask for it himself.
  if (means_.view.turns().followed() != 0) return;
  const StoreSummary& summary = means_.store->summary();
  const uint64_t rounding = summary.file_count * RetainedCache::RoomFor(1);
  const RetainedShare share = RetainedShareNow(means_.options, means_.retained, means_.mount.sink != nullptr);
  if (summary.record_bytes + rounding > share.own_bytes_max) return;
  if (summary.file_count * Planner::kBytesPerFile > means_.options.order_bytes_max) return;
  const Result<std::shared_ptr<const Order>> files = path_order_.Files();
  if (files.ok()) means_.view.Begin().Fill(*files);
}

}  // namespace augur
