// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <deque>
#include <future>
#include <utility>

#include "base/thread.h"
#include "prefetch/steady_time.h"

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

Prefetcher::Prefetcher(std::shared_ptr<const Store> store, ShardSource& shards, RecordCache& cache,
                       RetainedCache* retained_cache, Statistics& statistics, const PrefetcherOptions& options)
    : store_(std::move(store)),
      shards_(shards),
      statistics_(statistics),
      options_(options),
      kept_(retained_cache != nullptr ? std::make_unique<KeptBlocks>(*store_, *retained_cache) : nullptr),
      chunks_(options.chunk_bytes),
      path_order_(store_, options.order_bytes_max),
      events_(options.hints_max),
      status_(statistics),
      detector_(
          [this](EntryNumber file, size_t count, Order* files) {
            const Status status = path_order_.Next(file, TreeOrder::kFilesFirst, count, files);
            if (!status.ok()) spdlog::debug("what comes next: {}", status.text());
          },
          store_->summary().file_count),
      unplanned_(store_->summary().entry_count),
      pusher_(
          kept_.get(),
          [this](PushQueue::Push push, PushOutcome outcome, bool lost) {
            events_.Post([this, push = std::move(push), outcome, lost] {
              view_.prefetch()->pages().OnPushed(push, outcome, lost);
            });
          },
          [this](EntryNumber file) { events_.Post([this, file] { view_.prefetch()->pages().OnDropped(file); }); }),
      keep_thread_(kept_ ? std::make_unique<KeepThread>(*kept_) : nullptr),
      view_({.store = *store_,
             .shards = shards,
             .cache = cache,
             .statistics = statistics_,
             .options = options_,
             .mount = mount_,
             .memory = chunks_,
             .kept = kept_.get(),
             .keep_thread = keep_thread_.get(),
             .pusher = pusher_,
             .disk = disk_,
             .events = events_,
             .folders = folders_,
             .unplanned = unplanned_,
             .status = status_}) {}

Prefetcher::~Prefetcher() { Stop(); }

Status Prefetcher::Start(PageSink* sink, MountView* view, ViewSource* views) {
  mount_ = {.sink = sink, .view = view, .views = views};
  if (!options_.opens_asked) folders_.SetView(view);
  view_.Start();
  // Those that carry out come first: what the planning thread begins must end.
  if (sink != nullptr) AUGUR_TRY(pusher_.Start(sink, options_.push_threads));
  if (keep_thread_) AUGUR_TRY(keep_thread_->Start());
  chunks_.SetFreeHook([this] {
    events_.Post([this] {
      if (view_.prefetch() != nullptr) view_.prefetch()->reads().OnFreed();
    });
  });
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-plan", [this] { Run(); }));
  thread_ = std::move(thread);
  events_.Open();
  return Status::Ok();
}

void Prefetcher::Stop() {
  events_.Close([this] { ending_ = true; });
  // The planning thread ends when nothing is under way, for which it needs the others.
  if (thread_.joinable()) thread_.join();
  shards_.Settle();
  pusher_.Stop();
  if (keep_thread_) keep_thread_->Stop();
  chunks_.SetFreeHook({});
}

void Prefetcher::Run() {
  while (!ending_ || view_.busy()) {
    std::deque<EventQueue::Event> events = events_.Take();
    for (; !events.empty(); events.pop_front()) events.front()();  // an event may hold a chunk
    if (!ending_) Decide();
    if (view_.prefetch() != nullptr) view_.prefetch()->SettleDoubts(SteadyNowUs());
    Publish();
  }
  view_.Stop();
}

void Prefetcher::Decide() {
  view_.LookAhead();
  if ((full_ || view_.turns().turns()) && !BeginAnew()) return;
  FollowOrders();
  folders_.Update(view_.source() != OrderSource::kNothing);
  FillWhenAllFits();
  ViewPrefetch* const prefetch = view_.prefetch();
  if (prefetch != nullptr) prefetch->LookAround();
  const bool pages_hold_all = prefetch != nullptr && prefetch->planner().PagesHoldAll();
  keep_demand_.store(view_.source() == OrderSource::kNothing && !pages_hold_all, std::memory_order_relaxed);
  if (prefetch != nullptr) prefetch->CarryOut();
}

