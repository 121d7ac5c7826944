// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "prefetch/prefetcher.h"

// Which view of the mount it follows.

namespace augur {
namespace {

// Reads of another view alone that make it the one that is followed: when the one so far was not read at all, and when
// it was. Of two jobs that take turns by chance, so many come of one in 2^64.
constexpr uint64_t kReadsToBegin = 4;
constexpr uint64_t kReadsToTurn = 64;
// Files whose mean stands for all.
constexpr uint64_t kMeanOf = 256;

}  // namespace

Result<ViewFile> Prefetcher::ResolveInView(uint32_t view, EntryNumber file) const {
  if (views_ != nullptr) return views_->Show(view, file);
  AUGUR_TRY_ASSIGN(entry, store_->Get(file));
  return ViewFile::Original(entry);
}

FilePlace Prefetcher::PlaceIn(uint32_t view, EntryNumber number) const {
  const Result<ViewFile> file = ResolveInView(view, number);
  if (!file.ok()) return {};
  const Entry& entry = file->entry;
  if (entry.type != EntryType::kFile || entry.shard == kNoShard) return {};
  return {.shard = entry.shard,
          .offset = entry.offset,
          .record_bytes = entry.size,
          .bytes = file->size,
          .made = file->made};
}

// Of the files of a view, about.
uint64_t Prefetcher::MeanBytesOf(uint32_t view) const {
  const StoreSummary& summary = store_->summary();
  if (view == 0) return summary.tree_bytes / std::max<uint64_t>(1, summary.file_count) + 1;
  uint64_t files = 0;
  uint64_t bytes = 0;
  const uint64_t step = std::max<uint64_t>(1, summary.entry_count / kMeanOf);
  for (uint64_t number = 0; number < summary.entry_count; number += step) {
    const uint64_t size = PlaceIn(view, static_cast<EntryNumber>(number)).bytes;
    bytes += size;
    if (size > 0) ++files;
  }
  return bytes / std::max<uint64_t>(1, files) + 1;
}

uint64_t Prefetcher::MeanBytes() {
  if (mean_bytes_ == 0) mean_bytes_ = MeanBytesOf(shown_view_);
  return mean_bytes_;
}

void Prefetcher::ShowView(uint32_t view) {
  shown_view_ = wanted_view_ = view;
  mean_bytes_ = 0;
  const std::string spec = views_->SpecOf(view);
  if (sink_ != nullptr) sink_->Show(view);
  if (view_ != nullptr) view_->Show(view, spec, view == views_->RootView());
  const MutexLock lock(mu_);
  spec_ = spec;
}

// A reader of another view is followed once it is alone: as long as the one that is followed is read too, it stays.
void Prefetcher::SawElsewhere(uint32_t view) {
  if (view != elsewhere_) reads_elsewhere_ = 0;
  elsewhere_ = view;
  const uint64_t enough = reads_seen_ == reads_at_turn_ ? kReadsToBegin : kReadsToTurn;
  if (++reads_elsewhere_ >= enough) wanted_view_ = view;
}

// Whether what is read next is predicted of another view: the order of this one has been read to its end, or nothing is
// known of this one and it is not read now.
bool Prefetcher::ReadElsewhereNext() const {
  if (elsewhere_orders_.empty() || elsewhere_orders_.next_view() == shown_view_) return false;
  if (planner_) {
    const PlannerGauges now = planner_->gauges();
    if (now.position < now.end) return false;
  }
  return source_ == Source::kPredicted || (source_ == Source::kNothing && reads_elsewhere_ > 0);
}

// What the page cache has of the view that is followed and is read no longer, about, in bytes.
uint64_t Prefetcher::ThereBytes() {
  uint64_t bytes = static_cast<uint64_t>(std::ranges::count(read_unknown_, true)) * Planner::MeanPages(MeanBytes());
  if (planner_) {
    const PlannerGauges now = planner_->gauges();
    bytes += now.stock_bytes + now.left_bytes;
  }
  return bytes;
}

// Whether the page cache has room for that, and for what other views have there, beside all files of the wanted one.
bool Prefetcher::HasRoomBeside(uint64_t there_bytes) const {
  if (sink_ == nullptr || !options_.left_bytes_max) return false;
  const uint64_t all = store_->summary().file_count * Planner::MeanPages(MeanBytesOf(wanted_view_));
  return inactive_pages_.BytesBeside(wanted_view_) + there_bytes + all <= options_.left_bytes_max();
}

// Forgets all files that were met, and leaves the view that was followed for the wanted one: what was pushed is
// dropped, but where there is room for both it stays for when that view is read again; and what is predicted is
// predicted of the wanted one's files. False: not yet, since something is still under way.
bool Prefetcher::BeginAnew() {
  if (Busy()) return false;
  const bool turns = wanted_view_ != shown_view_;
  const uint32_t left_view = shown_view_;
  const uint64_t there_bytes = ThereBytes();
  const bool stays = turns && there_bytes > 0 && HasRoomBeside(there_bytes);
  std::vector<Order> orders;
  if (planner_) {
    const std::vector<EntryNumber> stocked = planner_->TakeStocked();
    if (!stays) {
      DropPages(stocked);
      if (!stocked.empty()) return false;
    }
    if (stays && read_unknown_.empty()) read_unknown_.resize(store_->summary().entry_count);
    for (const EntryNumber file : stocked) read_unknown_[file] = true;
    orders = planner_->Rest();
  }
  if (stays) inactive_pages_.Put(left_view, std::move(read_unknown_), there_bytes);
  planner_.reset();
  held_.clear();
  fetched_ = {};
  probed_.clear();
  filled_.reset();
  read_unknown_ = {};
  all_known_us_ = 0;
  watched_.clear();
  statted_.clear();
  to_stat_.clear();
  unknown_.clear();
  filling_ = full_ = names_unknown_ = false;
  sight_known_ = false;
  reads_elsewhere_ = 0;
  reads_at_turn_ = reads_seen_;
  room_asked_us_ = 0;
  const Source source = std::exchange(source_, Source::kNothing);
  if (turns) {
    ShowView(wanted_view_);
    read_unknown_ = inactive_pages_.Take(shown_view_);
    if (source == Source::kPredicted) {
      elsewhere_orders_.AddInFront(left_view, std::exchange(orders, {}));
    } else if (source == Source::kSequence) {
      orders.clear();  // a pass is recognised in one view only
    }
  }
  for (const Order& order : orders) Queue(order, source);
  // An order may have ended just now.
  if (source == Source::kOrder && orders.empty()) order_files_.store(0, std::memory_order_relaxed);
  if (turns) {
    for (const Order& order : elsewhere_orders_.Take(shown_view_)) Queue(order, Source::kPredicted);
  }
  return true;
}

}  // namespace augur
