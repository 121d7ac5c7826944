// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>

#include "base/check.h"
#include "base/thread.h"
#include "base/units.h"

namespace augur {
namespace {

// Files handed to the pushing threads and not pushed: enough that they never wait for the planning thread, which takes
// about as long for a round as they for a file.
constexpr uint64_t kPushesAhead = 16;
// Files that are looked up at once when the kernel turns out not to know one.
constexpr size_t kStatAhead = 256;
// After so many files the reader is taken to be done with one (ProgressOptions::lag).
constexpr uint64_t kLagMin = 2;
constexpr uint64_t kLagMax = 64;
// Opens are told by another process within milliseconds; where it gets no processor, later.
constexpr uint64_t kOpenToldUs = 2'000'000;
// A warehouse that could not take a file is tried again after this time: others may have given memory back.
constexpr uint64_t kShortOfRoomUs = 1'000'000;
// A recognised pass is queued in pieces of so many files, when fewer than that are left.
constexpr size_t kSequencePiece = 2048;
// So many reads after the last of all orders end them, whatever of them was not seen to be read.
constexpr uint64_t kReadsAfterEnd = 64;
// All of the store is brought when it fits, but not before so many files have been read: a look at a mount is no run.
constexpr uint64_t kReadsToFill = 8;
// Memory that a file takes in the planner's tables for each epoch that is queued, and for itself (Track::bytes).
constexpr uint64_t kOrderBytesPerFile = 12 + 100;

uint64_t NowUs() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// 4 KiB of each record are lost to alignment at most, and a chunk is a multiple of the pool's granule.
uint64_t ChunkBytes(uint64_t bytes) { return bytes + 2 * size_t{kAlignMax}; }

}  // namespace

Prefetcher::Prefetcher(std::shared_ptr<const Store> store, ReadEngine& engine, RecordCache& cache, Warehouse* warehouse,
                       Statistics& statistics, const PrefetcherOptions& options)
    : store_(std::move(store)),
      engine_(engine),
      cache_(cache),
      statistics_(statistics),
      options_(options),
      kept_(warehouse != nullptr ? std::make_unique<KeptBlocks>(*store_, *warehouse) : nullptr),
      chunks_(options.chunk_bytes),
      path_order_(store_, options.order_bytes_max),
      detector_(
          [this](EntryNumber file, size_t count, Order* files) {
            const Status status = path_order_.Next(file, TreeOrder::kFilesFirst, count, files);
            if (!status.ok()) spdlog::debug("what comes next: {}", status.text());
          },
          store_->summary().file_count),
      pusher_(
          *store_, kept_.get(),
          [this](PushQueue::Push push, PushOutcome outcome, bool lost) {
            Post([this, push = std::move(push), outcome, lost] { OnPushed(push, outcome, lost); });
          },
          [this](EntryNumber file) { Post([this, file] { OnDropped(file); }); }) {
  if (!kept_) return;
  keeper_ = std::make_unique<Keeper>(*store_, *kept_, [this](const std::optional<Entry>& file, bool kept) {
    Post([this, file, kept] { OnKept(file, kept); });
  });
}

Prefetcher::~Prefetcher() { Stop(); }

Status Prefetcher::Start(PageSink* sink, MountView* view) {
  sink_ = sink;
  view_ = view;
  // Those that carry out come first: what the planning thread begins must end.
  if (sink_ != nullptr) AUGUR_TRY(pusher_.Start(sink_, options_.push_threads));
  if (keeper_) AUGUR_TRY(keeper_->Start());
  chunks_.SetFreeHook([this] { Post([this] { refused_ = false; }); });
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-plan", [this] { Run(); }));
  thread_ = std::move(thread);
  const MutexLock lock(mu_);
  running_ = true;
  return Status::Ok();
}

void Prefetcher::Stop() {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
    posted_.NotifyOne();
  }
  // The planning thread ends when nothing is under way, for which it needs the others.
  if (thread_.joinable()) thread_.join();
  pusher_.Stop();
  if (keeper_) keeper_->Stop();
  chunks_.SetFreeHook({});
  held_.clear();
}

void Prefetcher::Post(std::function<void()> event) {
  const MutexLock lock(mu_);
  if (events_.empty()) posted_.NotifyOne();
  events_.push_back(std::move(event));
}

