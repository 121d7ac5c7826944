// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetcher.h"

#include <algorithm>
#include <future>
#include <utility>

// What it carries out: reads, what is made of them, what is pushed and dropped.

namespace augur {
namespace {

// Files handed to the pushing threads and not pushed: enough that they never wait for the planning thread, which takes
// about as long for a round as they for a file.
constexpr uint64_t kPushesAhead = 16;
// Files that are looked up at once when the kernel turns out not to know one.
constexpr size_t kStatAhead = 256;
// Opens are told by another process within milliseconds; where it gets no processor, later.
constexpr uint64_t kOpenToldUs = 2'000'000;

// 4 KiB of each record are lost to alignment at most, and a chunk is a multiple of the pool's granule.
uint64_t ChunkBytes(uint64_t bytes) { return ShardSource::RoomFor(bytes); }

}  // namespace

void Prefetcher::StartReads() {
  bool alone = false;
  while (!refused_) {
    const std::optional<ReadPlan> plan = planner_->NextRead(NowUs(), alone);
    if (!plan) {
      if (planner_->pauses()) events_.Post([] {});
      return;
    }
    if (AlreadyKept(*plan)) continue;
    const bool made = AlreadyMade(*plan);
    Buffer chunk;
    Memories memories;
    if (!AllocateFor(*plan, made ? nullptr : &chunk, &memories)) {
      planner_->PutBack(*plan);
      // What is held may lie so that there is room for a file, but not for its neighbours with it.
      alone = !alone && plan->items.size() > 1;
      if (alone) continue;
      // When nothing of it is in use, nothing will be let go, and the file is too large for ever.
      refused_ = chunks_.used_bytes() > 0;
      return;
    }
    alone = false;
    if (names_unknown_) {
      for (const ReadPlan::Item& item : plan->items) StatAhead(item.file);
    }
    if (made) {
      MakeWithoutRecords(*plan, memories);
      continue;
    }
    ++batch_reads_;
    uint64_t wanted = 0;
    for (const ReadPlan::Item& item : plan->items) wanted += item.place.record_bytes;
    statistics_.Add(Stat::kJoinedBytes, plan->bytes - std::min(plan->bytes, wanted));
    const BatchRead::Means means = {.store = *store_, .source = shards_, .statistics = statistics_};
    const auto flight = std::make_shared<BatchRead>(means, *plan, std::move(chunk));
    flight->Begin(cache_, [this, memories](const std::shared_ptr<BatchRead>& landed) {
      events_.Post([this, landed, memories] { OnLanded(landed, memories); });
    });
  }
}

// Memory for a read, where one is needed, and for what will be made of its records. False: there is not enough.
bool Prefetcher::AllocateFor(const ReadPlan& plan, Buffer* chunk, Memories* memories) {
  std::vector<size_t> sizes;
  for (const ReadPlan::Item& item : plan.items) {
    if (item.place.made) sizes.push_back(item.place.bytes);
  }
  if (chunk != nullptr) sizes.push_back(ChunkBytes(plan.bytes));
  std::vector<Buffer> buffers = chunks_.AllocateAll(sizes);
  if (buffers.size() < sizes.size()) return false;
  if (chunk != nullptr) *chunk = std::move(buffers.back());
  auto next = buffers.begin();
  for (const ReadPlan::Item& item : plan.items) {
    if (item.place.made) memories->emplace(item.file, std::make_shared<SealableBuffer>(std::move(*next++)));
  }
  return true;
}

// Whether the retained cache has all of it already: another mount of the store has put it there.
bool Prefetcher::AlreadyKept(const ReadPlan& plan) {
  if (!kept_) return false;
  for (const ReadPlan::Item& item : plan.items) {
    const Result<ViewFile> file = Shown(item.file);
    if (!file.ok() || !kept_->Contains(*file)) return false;
  }
  planner_->PutBack(plan);
  for (const ReadPlan::Item& item : plan.items) planner_->Keeps(item.file);
  return true;
}

// Whether all of it was made before and need not be made again: an earlier run has put it on a disk.
bool Prefetcher::AlreadyMade(const ReadPlan& plan) const {
  return std::ranges::all_of(plan.items, [this](const ReadPlan::Item& item) {
    if (!item.place.made) return false;
    const Result<ViewFile> file = Shown(item.file);
    return file.ok() && views_->HasMade(*file);
  });
}

void Prefetcher::MakeWithoutRecords(const ReadPlan& plan, const Memories& memories) {
  planner_->NotRead(plan);
  for (const ReadPlan::Item& item : plan.items) {
    const Result<ViewFile> file = Shown(item.file);
    if (file.ok()) {
      Make(item, *file, {}, memories.at(item.file));
    } else {
      (void)planner_->Arrived(item, false);
    }
  }
}

void Prefetcher::OnLanded(const std::shared_ptr<BatchRead>& flight, const Memories& memories) {
  --batch_reads_;
  planner_->Ended(flight->plan(), NowUs());
  std::vector<RecordRead>& passengers = flight->passengers();
  for (size_t i = 0; i < flight->plan().items.size(); ++i) {
    const bool ok = i < passengers.size() && passengers[i].ok;
    const ReadPlan::Item& item = flight->plan().items[i];
    const Result<ViewFile> file = Shown(item.file);
    if (!ok || !file.ok()) {
      (void)planner_->Arrived(item, false);
    } else if (file->made) {
      Make(item, *file, std::move(passengers[i].blocks), memories.at(item.file));
    } else {
      const Arrival arrival = planner_->Arrived(item, true);
      const bool copy = arrival.hold && arrival.copy && passengers.size() > 1;
      // What is kept is copied out of the chunk anyway.
      if (copy) GiveOwnMemory(passengers[i], chunks_, cache_);
      Take(*file, std::move(passengers[i].blocks), arrival);
    }
  }
  passengers.clear();
}

void Prefetcher::Make(const ReadPlan::Item& item, const ViewFile& file, std::vector<BlockRef> record,
                      const std::shared_ptr<SealableBuffer>& memory) {
  ++makes_;
  views_->MakeAhead(file, std::move(record), memory, [this, item, file, memory](const Status& status) {
    events_.Post([this, item, file, memory, ok = status.ok()] {
      --makes_;
      const Arrival arrival = planner_->Arrived(item, ok);
      if (!ok) return;
      std::vector<BlockRef> blocks;
      for (uint64_t block = 0; block < file.block_count(); ++block) {
        blocks.push_back(std::make_shared<CachedBlock>(memory, block * kBlockBytes, file.BlockBytes(block)));
      }
      Take(file, std::move(blocks), arrival);
    });
  });
}

// The bytes of a file are there.
void Prefetcher::Take(const ViewFile& file, std::vector<BlockRef> blocks, const Arrival& arrival) {
  const auto number = static_cast<EntryNumber>(file.entry.number);
  fetched_.Fetched(number);
  Keep(file, blocks, arrival.keep);
  if (arrival.hold) {
    held_[number] = std::move(blocks);
  } else if (!arrival.keep.keep) {
    Wasted(number);
  }
}

void Prefetcher::StartPushes() {
  if (sink_ == nullptr) return;
  while (pushes_ < kPushesAhead) {
    const std::optional<PushPlan> plan = planner_->NextPush();
    if (!plan) return;
    const Result<ViewFile> file = Shown(plan->file);
    if (!file.ok()) {
      (void)planner_->Pushed(plan->file, PushOutcome::kEnded);
      planner_->KeepsNot(plan->file);
      continue;
    }
    ++pushes_;
    PushQueue::Push push{.file = *file, .blocks = {}};
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
  const auto file = static_cast<EntryNumber>(push.file.entry.number);
  if (lost) return planner_->PushLost(file);
  const KeepPlan plan = planner_->Pushed(file, outcome);
  if (outcome == PushOutcome::kUnknown) {
    statistics_.Add(Stat::kPushesUnknown, 1);
    unknown_.push_back(file);
    names_unknown_ = true;
  } else if (outcome == PushOutcome::kPushed) {
    statistics_.Add(Stat::kPushes, 1);
    statistics_.Add(Stat::kPushedBytes, push.file.size);
    fetched_.Pushed(file, NowUs());
  }
  Keep(push.file, push.blocks, plan);
  if (plan.keep) held_.erase(file);
}

void Prefetcher::StartDrops() {
  std::vector<EntryNumber> files;
  while (true) {
    const std::optional<EntryNumber> file = planner_->NextDrop();
    if (!file) break;
    files.push_back(*file);
  }
  DropPages(files);
}

void Prefetcher::DropPages(const std::vector<EntryNumber>& files) {
  if (files.empty()) return;
  drops_ += files.size();
  statistics_.Add(Stat::kDroppedFiles, files.size());
  if (view_ != nullptr && view_->usable()) {
    view_->Drop(files, [this, files] {
      events_.Post([this, files] {
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
    CountWasted(*file);
  }
}

// Once for each file of this order.
void Prefetcher::StatAhead(EntryNumber file) {
  if (statted_.insert(file).second) to_stat_.push_back(file);
}

// The kernel must know a file before its pages can be pushed: the view looks them up. Nobody has looked up some, so
// those that come after them will not have been looked up either.
void Prefetcher::AskStats() {
  if (unknown_.empty() && to_stat_.empty()) return;
  const std::vector<EntryNumber> unknown = std::exchange(unknown_, {});
  if (!unknown.empty()) {
    for (const EntryNumber file : planner_->Upcoming(kStatAhead)) StatAhead(file);
  }
  std::vector<EntryNumber> files = std::exchange(to_stat_, {});
  files.insert(files.begin(), unknown.begin(), unknown.end());
  const auto done = [this, unknown] {
    events_.Post([this, unknown] {
      if (!planner_) return;
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

}  // namespace augur