void Prefetcher::Publish() {
  PrefetchStatus::Now now{.ahead_bytes = chunks_.used_bytes()};
  ViewPrefetch* const prefetch = view_.prefetch();
  if (prefetch != nullptr) {
    now.batch_reads = prefetch->reads().batch_reads();
    now.pushes = prefetch->pages().pushes();
    now.table_bytes = prefetch->planner().TableBytes();
    now.filling = prefetch->filling();
    now.planner = prefetch->planner().gauges();
  }
  if (view_.source() == OrderSource::kGiven) {
    const uint64_t left = now.planner.end - std::min(now.planner.end, now.planner.position);
    order_files_.store(left, std::memory_order_relaxed);
  }
  status_.Publish(now, disk_);
}

// Another view is followed, or the same one with empty tables. False: not yet, since something is still under way.
bool Prefetcher::BeginAnew() {
  const bool given = view_.source() == OrderSource::kGiven;
  const std::optional<FollowedView::Orders> orders = view_.BeginAnew();
  if (!orders) return false;
  full_ = false;
  for (const auto& [source, order] : *orders) Queue(order, source);
  // A given order may have ended just now.
  if (given && view_.source() != OrderSource::kGiven) order_files_.store(0, std::memory_order_relaxed);
  return true;
}

// What readers do.

void Prefetcher::PostHint(EventQueue::Event hint, uint64_t count) {
  if (!events_.PostHint(std::move(hint), count)) statistics_.Add(Stat::kHintsDropped, count);
}

void Prefetcher::OnRead(const ViewFile& file, uint32_t reader) {
  const auto number = static_cast<EntryNumber>(file.entry.number);
  // Who opened it was told already.
  if (access_listener_.read && !options_.opens_asked) access_listener_.read(file.view, number, reader);
  PostHint([this, view = file.view, number] { Saw(view, number, true, SteadyNowUs()); });
}

void Prefetcher::OnReadToEnd(const ViewFile& file) {
  if (mount_.sink == nullptr) return;
  PostHint([this, view = file.view, number = static_cast<EntryNumber>(file.entry.number), bytes = file.size] {
    ReadToEnd(view, number, bytes);
  });
}

// It says who reads, as a READ does, and is told for each file: the witness needs nothing else.
void Prefetcher::OnOpen(const ViewFile& file, uint32_t reader) {
  if (reader != 0 && reader == options_.own_process) return;
  const auto number = static_cast<EntryNumber>(file.entry.number);
  statistics_.Add(Stat::kOpens, 1);
  if (access_listener_.read) access_listener_.read(file.view, number, reader);
  PostHint([this, view = file.view, number] { Saw(view, number, false, SteadyNowUs()); });
}

void Prefetcher::OnOpened(uint32_t view, std::span<const EntryNumber> files) {
  statistics_.Add(Stat::kOpens, files.size());
  if (access_listener_.opened) access_listener_.opened(view, files);
  PostHint(
      [this, view, list = std::vector<EntryNumber>(files.begin(), files.end())] {
        const uint64_t now_us = SteadyNowUs();
        for (const EntryNumber file : list) Saw(view, file, false, now_us);
      },
      files.size());
}

std::optional<RetainedCache::Pin> Prefetcher::Find(const ViewFile& file, uint64_t block) {
  return kept_ ? kept_->Find(file, block) : std::nullopt;
}

// With no order known, what comes first is kept and nothing is put out for it: whatever fits is then there in every
// epoch, where least recently used would throw away what is yet to come. Not where the page cache
// has room for everything.
void Prefetcher::OnLoaded(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) {
  if (!kept_ || !keep_demand_.load(std::memory_order_relaxed)) return;
  KeepWithRoom(file, block, bytes);
}