void Prefetcher::Run() {
  std::deque<std::function<void()>> events;
  bool stopping = false;
  while (true) {
    {
      const MutexLock lock(mu_);
      while (events_.empty() && !(stopping_ && !Busy())) {
        if (stopping_ && !stopping) break;
        posted_.Wait(mu_);
      }
      stopping = stopping_;
      events.swap(events_);
      if (stopping && events.empty() && !Busy()) break;
    }
    for (; !events.empty(); events.pop_front()) events.front()();  // an event may hold a chunk
    if (!stopping) Decide();
    SettleDoubts();
    Publish();
  }
  held_.clear();
}

uint64_t Prefetcher::KeptMax() const {
  return kept_ ? std::min(options_.kept_bytes_max, kept_->warehouse().bytes_max()) : 0;
}

Planner& Prefetcher::planner() {
  if (planner_) return *planner_;
  PlannerLimits limits;
  limits.kept_bytes_max = KeptMax();
  // A chunk is larger than its records by the gaps in it and by what is aligned.
  limits.conveyor_bytes_max = options_.chunk_bytes / 10 * 8;
  limits.stock_bytes_max = sink_ != nullptr ? options_.stock_bytes_max : 0;
  limits.reads_max = options_.reads_max;
  limits.chunk_bytes_max = std::min<uint64_t>(4 << 20, limits.conveyor_bytes_max / 8);
  planner_ = std::make_unique<Planner>(
      [store = store_](EntryNumber number) {
        const Result<Entry> entry = store->Get(number);
        if (!entry.ok() || entry->type != EntryType::kFile || entry->shard == kNoShard) return FilePlace{};
        return FilePlace{.shard = entry->shard, .offset = entry->offset, .bytes = entry->size};
      },
      limits, ProgressOptions());
  LookWhatIsSeen();
  return *planner_;
}

// Where opens are seen, no file need be left out of the page cache to learn where the reader is. The view begins a
// little after us, and may end.
void Prefetcher::LookWhatIsSeen() {
  const bool opens = view_ != nullptr && view_->usable() && view_->watching();
  if (sight_known_ && opens == opens_) return;
  sight_known_ = true;
  opens_ = opens;
  // What the reader is not known to be done with takes a part of the window: an eighth at most, where it is small.
  const StoreSummary& summary = store_->summary();
  const uint64_t file_bytes = summary.tree_bytes / std::max<uint64_t>(1, summary.file_count) + 1;
  const uint64_t window_bytes = sink_ != nullptr ? options_.stock_bytes_max : options_.chunk_bytes;
  const auto part = static_cast<uint32_t>(std::clamp<uint64_t>(window_bytes / file_bytes / 8, kLagMin, kLagMax));
  ProgressOptions progress;
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
  FollowSequence();
  FillWhenAllFits();
  if (!planner_) return;
  LookWhatIsSeen();
  if (short_since_us_ != 0 && NowUs() - short_since_us_ > kShortOfRoomUs) {
    short_since_us_ = 0;
    planner_->SetKeptMax(KeptMax());
  }
  for (const EntryNumber file : planner_->TakeReleased()) held_.erase(file);
  StartReads();
  StartPushes();
  StartDrops();
  AskStats();
}

void Prefetcher::StartReads() {
  bool alone = false;
  while (!refused_) {
    const std::optional<ReadPlan> plan = planner_->NextRead(NowUs(), alone);
    if (!plan) return;
    if (AlreadyKept(*plan)) continue;
    Buffer chunk = chunks_.Allocate(ChunkBytes(plan->bytes));
    if (!chunk) {
      planner_->PutBack(*plan);
      // What is held may lie so that there is room for a file, but not for its neighbours with it.
      alone = !alone && plan->items.size() > 1;
      if (alone) continue;
      // When nothing of it is in use, nothing will be let go, and the file is too large for ever.
      refused_ = chunks_.used_bytes() > 0;
      return;
    }
    alone = false;
    ++flights_;
    uint64_t wanted = 0;
    for (const ReadPlan::Item& item : plan->items) wanted += item.place.bytes;
    statistics_.Add(Stat::kJoinedBytes, plan->bytes - std::min(plan->bytes, wanted));
    const auto flight = std::make_shared<Flight>(*store_, engine_, statistics_, *plan, std::move(chunk));
    flight->Begin(cache_,
                  [this](const std::shared_ptr<Flight>& landed) { Post([this, landed] { OnLanded(landed); }); });
  }
}

