// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "base/thread.h"

namespace augur {
namespace {

// After so many files the reader is taken to be done with one (ReaderPositionOptions::lag).
constexpr uint64_t kLagMin = 2;
constexpr uint64_t kLagMax = 64;
// A retained cache that could not take a file is tried again after this time: others may have given memory back.
constexpr uint64_t kShortOfRoomUs = 1'000'000;
constexpr uint64_t kRoomEveryUs = 1'000'000;

}  // namespace

Prefetcher::Prefetcher(std::shared_ptr<const Store> store, ShardSource& shards, RecordCache& cache,
                       RetainedCache* retained_cache, Statistics& statistics, const PrefetcherOptions& options)
    : store_(std::move(store)),
      shards_(shards),
      cache_(cache),
      statistics_(statistics),
      options_(options),
      kept_(retained_cache != nullptr ? std::make_unique<KeptBlocks>(*store_, *retained_cache) : nullptr),
      chunks_(options.chunk_bytes),
      path_order_(store_, options.order_bytes_max),
      events_(options.hints_max),
      detector_(
          [this](EntryNumber file, size_t count, Order* files) {
            const Status status = path_order_.Next(file, TreeOrder::kFilesFirst, count, files);
            if (!status.ok()) spdlog::debug("what comes next: {}", status.text());
          },
          store_->summary().file_count),
      inactive_pages_(store_->summary().entry_count),
      pusher_(
          kept_.get(),
          [this](PushQueue::Push push, PushOutcome outcome, bool lost) {
            events_.Post([this, push = std::move(push), outcome, lost] { OnPushed(push, outcome, lost); });
          },
          [this](EntryNumber file) { events_.Post([this, file] { OnDropped(file); }); }) {
  if (!kept_) return;
  keep_thread_ = std::make_unique<KeepThread>(*kept_, [this](const std::optional<ViewFile>& file, bool kept) {
    events_.Post([this, file, kept] { OnKept(file, kept); });
  });
}

uint64_t Prefetcher::NowUs() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

Prefetcher::~Prefetcher() { Stop(); }

Status Prefetcher::Start(PageSink* sink, MountView* view, ViewSource* views) {
  sink_ = sink;
  view_ = view;
  views_ = views;
  if (views_ != nullptr) ShowView(views_->RootView());
  // Those that carry out come first: what the planning thread begins must end.
  if (sink_ != nullptr) AUGUR_TRY(pusher_.Start(sink_, options_.push_threads));
  if (keep_thread_) AUGUR_TRY(keep_thread_->Start());
  chunks_.SetFreeHook([this] { events_.Post([this] { refused_ = false; }); });
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
  held_.clear();
}

void Prefetcher::PostHint(EventQueue::Event hint, uint64_t count) {
  if (!events_.PostHint(std::move(hint), count)) statistics_.Add(Stat::kHintsDropped, count);
}

void Prefetcher::Run() {
  while (!ending_ || Busy()) {
    std::deque<EventQueue::Event> events = events_.Take();
    for (; !events.empty(); events.pop_front()) events.front()();  // an event may hold a chunk
    if (!ending_) Decide();
    SettleDoubts();
    Publish();
  }
  held_.clear();
}

uint64_t Prefetcher::KeptMax() const {
  return kept_ ? std::min(options_.kept_bytes_max, kept_->retained_cache().bytes_max()) : 0;
}

uint64_t Prefetcher::LentMax() const {
  const uint64_t room = kept_ ? kept_->retained_cache().bytes_max() - KeptMax() : 0;
  return sink_ != nullptr ? std::min({options_.stock_bytes_max, options_.lent_bytes_max, room}) : 0;
}

Planner& Prefetcher::planner() {
  if (planner_) return *planner_;
  PlannerLimits limits;
  limits.kept_bytes_max = KeptMax();
  // A chunk is larger than its records by the gaps in it and by what is aligned.
  limits.staging_bytes_max = options_.chunk_bytes / 10 * 8;
  limits.stock_bytes_max = sink_ != nullptr ? options_.stock_bytes_max : 0;
  limits.lent_bytes_max = LentMax();
  // What is left is to be known, of each file.
  const uint64_t files = store_->summary().file_count;
  if (!options_.keeps_read && options_.order_bytes_max >= OrderBytes(files)) {
    limits.data_bytes = files * Planner::MeanPages(MeanBytes());
  }
  limits.table_bytes_max = options_.order_bytes_max;
  limits.reads_max = options_.reads_max;
  limits.chunk_bytes_max = std::min<uint64_t>(4 << 20, limits.staging_bytes_max / 8);
  planner_ = std::make_unique<Planner>([this](EntryNumber number) { return PlaceOf(number); }, disk_, limits,
                                       ReaderPositionOptions());
  LookWhatIsSeen();
  LookForRoom();
  return *planner_;
}

// Where opens are seen, no file need be left out of the page cache to learn where the reader is. The view begins a
// little after us, and may end.
void Prefetcher::LookWhatIsSeen() {
  const bool opens = options_.opens_asked || (view_ != nullptr && view_->usable() && view_->watching());
  if (sight_known_ && opens == opens_) return;
  sight_known_ = true;
  opens_ = opens;
  // What the reader is not known to be done with takes a part of the window: an eighth at most, where it is small.
  const uint64_t file_bytes = Planner::MeanPages(MeanBytes());
  const uint64_t window_bytes = sink_ != nullptr ? options_.stock_bytes_max : options_.chunk_bytes;
  const auto part = static_cast<uint32_t>(std::clamp<uint64_t>(window_bytes / file_bytes / 8, kLagMin, kLagMax));
  ReaderPositionOptions progress;
  progress.lag = part;
  progress.opens = opens;
  if (!opens) {
    // One read in `part` is seen: the first that is tells where the reader is, and what lies between was read.
    progress.support = 1;
    progress.unseen_max = 2 * part;
  }
  planner_->SetSight(opens || sink_ == nullptr ? 0 : part, progress);
  const MutexLock lock(mu_);
  progress_ = opens ? "opens" : sink_ != nullptr ? "sentinels" : "reads";
}

void Prefetcher::Decide() {
  if (wanted_view_ == shown_view_ && ReadElsewhereNext()) wanted_view_ = elsewhere_orders_.next_view();
  if ((full_ || wanted_view_ != shown_view_) && !BeginAnew()) return;
  FollowSequence();
  WatchAsNeeded();
  FillWhenAllFits();
  if (planner_) {
    LookWhatIsSeen();
    LookForRoom();
  }
  const bool keep = source_ == Source::kNothing && !(planner_ && planner_->PagesHoldAll());
  keep_demand_.store(keep, std::memory_order_relaxed);
  if (!planner_) return;
  if (short_since_us_ != 0 && NowUs() - short_since_us_ > kShortOfRoomUs) {
    short_since_us_ = 0;
    planner_->SetKeptMax(KeptMax(), LentMax());
  }
  for (const EntryNumber file : planner_->TakeReleased()) LetGo(file);
  StartReads();
  StartPushes();
  StartDrops();
  AskStats();
}

void Prefetcher::LookForRoom() {
  if (sink_ == nullptr || !options_.left_bytes_max) return;
  const uint64_t now_us = NowUs();
  if (room_asked_us_ != 0 && now_us - room_asked_us_ < kRoomEveryUs) return;
  room_asked_us_ = now_us;
  // What is followed goes before what other views have left there, which then is the kernel's to keep or to take.
  const uint64_t room = options_.left_bytes_max();
  const uint64_t all = store_->summary().file_count * Planner::MeanPages(MeanBytes());
  if (inactive_pages_.BytesBeside(shown_view_) + all > room) inactive_pages_.Clear();
  planner_->SetLeftMax(room - inactive_pages_.BytesBeside(shown_view_));
}

// So that opens in these folders are told.
void Prefetcher::Watch(std::span<const EntryNumber> folders) {
  if (view_ != nullptr && !options_.opens_asked && !unwatched_ && !folders.empty()) view_->Watch(folders);
}

// Opens that are told take 30 us of the readers' processors each, so they are told only while somebody uses them: the
// witness, or the planner, which follows an order by them.
void Prefetcher::WatchAsNeeded() {
  const bool unwatched = !opens_needed_ && source_ == Source::kNothing;
  if (unwatched == unwatched_) return;
  unwatched_ = unwatched;
  if (unwatched) {
    if (view_ != nullptr && !options_.opens_asked) view_->Unwatch();
  } else {
    const std::vector<EntryNumber> folders(watched_.begin(), watched_.end());
    Watch(folders);
  }
}

// So that the opens of its files are told, of which the page cache answers the reads.
void Prefetcher::WatchFolderOf(EntryNumber file) {
  const Result<Entry> entry = store_->Get(file);
  if (!entry.ok()) return;
  const auto folder = static_cast<EntryNumber>(entry->parent);
  if (watched_.insert(folder).second) Watch({&folder, 1});
}

void Prefetcher::Saw(uint32_t view, EntryNumber file, bool missed, uint64_t now_us) {
  if (view != shown_view_) return SawElsewhere(view);
  reads_elsewhere_ = 0;
  ++reads_seen_;
  if (source_ != Source::kOrder && !FollowsFound()) detector_.Observe(file);
  if (missed && access_listener_.read && !options_.opens_asked) WatchFolderOf(file);
  if (!planner_) return;
  const Sight sight = planner_->Saw(file, missed, now_us);
  const std::optional<uint64_t> since_us = fetched_.Used(file, missed);
  if (missed && sight.predicted) {
    if (sight.sentinel) {
      statistics_.Add(Stat::kSentinels, 1);
    } else if (!sight.ready) {
      statistics_.Add(Stat::kStalls, 1);
    }
  }
  if (since_us) statistics_.Record(Histogram::kLeadTimeUs, now_us - std::min(now_us, *since_us));
}

// Its pages are in the page cache now, whose bytes nobody counts yet.
void Prefetcher::ReadToEnd(uint32_t view, EntryNumber file, uint64_t bytes) {
  if (view != shown_view_) return inactive_pages_.Add(view, file, bytes);
  if (planner_ && planner_->Knows(file)) return;
  if (read_unknown_.empty()) read_unknown_.resize(store_->summary().entry_count);
  read_unknown_[file] = true;
}

void Prefetcher::OnRead(const ViewFile& file, uint32_t reader) {
  const auto number = static_cast<EntryNumber>(file.entry.number);
  // Who opened it was told already.
  if (access_listener_.read && !options_.opens_asked) access_listener_.read(file.view, number, reader);
  PostHint([this, view = file.view, number] { Saw(view, number, true, NowUs()); });
}

void Prefetcher::OnReadToEnd(const ViewFile& file) {
  if (sink_ == nullptr) return;
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
  PostHint([this, view = file.view, number] { Saw(view, number, false, NowUs()); });
}

void Prefetcher::OnOpened(uint32_t view, std::span<const EntryNumber> files) {
  statistics_.Add(Stat::kOpens, files.size());
  if (access_listener_.opened) access_listener_.opened(view, files);
  PostHint(
      [this, view, list = std::vector<EntryNumber>(files.begin(), files.end())] {
        const uint64_t now_us = NowUs();
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
    if (planner_ && file.view == shown_view_ && kept_->Contains(file)) {
      planner_->Keeps(static_cast<EntryNumber>(file.entry.number));
    }
  });
}

std::vector<std::pair<std::string, std::string>> Prefetcher::Describe() const {
  const MutexLock lock(mu_);
  std::vector<std::pair<std::string, std::string>> facts = {{"policy", policy_}, {"progress", progress_}};
  if (!spec_.empty()) facts.emplace_back("view", spec_);
  if (disk_bytes_per_second_ > 0) {
    facts.emplace_back("disk", std::to_string(static_cast<uint64_t>(disk_read_us_)) + " us a read and " +
                                   std::to_string(static_cast<uint64_t>(disk_bytes_per_second_ / 1e6)) + " MB/s");
  }
  return facts;
}

void Prefetcher::Publish() {
  // Beside those that somebody waits for; a difference below zero wraps, and so does the sum.
  statistics_.Raise(Gauge::kReadsInFlight, batch_reads_ - std::exchange(batch_reads_told_, batch_reads_));
  statistics_.Set(Gauge::kPushesWaiting, pushes_);
  statistics_.Set(Gauge::kAheadBytes, chunks_.used_bytes());
  const PlannerGauges gauges = planner_ ? planner_->gauges() : PlannerGauges();
  statistics_.Set(Gauge::kOrdersQueued, gauges.epochs_queued);
  statistics_.Set(Gauge::kOrderPosition, gauges.position);
  statistics_.Set(Gauge::kOrderFiles, gauges.end);
  statistics_.Set(Gauge::kStockedBytes, gauges.stock_bytes);
  statistics_.Set(Gauge::kLeftBytes, gauges.left_bytes);
  statistics_.Set(Gauge::kOrderBytes, planner_ ? planner_->TableBytes() : 0);
  if (source_ == Source::kOrder) {
    order_files_.store(gauges.end - std::min(gauges.end, gauges.position), std::memory_order_relaxed);
  }
  const MutexLock lock(mu_);
  if (disk_.known()) {
    disk_read_us_ = disk_.read_us();
    disk_bytes_per_second_ = disk_.bytes_per_second();
  }
  policy_ = gauges.epochs_queued == 0 ? (filling_ ? "fill" : "idle") : gauges.sweeping ? "regions" : "window";
}

}  // namespace augur
