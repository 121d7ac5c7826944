// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

// Which order it follows.

namespace augur {
namespace {

// A recognised pass is queued in pieces of so many files, when fewer than that are left, and of a long one in larger
// ones: the planner goes over all files that it has met when some are added.
constexpr size_t kSequencePiece = 2048;
constexpr size_t kSequenceGrowth = 8;
constexpr uint64_t kBytesPerFileAndRead = Planner::kBytesPerFile + Planner::kBytesPerRead;
// So many reads after the last of all orders end them, whatever of them was not seen to be read.
constexpr uint64_t kReadsAfterEnd = 64;
// All of the store is brought when it fits, but not before so many files have been read: a look at a mount is no run.
constexpr uint64_t kReadsToFill = 8;

}  // namespace

void Prefetcher::Queue(const Order& order, Source source) {
  Planner& plan = planner();
  if (source_ != Source::kNothing && source != source_) {
    plan.Clear();
    filling_ = false;
  }
  source_ = source;
  // It is not told what is read of an order.
  if (source != Source::kSequence) detector_.Forget();
  plan.Append(order);
  statted_.clear();
  std::vector<EntryNumber> folders;
  for (const EntryNumber file : order) {
    if (!probed_.insert(file).second) continue;
    const Result<ViewFile> shown = Shown(file);
    if (!shown.ok()) continue;
    const auto folder = static_cast<EntryNumber>(shown->entry.parent);
    if (watched_.insert(folder).second) folders.push_back(folder);
    if (kept_ && kept_->Contains(*shown)) plan.Keeps(file);
  }
  Watch(folders);
  TakeReadUnknown(order);
  if (kept_) EvictUnknownAhead();
}

// What was read before it was known to be read again need not be brought again.
void Prefetcher::TakeReadUnknown(const Order& files) {
  if (read_unknown_.empty()) return;
  for (const EntryNumber file : files) {
    if (read_unknown_[file]) planner_->WasRead(file);
    read_unknown_[file] = false;
  }
}

// What comes is as unknown as before the first order.
void Prefetcher::ForgetOrders() {
  planner_->Clear();
  filling_ = false;
  source_ = Source::kNothing;
  order_files_.store(0, std::memory_order_relaxed);
}

// Whether an order that the OrderPredictor has found is still to be read.
bool Prefetcher::FollowsFound() const {
  if (source_ != Source::kPredicted) return false;
  const PlannerGauges gauges = planner_->gauges();
  return gauges.position < gauges.end;
}

// The planner follows a recognised pass where it knows no order.
void Prefetcher::FollowSequence() {
  if (source_ == Source::kOrder) {
    const PlannerGauges gauges = planner_->gauges();
    if (gauges.position < gauges.end) reads_at_end_ = reads_seen_;
    if (gauges.lost && gauges.epochs_queued > 0) {
      spdlog::warn(
          "the files are not read as 'augurctl hint --order' has said: its {} epochs are forgotten; give the "
          "order again when a run begins anew",
          gauges.epochs_queued);
      statistics_.Add(Stat::kOrdersLost, gauges.epochs_queued);
    } else if (gauges.epochs_queued > 0 && reads_seen_ - reads_at_end_ < kReadsAfterEnd) {
      return;
    }
    // It has ended; or some of it was not seen to be read, and the reader has gone on to something else.
    ForgetOrders();
  }
  if (!detector_.following()) {
    if (source_ == Source::kSequence) ForgetOrders();
    return;
  }
  if (planner_ && source_ == Source::kSequence) {
    const PlannerGauges gauges = planner_->gauges();
    if (gauges.end - std::min(gauges.end, gauges.position) >= kSequencePiece) return;
  }
  const size_t met = planner_ ? planner_->files_met() : 0;
  const size_t count = std::max(kSequencePiece, met / kSequenceGrowth);
  // Of a pass over more files than there is memory for, those at its beginning are forgotten.
  full_ = met > 2 * kSequencePiece && planner_->TableBytes() + count * kBytesPerFileAndRead > options_.order_bytes_max;
  if (full_) return;
  const Order piece = detector_.Take(count);
  if (!piece.empty()) Queue(piece, Source::kSequence);
}

void Prefetcher::FillWhenAllFits() {
  if (filling_ || !kept_ || reads_seen_ < kReadsToFill || source_ == Source::kOrder || source_ == Source::kPredicted) {
    return;
  }
  // What must be made takes the processors that the reader needs, and he will ask for it himself.
  if (shown_view_ != 0) return;
  const uint64_t rounding = store_->summary().file_count * RetainedCache::RoomFor(1);
  if (store_->summary().record_bytes + rounding > KeptMax()) return;
  if (store_->summary().file_count * Planner::kBytesPerFile > options_.order_bytes_max) return;
  const Result<std::shared_ptr<const Order>> files = path_order_.Files();
  if (!files.ok()) return;
  filling_ = true;
  filled_ = *files;
  planner().Fill(**files);
  TakeReadUnknown(**files);
  for (const EntryNumber file : **files) {
    const Result<ViewFile> shown = Shown(file);
    if (shown.ok() && kept_->Contains(*shown)) planner_->Keeps(file);
  }
}

// What was found out gives way to what was given. What is read in another view, and what comes behind that, waits until
// that one is followed.
void Prefetcher::Predict(Order order, uint32_t view, bool anew) {
  events_.Post([this, view, anew, files = std::make_shared<Order>(std::move(order))] {
    if (source_ == Source::kOrder) return;
    if (anew && planner_) planner_->Clear();
    if (anew) elsewhere_orders_.Clear();
    filling_ = false;
    if (view != shown_view_ || !elsewhere_orders_.empty()) return elsewhere_orders_.Add(view, std::move(*files));
    Queue(*files, Source::kPredicted);
  });
}

void Prefetcher::ForgetPredicted() {
  events_.Post([this] {
    elsewhere_orders_.Clear();
    if (source_ == Source::kPredicted) ForgetOrders();
  });
}

void Prefetcher::NeedOpens(bool needed) {
  events_.Post([this, needed] { opens_needed_ = needed; });
}

uint64_t Prefetcher::PredictedFilesMax() const {
  // Where not all files of the store have room in the tables, each read may be of another one.
  const uint64_t tables = store_->summary().file_count * Planner::kBytesPerFile;
  const uint64_t each = options_.order_bytes_max / kBytesPerFileAndRead;
  const uint64_t rest = options_.order_bytes_max - std::min(options_.order_bytes_max, tables);
  return std::max(each, rest / Planner::kBytesPerRead);
}

uint64_t Prefetcher::OrderFilesMax(Place place) const {
  const uint64_t files_max = PredictedFilesMax();
  if (place == Place::kInstead) return files_max;
  return files_max - std::min(files_max, order_files_.load(std::memory_order_relaxed));
}

Status Prefetcher::AddOrder(Order order, Place place) {
  const uint64_t files_max = OrderFilesMax(place);
  if (order.size() > files_max) {
    return {Code::kNoSpace, std::to_string(order.size()) + " files are more than the memory for orders holds (" +
                                std::to_string(files_max) + "): raise memory="};
  }
  if (place == Place::kInstead) order_files_.store(0, std::memory_order_relaxed);
  order_files_.fetch_add(order.size(), std::memory_order_relaxed);
  statistics_.Add(Stat::kOrdersAccepted, 1);
  events_.Post([this, place, files = std::make_shared<const Order>(std::move(order))] {
    if (place == Place::kInstead && source_ == Source::kOrder) ForgetOrders();
    elsewhere_orders_.Clear();
    Queue(*files, Source::kOrder);
  });
  return Status::Ok();
}

}  // namespace augur