// Whether the warehouse has all of it already: another mount of the store has put it there.
bool Prefetcher::AlreadyKept(const ReadPlan& plan) {
  if (!kept_) return false;
  for (const ReadPlan::Item& item : plan.items) {
    const Result<Entry> entry = store_->Get(item.file);
    if (!entry.ok() || !kept_->Contains(*entry)) return false;
  }
  planner_->PutBack(plan);
  for (const ReadPlan::Item& item : plan.items) planner_->Keeps(item.file);
  return true;
}

void Prefetcher::OnLanded(const std::shared_ptr<Flight>& flight) {
  --flights_;
  planner_->Ended(flight->plan(), NowUs());
  std::vector<Passenger>& passengers = flight->passengers();
  for (size_t i = 0; i < flight->plan().items.size(); ++i) {
    const bool ok = i < passengers.size() && passengers[i].ok;
    const ReadPlan::Item& item = flight->plan().items[i];
    const Arrival arrival = planner_->Arrived(item, ok);
    if (!ok) continue;
    Passenger& passenger = passengers[i];
    fetched_.Fetched(item.file);
    Keep(passenger.entry, passenger.blocks, arrival.keep);
    if (arrival.hold) {
      if (arrival.copy && flight->plan().items.size() > 1) GiveOwnMemory(passenger, chunks_, cache_);
      held_[item.file] = std::move(passenger.blocks);
    } else if (!arrival.keep.keep) {
      Wasted(item.file);
    }
  }
  passengers.clear();
}

// The planner counts the file as kept from now on; until it is there, the blocks stay at hand.
void Prefetcher::Keep(const Entry& file, std::span<const BlockRef> blocks, const KeepPlan& plan) {
  for (const EntryNumber out : plan.evict) Wasted(out);
  // When it cannot follow, what it has yet to copy would hold the memory that reads ahead need. But what is read for
  // nothing else than to be kept can wait for it.
  const bool behind = keeping_bytes_ >= options_.chunk_bytes / 4 && source_ != Source::kNothing;
  const bool take = plan.keep && !blocks.empty() && !behind;
  if (plan.keep && !take) planner_->KeepsNot(static_cast<EntryNumber>(file.number));
  if (plan.evict.empty() && !take) return;
  Keeper::Task task{.evict = plan.evict, .file = {}, .blocks = {}, .clear = {}};
  if (take) {
    task.file = file;
    task.blocks.assign(blocks.begin(), blocks.end());
    keeping_[static_cast<EntryNumber>(file.number)] = task.blocks;
    keeping_bytes_ += file.size;
  }
  ++keeps_;
  keeper_->Add(std::move(task));
}

void Prefetcher::OnKept(const std::optional<Entry>& file, bool kept) {
  --keeps_;
  if (!file) return;
  const auto number = static_cast<EntryNumber>(file->number);
  keeping_.erase(number);
  keeping_bytes_ -= file->size;
  if (kept) return;
  planner_->KeepsNot(number);
  // It holds less than was thought: others use it too, or the machine has no more memory to give now.
  planner_->SetKeptMax(planner_->gauges().kept_bytes);
  short_since_us_ = NowUs();
}

// The file's bytes are not in our memory any more; were they ever used?
void Prefetcher::Wasted(EntryNumber file) {
  if (held_.contains(file) || !fetched_.LetGo(file)) return;
  const Result<Entry> entry = store_->Get(file);
  if (entry.ok()) statistics_.Add(Stat::kWastedBytes, entry->size);
}

void Prefetcher::StartPushes() {
  if (sink_ == nullptr) return;
  while (pushes_ < kPushesAhead) {
    const std::optional<PushPlan> plan = planner_->NextPush();
    if (!plan) return;
    ++pushes_;
    PushQueue::Push push{.file = plan->file, .blocks = {}};
    if (const auto held = held_.find(plan->file); held != held_.end()) {
      push.blocks = held->second;
    } else if (const auto keeping = keeping_.find(plan->file); keeping != keeping_.end()) {
      push.blocks = keeping->second;
    }
    pusher_.Add(std::move(push));
  }
}

