// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetcher.h"

#include <algorithm>
#include <array>
#include <deque>
#include <future>
#include <optional>
#include <utility>

#include "base/steady_time.h"
#include "base/thread.h"

namespace augur {

Prefetcher::Prefetcher(std::shared_ptr<const Store> store, ShardSource& shards, RecordCache& cache,
                       RetainedBlocks* retained, Statistics& statistics, const PrefetcherOptions& options)
    : store_(std::move(store)),
      shards_(shards),
      statistics_(statistics),
      options_(options),
      retained_(retained),
      chunks_(options.chunk_bytes),
      events_(options.accesses_max),
      status_(statistics),
      disk_(options.far ? DiskModel::Far() : DiskModel()),
      unplanned_(store_->summary().entry_count),
      pusher_(
          retained_,
          [this](PushQueue::Push push, PushOutcome outcome, bool lost) {
            events_.Post([this, push = std::move(push), outcome, lost] {
              view_.prefetch()->pages().OnPushed(push, outcome, lost);
            });
          },
          [this](EntryNumber file) { events_.Post([this, file] { view_.prefetch()->pages().OnDropped(file); }); }),
      retain_thread_(retained_ != nullptr ? std::make_unique<RetainThread>(*retained_) : nullptr),
      view_({.store = *store_,
             .shards = shards,
             .cache = cache,
             .statistics = statistics_,
             .options = options_,
             .mount = mount_,
             .memory = chunks_,
             .retained = retained_,
             .retain_thread = retain_thread_.get(),
             .pusher = pusher_,
             .disk = disk_,
             .events = events_,
             .folders = folders_,
             .unplanned = unplanned_,
             .status = status_}),
      orders_({.store = store_,
               .statistics = statistics_,
               .options = options_,
               .retained = retained_,
               .mount = mount_,
               .view = view_}) {}

Prefetcher::~Prefetcher() { Stop(); }

Status Prefetcher::Start(PageSink* sink, MountView* view, ViewSource* views) {
  mount_ = {.sink = sink, .view = view, .views = views};
  if (!options_.opens_asked) folders_.SetView(view);
  view_.Start();
  // Those that carry out come first: what the planning thread begins must end.
  if (sink != nullptr) AUGUR_TRY(pusher_.Start(sink, options_.push_threads));
  if (retain_thread_) AUGUR_TRY(retain_thread_->Start());
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
  shards_.Drain();
  pusher_.Stop();
  if (retain_thread_) retain_thread_->Stop();
  chunks_.SetFreeHook({});
}

void Prefetcher::Run() {
  while (!ending_ || view_.busy()) {
    std::deque<EventQueue::Event> events = events_.Take();
    for (; !events.empty(); events.pop_front()) events.front()();  // an event may hold a chunk
    if (!ending_) Decide();
    if (view_.prefetch() != nullptr) view_.prefetch()->CountUnopened(SteadyNowUs());
    Publish();
  }
  view_.Stop();
}

void Prefetcher::Decide() {
  if (!orders_.Follow()) return;
  const bool wanted = options_.opens_wanted && options_.opens_wanted();
  folders_.Update(wanted || view_.source() != OrderSource::kNothing);
  ViewPrefetch* const prefetch = view_.prefetch();
  if (prefetch != nullptr) prefetch->LookAround();
  const bool pages_hold_all = prefetch != nullptr && prefetch->planner().PagesHoldAll();
  retain_demand_.store(view_.source() == OrderSource::kNothing && !pages_hold_all, std::memory_order_relaxed);
  if (prefetch != nullptr) prefetch->CarryOut();
}

void Prefetcher::Publish() {
  PrefetchStatus::Now now{.staging_bytes = chunks_.used_bytes()};
  ViewPrefetch* const prefetch = view_.prefetch();
  if (prefetch != nullptr) {
    now.batch_reads = prefetch->reads().batch_reads();
    now.pushes = prefetch->pages().pushes();
    now.table_bytes = prefetch->planner().TableBytes();
    now.filling = prefetch->filling();
    now.warming = prefetch->warming().running();
    now.planner = prefetch->planner().gauges();
  }
  orders_.CountGiven();
  status_.Publish(now, disk_);
}

// What readers do.

void Prefetcher::PostAccesses(EventQueue::Event event, uint64_t count) {
  if (!events_.PostAccesses(std::move(event), count)) statistics_.Add(Stat::kPrefetchAccessesDropped, count);
}

void Prefetcher::OnRead(const ViewFile& file, uint32_t reader) {
  const auto number = static_cast<EntryNumber>(file.entry.number);
  // Who opened it was told already, unless it lies in an archive.
  if (access_listener_.read && (!options_.opens_asked || file.in_archive))
    access_listener_.read(file.view, number, reader);
  PostAccesses([this, view = file.view, number] { OnAccess(view, number, true, SteadyNowUs()); });
}

void Prefetcher::OnBrought(const ViewFile& file) {
  PostAccesses([this, view = file.view, number = static_cast<EntryNumber>(file.entry.number), bytes = file.size] {
    if (view == view_.turns().followed() && view_.prefetch() != nullptr)
      view_.prefetch()->planner().AssumeCached(number);
    ReadToEnd(view, number, bytes);
  });
}

void Prefetcher::OnReadToEnd(const ViewFile& file) {
  if (options_.push_window_bytes_max == 0) return;  // the page cache is the kernel's alone
  PostAccesses([this, view = file.view, number = static_cast<EntryNumber>(file.entry.number), bytes = file.size] {
    ReadToEnd(view, number, bytes);
  });
}

// It says who reads, as a READ does, and is told for each file: the listener needs nothing else.
void Prefetcher::OnOpen(const ViewFile& file, uint32_t reader) {
  if (reader != 0 && reader == options_.own_process) return;
  const auto number = static_cast<EntryNumber>(file.entry.number);
  statistics_.Add(Stat::kOpens, 1);
  if (access_listener_.read) access_listener_.read(file.view, number, reader);
  PostAccesses([this, view = file.view, number] { OnAccess(view, number, false, SteadyNowUs()); });
}

void Prefetcher::OnOpened(uint32_t view, std::span<const EntryNumber> files) {
  statistics_.Add(Stat::kOpens, files.size());
  if (access_listener_.opened) access_listener_.opened(view, files);
  PostAccesses(
      [this, view, list = std::vector<EntryNumber>(files.begin(), files.end())] {
        const uint64_t now_us = SteadyNowUs();
        for (const EntryNumber file : list) OnAccess(view, file, false, now_us);
      },
      files.size());
}

// With no order known, the first blocks are kept and none is evicted for later ones. So those that fit are there in
// every epoch, where least recently used would throw away blocks that are yet to come. Not where the page cache has
// room for everything.
void Prefetcher::OnLoaded(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) {
  if (retained_ == nullptr || !retain_demand_.load(std::memory_order_relaxed)) return;
  RetainWithRoom(file, block, bytes);
}

// A rendered file has cost more than a read: where there is room, it is kept. But the reader's page cache has it now,
// so in memory of our own only when that has lost it.
void Prefetcher::OnRendered(const ViewFile& file, std::span<const std::byte> bytes, bool again) {
  if (retained_ == nullptr || !(again || options_.retains_read)) return;
  for (uint64_t block = 0; block < file.block_count(); ++block) {
    RetainWithRoom(file, block, bytes.subspan(block * kBlockBytes, file.BlockBytes(block)));
  }
}

void Prefetcher::RetainWithRoom(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) {
  // Nothing is lent to it now.
  const uint64_t room = RetainedCache::RoomFor(bytes.size());
  if (options_.lent_window_bytes_max > 0 &&
      retained_->retained_cache().used_bytes() + room > options_.retained_bytes_max)
    return;
  retained_->InsertBlock(file, block, bytes);
  if (file.size > kBlockBytes) return;
  PostAccesses([this, file] {
    if (view_.prefetch() != nullptr) view_.prefetch()->LookIfRetained(file);
  });
}

void Prefetcher::OnAccess(uint32_t view, EntryNumber file, bool missed, uint64_t now_us) {
  if (!view_.turns().OnAccess(view)) return;
  orders_.OnAccess(file);
  if (missed && access_listener_.read && !options_.opens_asked && !view_.files().in_archives()) {
    // So that the opens of its files are told, of which the page cache answers the reads.
    const Result<Entry> entry = store_->Get(file);
    if (entry.ok()) folders_.Add(std::array{static_cast<EntryNumber>(entry->parent)});
  }
  if (view_.prefetch() != nullptr) view_.prefetch()->OnAccess(file, missed, now_us);
}

// Its pages are in the page cache now, and their bytes are not counted yet.
void Prefetcher::ReadToEnd(uint32_t view, EntryNumber file, uint64_t bytes) {
  if (view != view_.turns().followed()) return unplanned_.AddOther(view, file, bytes);
  if (view_.prefetch() == nullptr || !view_.prefetch()->planner().Knows(file)) unplanned_.Add(file);
}

// Which orders are known.

void Prefetcher::Predict(SharedOrder order, uint32_t view, bool anew) {
  events_.Post([this, view, anew, order = std::move(order)] { orders_.Predict(order, view, anew); });
}

void Prefetcher::ForgetPredicted() {
  events_.Post([this] { orders_.ForgetPredicted(); });
}

// Decide follows each event.
void Prefetcher::LookWhetherOpensAreWanted() {
  events_.Post([] {});
}

void Prefetcher::NeedOpens(bool needed) {
  events_.Post([this, needed] { folders_.SetNeeded(needed); });
}

uint64_t Prefetcher::PredictedFilesMax() const {
  // Where not all files of the store have room in the tables, each read may be of another one.
  const uint64_t tables = store_->summary().file_count * Planner::kBytesPerFile;
  const uint64_t each = options_.order_bytes_max / OrderFollower::kBytesPerFileAndRead;
  const uint64_t rest = options_.order_bytes_max - std::min(options_.order_bytes_max, tables);
  return std::max(each, rest / EpochOrder::kBytesPerRead);
}

uint64_t Prefetcher::OrderFilesMax(Place place) const {
  const uint64_t files_max = PredictedFilesMax();
  if (place == Place::kInstead) return files_max;
  return files_max - std::min(files_max, orders_.given_files());
}

Status Prefetcher::AddOrder(Order order, Place place) {
  const uint64_t files_max = OrderFilesMax(place);
  if (order.size() > files_max) {
    return {Code::kNoSpace, std::to_string(order.size()) + " files are more than the memory for orders holds (" +
                                std::to_string(files_max) + "): raise memory="};
  }
  const bool instead = place == Place::kInstead;
  orders_.Announce(order.size(), instead);
  statistics_.Add(Stat::kOrdersAccepted, 1);
  events_.Post(
      [this, instead, given = std::make_shared<const EpochOrder>(std::move(order))] { orders_.Give(given, instead); });
  return Status::Ok();
}

DropReport Prefetcher::Drop() {
  auto report = std::make_shared<std::promise<DropReport>>();
  const auto event = [this, report] {
    uint64_t push_window_bytes = 0;
    unplanned_.Forget();
    unplanned_.ForgetOthers();
    if (view_.prefetch() != nullptr) {
      push_window_bytes = view_.prefetch()->Drop();
      orders_.ForgetReads();
    }
    if (retained_ == nullptr)
      return report->set_value({.retained_cache_bytes = 0, .push_window_bytes = push_window_bytes});
    // After what is still to be put in, which the planner has forgotten too.
    const auto clear = [this, report, push_window_bytes] {
      const uint64_t bytes = retained_->retained_cache().Clear();
      report->set_value({.retained_cache_bytes = bytes, .push_window_bytes = push_window_bytes});
    };
    if (view_.prefetch() != nullptr) return view_.prefetch()->retained().Run(clear);
    retain_thread_->Add({.evict = {}, .file = {}, .blocks = {}, .work = clear, .done = {}});
  };
  if (!events_.PostIfOpen(event)) return {};
  return report->get_future().get();
}

Result<uint64_t> Prefetcher::BeginWarm(std::shared_ptr<const Order> files) {
  if (retained_ == nullptr) {
    return Status(Code::kUnsupported,
                  "this mount keeps nothing for its next use (-o cache=none): unmount it, and mount it with cache=ram "
                  "or cache=shm");
  }
  const auto begun = std::make_shared<std::promise<Result<uint64_t>>>();
  const auto event = [this, begun, files] {
    Warming& warming = view_.Begin().warming();
    const uint64_t now_us = SteadyNowUs();
    warming.LookIfAsked(now_us);
    if (warming.running()) {
      return begun->set_value(
          Status(Code::kBusy, "another 'augurctl warm' is not done: wait for it, or end it by Ctrl-C"));
    }
    warming.Begin(++warm_runs_, *files, now_us);
    begun->set_value(warm_runs_);
  };
  if (!events_.PostIfOpen(event)) return Status(Code::kStopped, "the mount is ending");
  return begun->get_future().get();
}

Result<WarmReport> Prefetcher::Warmed(uint64_t run, bool end) {
  const auto told = std::make_shared<std::promise<std::optional<WarmReport>>>();
  const auto event = [this, told, run, end] {
    if (view_.prefetch() == nullptr) return told->set_value(std::nullopt);
    Warming& warming = view_.prefetch()->warming();
    std::optional<WarmReport> report = warming.Report(run, SteadyNowUs());
    if (report && end) {
      warming.End();
      report->running = false;
    }
    told->set_value(report);
  };
  if (!events_.PostIfOpen(event)) return Status(Code::kStopped, "the mount is ending");
  const std::optional<WarmReport> report = told->get_future().get();
  if (report) return *report;
  return Status(Code::kStopped,
                "it was ended: by 'augurctl drop', because readers went to another view, or because no client "
                "asked about it for ten seconds. What it has brought stays, but for a drop");
}

}  // namespace augur
