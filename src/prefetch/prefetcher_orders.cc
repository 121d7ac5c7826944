// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

// Which order it follows, and of which view.

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
// Reads of another view alone that make it the one that is followed: when the one so far was not read at all, and when
// it was. Of two jobs that take turns by chance, so many come of one in 2^64.
constexpr uint64_t kReadsToBegin = 4;
constexpr uint64_t kReadsToTurn = 64;
// Files whose mean stands for all.
constexpr uint64_t kMeanOf = 256;

}  // namespace

Result<ShownFile> Prefetcher::Shown(EntryNumber file) const {
  if (views_ != nullptr) return views_->Show(shown_view_, file);
  AUGUR_TRY_ASSIGN(entry, store_->Get(file));
  return ShownFile::Original(entry);
}

FilePlace Prefetcher::PlaceOf(EntryNumber number) const {
  const Result<ShownFile> file = Shown(number);
  if (!file.ok()) return {};
  const Entry& entry = file->entry;
  if (entry.type != EntryType::kFile || entry.shard == kNoShard) return {};
  return {.shard = entry.shard,
          .offset = entry.offset,
          .record_bytes = entry.size,
          .bytes = file->size,
          .made = file->made};
}

// Of the files of the view, about.
uint64_t Prefetcher::MeanBytes() {
  const StoreSummary& summary = store_->summary();
  if (shown_view_ == 0) return summary.tree_bytes / std::max<uint64_t>(1, summary.file_count) + 1;
  if (mean_bytes_ > 0) return mean_bytes_;
  uint64_t files = 0;
  uint64_t bytes = 0;
  const uint64_t step = std::max<uint64_t>(1, summary.entry_count / kMeanOf);
  for (uint64_t number = 0; number < summary.entry_count; number += step) {
    const uint64_t size = PlaceOf(static_cast<EntryNumber>(number)).bytes;
    bytes += size;
    if (size > 0) ++files;
  }
  mean_bytes_ = bytes / std::max<uint64_t>(1, files) + 1;
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

// Forgets all files that were met, and leaves the view that was followed for the wanted one: what was pushed is
// dropped, and what is foreseen is foreseen of that one's files. False: not yet, since something is still under way.
bool Prefetcher::BeginAnew() {
  if (Busy()) return false;
  std::vector<Order> orders;
  if (planner_) {
    const std::vector<EntryNumber> stocked = planner_->TakeStocked();
    DropPages(stocked);
    if (!stocked.empty()) return false;
    orders = planner_->Rest();
  }
  planner_.reset();
  held_.clear();
  fetched_ = {};
  probed_.clear();
  filled_.reset();
  read_unknown_.clear();
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
  const bool turns = wanted_view_ != shown_view_;
  if (turns) ShowView(wanted_view_);
  // A pass is recognised in one view only; and an order may have ended just now.
  const Source source = std::exchange(source_, Source::kNothing);
  if (source == Source::kSequence && turns) return true;
  for (const Order& order : orders) Queue(order, source);
  if (source == Source::kOrder && orders.empty()) order_files_.store(0, std::memory_order_relaxed);
  return true;
}

void Prefetcher::Queue(const Order& order, Source source) {
  Planner& plan = planner();
  if (source_ != Source::kNothing && source != source_) {
    plan.Clear();
    filling_ = false;
  }
  source_ = source;
  plan.Append(order);
  statted_.clear();
  std::vector<EntryNumber> folders;
  for (const EntryNumber file : order) {
    if (!probed_.insert(file).second) continue;
    const Result<ShownFile> shown = Shown(file);
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
  if (filling_ || !kept_ || reads_seen_ < kReadsToFill || source_ == Source::kOrder || source_ == Source::kForeseen) {
    return;
  }
  // What must be made takes the processors that the reader needs, and he will ask for it himself.
  if (shown_view_ != 0) return;
  const uint64_t rounding = store_->summary().file_count * Warehouse::RoomFor(1);
  if (store_->summary().record_bytes + rounding > KeptMax()) return;
  if (store_->summary().file_count * Planner::kBytesPerFile > options_.order_bytes_max) return;
  const Result<std::shared_ptr<const Order>> files = path_order_.Files();
  if (!files.ok()) return;
  filling_ = true;
  filled_ = *files;
  planner().Fill(**files);
  TakeReadUnknown(**files);
  for (const EntryNumber file : **files) {
    const Result<ShownFile> shown = Shown(file);
    if (shown.ok() && kept_->Contains(*shown)) planner_->Keeps(file);
  }
}

// What was found out gives way to what was given.
void Prefetcher::Foresee(Order order, bool anew) {
  Post([this, anew, files = std::make_shared<const Order>(std::move(order))] {
    if (source_ == Source::kOrder) return;
    if (anew && planner_) planner_->Clear();
    filling_ = false;
    Queue(*files, Source::kForeseen);
  });
}

void Prefetcher::ForgetForeseen() {
  Post([this] {
    if (source_ == Source::kForeseen) ForgetOrders();
  });
}

uint64_t Prefetcher::ForeseenFilesMax() const {
  // Where not all files of the store have room in the tables, each read may be of another one.
  const uint64_t tables = store_->summary().file_count * Planner::kBytesPerFile;
  const uint64_t each = options_.order_bytes_max / kBytesPerFileAndRead;
  const uint64_t rest = options_.order_bytes_max - std::min(options_.order_bytes_max, tables);
  return std::max(each, rest / Planner::kBytesPerRead);
}

uint64_t Prefetcher::OrderFilesMax(Place place) const {
  const uint64_t files_max = ForeseenFilesMax();
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
  Post([this, place, files = std::make_shared<const Order>(std::move(order))] {
    if (place == Place::kInstead && source_ == Source::kOrder) ForgetOrders();
    Queue(*files, Source::kOrder);
  });
  return Status::Ok();
}

}  // namespace augur