void Prefetcher::OnPushed(const PushQueue::Push& push, PushOutcome outcome, bool lost) {
  --pushes_;
  if (lost) return planner_->PushLost(push.file);
  const KeepPlan plan = planner_->Pushed(push.file, outcome);
  if (outcome == PushOutcome::kUnknown) {
    statistics_.Add(Stat::kPushesUnknown, 1);
    to_stat_.push_back(push.file);
    return;
  }
  if (outcome != PushOutcome::kPushed) return;
  const Result<Entry> entry = store_->Get(push.file);
  if (!entry.ok()) return;
  statistics_.Add(Stat::kPushes, 1);
  statistics_.Add(Stat::kPushedBytes, entry->size);
  fetched_.Pushed(push.file, NowUs());
  Keep(*entry, push.blocks, plan);
  if (plan.keep) held_.erase(push.file);
}

void Prefetcher::StartDrops() {
  std::vector<EntryNumber> files;
  while (true) {
    const std::optional<EntryNumber> file = planner_->NextDrop();
    if (!file) break;
    files.push_back(*file);
  }
  if (files.empty()) return;
  drops_ += files.size();
  statistics_.Add(Stat::kDroppedFiles, files.size());
  if (view_ != nullptr && view_->usable()) {
    view_->Drop(files, [this, files] {
      Post([this, files] {
        for (const EntryNumber file : files) OnDropped(file);
      });
    });
    return;
  }
  pusher_.AddDrops(files);
}

void Prefetcher::OnDropped(EntryNumber file) {
  --drops_;
  planner_->Dropped(file);
  // Where opens are not seen, what was pushed has likely been read.
  fetched_.Dropped(file, !opens_);
  if (!held_.contains(file) && fetched_.LetGo(file)) fetched_.Doubt(file, NowUs());
}

// What was dropped so long ago that its open would have been told.
void Prefetcher::SettleDoubts() {
  const uint64_t now_us = NowUs();
  while (true) {
    const std::optional<EntryNumber> file = fetched_.TakeWasted(now_us - std::min(now_us, kOpenToldUs));
    if (!file) return;
    const Result<Entry> entry = store_->Get(*file);
    if (entry.ok()) statistics_.Add(Stat::kWastedBytes, entry->size);
  }
}

// The kernel must know a file before its pages can be pushed: the view looks them up.
void Prefetcher::AskStats() {
  if (to_stat_.empty()) return;
  const std::vector<EntryNumber> unknown = std::exchange(to_stat_, {});
  std::vector<EntryNumber> files = unknown;
  // Nobody has looked these up, so those that come after them will not have been looked up either.
  for (const EntryNumber file : planner_->Upcoming(kStatAhead)) {
    if (statted_.insert(file).second) files.push_back(file);
  }
  const auto done = [this, unknown] {
    Post([this, unknown] {
      for (const EntryNumber file : unknown) planner_->Statted(file);
    });
  };
  if (view_ != nullptr && view_->usable()) {
    view_->Stat(files, done);
  } else {
    // They are pushed when the reader has looked them up by himself: they are tried once more, and then left alone.
    for (const EntryNumber file : unknown) planner_->Statted(file);
  }
}

void Prefetcher::Queue(const Order& order, Source source) {
  Planner& plan = planner();
  if (source_ != Source::kNothing && source != source_) {
    plan.Clear();
    filling_ = false;
  }
  source_ = source;
  keep_demand_.store(false, std::memory_order_relaxed);
  plan.Append(order);
  statted_.clear();
  std::vector<EntryNumber> folders;
  for (const EntryNumber file : order) {
    if (!probed_.insert(file).second) continue;
    const Result<Entry> entry = store_->Get(file);
    if (!entry.ok()) continue;
    const auto folder = static_cast<EntryNumber>(entry->parent);
    if (watched_.insert(folder).second) folders.push_back(folder);
    if (kept_ && kept_->Contains(*entry)) plan.Keeps(file);
  }
  if (view_ != nullptr && !folders.empty()) view_->Watch(folders);
}