// What was made has cost more than a read: where there is room, it is kept. But the reader's page cache has it now, so
// in memory of our own only when that has lost it.
void Prefetcher::OnMade(const ViewFile& file, std::span<const std::byte> bytes, bool again) {
  if (!kept_ || !(again || options_.keeps_read)) return;
  for (uint64_t block = 0; block < file.block_count(); ++block) {
    KeepWithRoom(file, block, bytes.subspan(block * kBlockBytes, file.BlockBytes(block)));
  }
}

void Prefetcher::KeepWithRoom(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) {
  // Nobody has lent it anything now.
  const uint64_t room = RetainedCache::RoomFor(bytes.size());
  if (options_.lent_bytes_max > 0 && kept_->retained_cache().used_bytes() + room > options_.kept_bytes_max) return;
  kept_->InsertBlock(file, block, bytes);
  if (file.size > kBlockBytes) return;
  PostHint([this, file] {
    if (view_.prefetch() != nullptr) view_.prefetch()->LookIfKept(file);
  });
}

void Prefetcher::Saw(uint32_t view, EntryNumber file, bool missed, uint64_t now_us) {
  if (!view_.turns().Saw(view)) return;
  const bool found = view_.source() == OrderSource::kPredicted && !view_.prefetch()->AtEnd();
  if (view_.source() != OrderSource::kGiven && !found) detector_.Observe(file);
  if (missed && access_listener_.read && !options_.opens_asked) {
    // So that the opens of its files are told, of which the page cache answers the reads.
    const Result<Entry> entry = store_->Get(file);
    if (entry.ok()) folders_.Add(std::array{static_cast<EntryNumber>(entry->parent)});
  }
  if (view_.prefetch() != nullptr) view_.prefetch()->Saw(file, missed, now_us);
}

// Its pages are in the page cache now, whose bytes nobody counts yet.
void Prefetcher::ReadToEnd(uint32_t view, EntryNumber file, uint64_t bytes) {
  if (view != view_.turns().followed()) return unplanned_.AddOther(view, file, bytes);
  if (view_.prefetch() == nullptr || !view_.prefetch()->planner().Knows(file)) unplanned_.Add(file);
}

// Which order is followed.

void Prefetcher::Queue(const Order& order, OrderSource source) {
  // It is not told what is read of an order.
  if (source != OrderSource::kPass) detector_.Forget();
  view_.Begin().Append(order, source);
}

// What comes is as unknown as before the first order.
void Prefetcher::ForgetOrders() {
  view_.prefetch()->ForgetOrders();
  order_files_.store(0, std::memory_order_relaxed);
}

// Whether a given order was read, or is not read at all. REQUIRES: one is followed.
bool Prefetcher::GivenHasEnded() {
  const PlannerGauges gauges = view_.prefetch()->planner().gauges();
  if (gauges.position < gauges.end) reads_at_end_ = view_.turns().reads_seen();
  if (gauges.lost && gauges.epochs_queued > 0) {
    spdlog::warn(
        "the files are not read as 'augurctl hint --order' has said: its {} epochs are forgotten; give the "
        "order again when a run begins anew",
        gauges.epochs_queued);
    statistics_.Add(Stat::kOrdersLost, gauges.epochs_queued);
    return true;
  }
  // It has ended; or some of it was not seen to be read, and the reader has gone on to something else.
  return gauges.epochs_queued == 0 || view_.turns().reads_seen() - reads_at_end_ >= kReadsAfterEnd;
}

// The planner follows a recognised pass where it knows no order.
void Prefetcher::FollowOrders() {
  if (view_.source() == OrderSource::kGiven) {
    if (!GivenHasEnded()) return;
    ForgetOrders();
  }
  if (!detector_.following()) {
    if (view_.source() == OrderSource::kPass) ForgetOrders();
    return;
  }
  size_t met = 0;
  uint64_t table_bytes = 0;
  if (view_.prefetch() != nullptr) {
    const PlannerGauges gauges = view_.prefetch()->planner().gauges();
    const uint64_t left = gauges.end - std::min(gauges.end, gauges.position);
    if (view_.source() == OrderSource::kPass && left >= kSequencePiece) return;
    met = view_.prefetch()->planner().files_met();
    table_bytes = view_.prefetch()->planner().TableBytes();
  }
  const size_t count = std::max(kSequencePiece, met / kSequenceGrowth);
  // Of a pass over more files than there is memory for, those at its beginning are forgotten.
  full_ = met > 2 * kSequencePiece && table_bytes + count * kBytesPerFileAndRead > options_.order_bytes_max;
  if (full_) return;
  const Order piece = detector_.Take(count);
  if (!piece.empty()) Queue(piece, OrderSource::kPass);
}

void Prefetcher::FillWhenAllFits() {
  if (!kept_ || view_.turns().reads_seen() < kReadsToFill || view_.source() == OrderSource::kGiven ||
      view_.source() == OrderSource::kPredicted || (view_.prefetch() != nullptr && view_.prefetch()->filling())) {
    return;
  }
  // What must be made takes the processors that the reader needs, and he will ask for it himself.
  if (view_.files().view() != 0) return;
  const StoreSummary& summary = store_->summary();
  const uint64_t rounding = summary.file_count * RetainedCache::RoomFor(1);
  if (summary.record_bytes + rounding > KeptShareNow(options_, kept_.get(), mount_.sink != nullptr).own_bytes_max) {
    return;
  }
  if (summary.file_count * Planner::kBytesPerFile > options_.order_bytes_max) return;
  const Result<std::shared_ptr<const Order>> files = path_order_.Files();
  if (files.ok()) view_.Begin().Fill(*files);
}

// What was found out gives way to what was given. What is read in another view, and what comes behind that, waits until
// that one is followed.
void Prefetcher::Predict(Order order, uint32_t view, bool anew) {
  events_.Post([this, view, anew, files = std::make_shared<Order>(std::move(order))] {
    if (view_.source() == OrderSource::kGiven) return;
    if (anew && view_.prefetch() != nullptr) view_.prefetch()->planner().Clear();
    if (anew) view_.turns().orders().Clear();
    if (view_.prefetch() != nullptr) view_.prefetch()->EndFill();
    if (view != view_.turns().followed() || !view_.turns().orders().empty())
      return view_.turns().orders().Add(view, std::move(*files));
    Queue(*files, OrderSource::kPredicted);
  });
}

void Prefetcher::ForgetPredicted() {
  events_.Post([this] {
    view_.turns().orders().Clear();
    if (view_.source() == OrderSource::kPredicted) ForgetOrders();
  });
}

void Prefetcher::NeedOpens(bool needed) {
  events_.Post([this, needed] { folders_.SetNeeded(needed); });
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
    if (place == Place::kInstead && view_.source() == OrderSource::kGiven) ForgetOrders();
    view_.turns().orders().Clear();
    Queue(*files, OrderSource::kGiven);
  });
  return Status::Ok();
}

DropReport Prefetcher::Drop() {
  auto report = std::make_shared<std::promise<DropReport>>();
  const auto event = [this, report] {
    uint64_t stocked_bytes = 0;
    unplanned_.Forget();
    unplanned_.ForgetOthers();
    if (view_.prefetch() != nullptr) {
      stocked_bytes = view_.prefetch()->Drop();
      view_.turns().ForgetReads();
      reads_at_end_ = 0;
    }
    if (!kept_) return report->set_value({.retained_cache_bytes = 0, .stocked_bytes = stocked_bytes});
    // After what is still to be put in, which the planner has forgotten too.
    const auto clear = [this, report, stocked_bytes] {
      const uint64_t bytes = kept_->retained_cache().Clear();
      report->set_value({.retained_cache_bytes = bytes, .stocked_bytes = stocked_bytes});
    };
    if (view_.prefetch() != nullptr) return view_.prefetch()->kept().Run(clear);
    keep_thread_->Add({.evict = {}, .file = {}, .blocks = {}, .work = clear, .done = {}});
  };
  if (!events_.PostIfOpen(event)) return {};
  return report->get_future().get();
}

}  // namespace augur