void Prefetcher::FollowSequence() {
  if (source_ == Source::kOrder) {
    const PlannerGauges gauges = planner_->gauges();
    if (gauges.position < gauges.end) reads_at_end_ = reads_seen_;
    if (gauges.epochs_queued > 0) {
      // Some of it was not seen to be read, and the reader has gone on to something else.
      if (reads_seen_ - reads_at_end_ < kReadsAfterEnd) return;
      planner_->Clear();
      filling_ = false;
    }
    // The last order has ended: what comes is as unknown as before it.
    source_ = Source::kNothing;
    order_files_.store(0, std::memory_order_relaxed);
    keep_demand_.store(true, std::memory_order_relaxed);
  }
  if (!detector_.following()) {
    if (source_ == Source::kSequence) {
      source_ = Source::kNothing;
      keep_demand_.store(true, std::memory_order_relaxed);
      planner_->Clear();
      filling_ = false;
    }
    return;
  }
  if (planner_ && source_ == Source::kSequence) {
    const PlannerGauges gauges = planner_->gauges();
    if (gauges.end - std::min(gauges.end, gauges.position) >= kSequencePiece) return;
  }
  const Order piece = detector_.Take(kSequencePiece);
  if (!piece.empty()) Queue(piece, Source::kSequence);
}

void Prefetcher::FillWhenAllFits() {
  if (filling_ || !kept_ || reads_seen_ < kReadsToFill || source_ == Source::kOrder || source_ == Source::kForeseen) {
    return;
  }
  const uint64_t rounding = store_->summary().file_count * Warehouse::RoomFor(1);
  if (store_->summary().record_bytes + rounding > KeptMax()) return;
  const Result<std::shared_ptr<const Order>> files = path_order_.Files();
  if (!files.ok()) return;
  filling_ = true;
  planner().Fill(**files);
  for (const EntryNumber file : **files) {
    const Result<Entry> entry = store_->Get(file);
    if (entry.ok() && kept_->Contains(*entry)) planner_->Keeps(file);
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
    if (source_ != Source::kForeseen) return;
    planner_->Clear();
    filling_ = false;
    source_ = Source::kNothing;
    keep_demand_.store(true, std::memory_order_relaxed);
  });
}

uint64_t Prefetcher::ForeseenFilesMax() const { return options_.order_bytes_max / kOrderBytesPerFile; }

// So that the opens of its files are told, of which the page cache answers the reads.
void Prefetcher::WatchFolderOf(EntryNumber file) {
  const Result<Entry> entry = store_->Get(file);
  if (!entry.ok()) return;
  const auto folder = static_cast<EntryNumber>(entry->parent);
  if (watched_.insert(folder).second) view_->Watch({&folder, 1});
}

void Prefetcher::Saw(EntryNumber file, bool missed, uint64_t now_us) {
  ++reads_seen_;
  if (source_ != Source::kOrder && source_ != Source::kForeseen) detector_.Observe(file);
  if (missed && witness_.read && view_ != nullptr) WatchFolderOf(file);
  if (!planner_) return;
  const Sight sight = planner_->Saw(file, missed, now_us);
  const std::optional<uint64_t> since_us = fetched_.Used(file, missed);
  if (missed && sight.foreseen) {
    if (sight.sentinel) {
      statistics_.Add(Stat::kSentinels, 1);
    } else if (!sight.ready) {
      statistics_.Add(Stat::kStalls, 1);
    }
  }
  if (since_us) statistics_.Record(Histogram::kLeadTimeUs, now_us - std::min(now_us, *since_us));
}

void Prefetcher::OnRead(const Entry& file, uint32_t reader) {
  const auto number = static_cast<EntryNumber>(file.number);
  if (witness_.read) witness_.read(number, reader);
  Post([this, number] { Saw(number, true, NowUs()); });
}

void Prefetcher::OnOpened(std::span<const EntryNumber> files) {
  statistics_.Add(Stat::kOpens, files.size());
  if (witness_.opened) witness_.opened(files);
  Post([this, list = std::vector<EntryNumber>(files.begin(), files.end())] {
    const uint64_t now_us = NowUs();
    for (const EntryNumber file : list) Saw(file, false, now_us);
  });
}

std::optional<Warehouse::Pin> Prefetcher::Find(const Entry& file, uint64_t block) {
  return kept_ ? kept_->Find(file, block) : std::nullopt;
}

// With no order known, what comes first is kept and nothing is put out for it: whatever fits is then there in every
// epoch, where least recently used would throw away what is yet to come (DESIGN section 7).
void Prefetcher::OnLoaded(const Entry& file, uint64_t block, std::span<const std::byte> bytes) {
  if (!kept_ || !keep_demand_.load(std::memory_order_relaxed)) return;
  kept_->warehouse().Insert({.hash = file.hash, .size = file.size, .block = block}, bytes);
  if (file.size > kBlockBytes) return;
  const auto number = static_cast<EntryNumber>(file.number);
  Post([this, number] {
    if (!planner_) return;
    const Result<Entry> entry = store_->Get(number);
    if (entry.ok() && kept_->Contains(*entry)) planner_->Keeps(number);
  });
}

uint64_t Prefetcher::OrderFilesMax() const {
  const uint64_t files_max = options_.order_bytes_max / kOrderBytesPerFile;
  return files_max - std::min(files_max, order_files_.load(std::memory_order_relaxed));
}

Status Prefetcher::AddOrder(Order order) {
  if (order.size() > OrderFilesMax()) {
    return {Code::kNoSpace, std::to_string(order.size()) + " files are more than the memory for orders holds (" +
                                std::to_string(OrderFilesMax()) + "): raise memory="};
  }
  order_files_.fetch_add(order.size(), std::memory_order_relaxed);
  statistics_.Add(Stat::kOrdersAccepted, 1);
  Post([this, files = std::make_shared<const Order>(std::move(order))] { Queue(*files, Source::kOrder); });
  return Status::Ok();
}

std::vector<std::pair<std::string, std::string>> Prefetcher::Describe() const {
  const MutexLock lock(mu_);
  std::vector<std::pair<std::string, std::string>> facts = {{"policy", policy_}, {"progress", progress_}};
  if (disk_bytes_per_second_ > 0) {
    facts.emplace_back("disk", std::to_string(static_cast<uint64_t>(disk_read_us_)) + " us a read and " +
                                   std::to_string(static_cast<uint64_t>(disk_bytes_per_second_ / 1e6)) + " MB/s");
  }
  return facts;
}

DropReport Prefetcher::Drop() {
  auto report = std::make_shared<std::promise<DropReport>>();
  const auto event = [this, report] {
    uint64_t stocked_bytes = 0;
    if (planner_) {
      stocked_bytes = planner_->gauges().stock_bytes;
      const std::vector<EntryNumber> files = planner_->TakeStocked();
      drops_ += files.size();
      pusher_.AddDrops(files);
      // Nor is it filled again before somebody reads.
      planner_->EndFill();
      filling_ = false;
      reads_seen_ = reads_at_end_ = 0;
    }
    if (!kept_) return report->set_value({.warehouse_bytes = 0, .stocked_bytes = stocked_bytes});
    if (planner_) {
      for (const EntryNumber file : planner_->TakeKept()) Wasted(file);
    }
    // After what is still to be put in, which the planner has forgotten too.
    ++keeps_;
    keeper_->Add({.evict = {}, .file = {}, .blocks = {}, .clear = [report, stocked_bytes](uint64_t bytes) {
                    report->set_value({.warehouse_bytes = bytes, .stocked_bytes = stocked_bytes});
                  }});
  };
  {
    const MutexLock lock(mu_);
    if (!running_ || stopping_) return {};
    if (events_.empty()) posted_.NotifyOne();
    events_.push_back(event);
  }
  return report->get_future().get();
}

void Prefetcher::Publish() {
  statistics_.Set(Gauge::kReadsInFlight, flights_);
  statistics_.Set(Gauge::kPushesWaiting, pushes_);
  if (!planner_) return;
  const PlannerGauges gauges = planner_->gauges();
  statistics_.Set(Gauge::kOrdersQueued, gauges.epochs_queued);
  statistics_.Set(Gauge::kOrderPosition, gauges.position);
  statistics_.Set(Gauge::kOrderFiles, gauges.end);
  statistics_.Set(Gauge::kStockedAheadBytes, gauges.stock_bytes);
  if (source_ == Source::kOrder)
    order_files_.store(gauges.end - std::min(gauges.end, gauges.position), std::memory_order_relaxed);
  const MutexLock lock(mu_);
  if (planner_->disk().known()) {
    disk_read_us_ = planner_->disk().read_us();
    disk_bytes_per_second_ = planner_->disk().bytes_per_second();
  }
  policy_ = gauges.epochs_queued == 0 ? (filling_ ? "fill" : "idle") : gauges.sweeping ? "tiles" : "window";
}

}  // namespace augur
