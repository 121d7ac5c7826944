// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/steady_time.h"

namespace augur {
namespace {

// 4 KiB of each record are lost to alignment at most, and a chunk is a multiple of the pool's granule.
uint64_t ChunkBytes(uint64_t bytes) { return ShardSource::RoomFor(bytes); }

}  // namespace

void ReadPipeline::Start() {
  bool alone = false;
  while (!refused_) {
    const std::optional<ReadPlan> plan = planner_.NextRead(SteadyNowUs(), alone);
    if (!plan) {
      if (planner_.pauses()) means_.events.Post([] {});
      return;
    }
    if (AlreadyRetained(*plan)) continue;
    const bool rendered = AlreadyRendered(*plan);
    Buffer chunk;
    Memories memories;
    if (!Allocate(*plan, rendered ? nullptr : &chunk, &memories)) {
      planner_.PutBack(*plan);
      // What is held may lie so that there is room for a file, but not for its neighbours with it.
      alone = !alone && plan->items.size() > 1;
      if (alone) continue;
      // When nothing of it is in use, nothing will be let go, and the file is too large for ever.
      refused_ = means_.memory.used_bytes() > 0;
      return;
    }
    alone = false;
    pages_.Coming(*plan);
    if (rendered) {
      RenderWithoutRecords(*plan, memories);
    } else {
      Read(*plan, std::move(chunk), memories);
    }
  }
}

// Memory for a read, where one is needed, and for what will be rendered from its records. False: there is not enough.
bool ReadPipeline::Allocate(const ReadPlan& plan, Buffer* chunk, Memories* memories) {
  std::vector<size_t> sizes;
  for (const ReadPlan::Item& item : plan.items) {
    if (item.place.rendered) sizes.push_back(item.place.bytes);
  }
  if (chunk != nullptr) sizes.push_back(ChunkBytes(plan.bytes));
  std::vector<Buffer> buffers = means_.memory.AllocateAll(sizes);
  if (buffers.size() < sizes.size()) return false;
  if (chunk != nullptr) *chunk = std::move(buffers.back());
  auto next = buffers.begin();
  for (const ReadPlan::Item& item : plan.items) {
    if (item.place.rendered) memories->emplace(item.file, std::make_shared<SealableBuffer>(std::move(*next++)));
  }
  return true;
}

// Whether the retained cache has all of it already: another mount of the store has put it there.
bool ReadPipeline::AlreadyRetained(const ReadPlan& plan) {
  if (!retained_.exists()) return false;
  for (const ReadPlan::Item& item : plan.items) {
    const Result<ViewFile> file = files_.FileOf(item.file);
    if (!file.ok() || !retained_.Contains(*file)) return false;
  }
  planner_.PutBack(plan);
  for (const ReadPlan::Item& item : plan.items) planner_.SetRetained(item.file);
  return true;
}

// Whether all of it was rendered before and need not be rendered again: an earlier run has put it on a disk.
bool ReadPipeline::AlreadyRendered(const ReadPlan& plan) const {
  return std::ranges::all_of(plan.items, [this](const ReadPlan::Item& item) {
    if (!item.place.rendered) return false;
    const Result<ViewFile> file = files_.FileOf(item.file);
    return file.ok() && means_.views->HasRendered(*file);
  });
}

void ReadPipeline::Read(const ReadPlan& plan, Buffer chunk, const Memories& memories) {
  uint64_t wanted = 0;
  for (const ReadPlan::Item& item : plan.items) wanted += item.place.record_bytes;
  means_.batch.statistics.Add(Stat::kGapBytes, plan.bytes - std::min(plan.bytes, wanted));
  const auto read = std::make_shared<BatchRead>(means_.batch, plan, std::move(chunk));
  under_way_.insert(read.get());
  for (const ReadPlan::Item& item : plan.items) staged_.Begun(item.file);
  read->Begin(means_.cache, [this, memories](const std::shared_ptr<BatchRead>& done) {
    means_.events.Post([this, done, memories] { OnReadDone(*done, memories); });
  });
}

void ReadPipeline::Hurry(EntryNumber file) const {
  for (const BatchRead* const read : under_way_) {
    const std::vector<ReadPlan::Item>& items = read->plan().items;
    const bool brings = std::ranges::any_of(items, [file](const ReadPlan::Item& item) { return item.file == file; });
    if (brings) means_.batch.source.Hurry(read);
  }
}

void ReadPipeline::OnReadDone(BatchRead& read, const Memories& memories) {
  under_way_.erase(&read);
  planner_.Ended(read.plan(), SteadyNowUs(), read.asked());
  std::vector<RecordRead>& records = read.records();
  for (size_t i = 0; i < read.plan().items.size(); ++i) {
    const bool ok = i < records.size() && records[i].ok;
    const ReadPlan::Item& item = read.plan().items[i];
    const Result<ViewFile> file = files_.FileOf(item.file);
    if (!ok || !file.ok() || !records[i].claimed) staged_.Unjoined(item.file);
    if (!ok || !file.ok()) {
      (void)planner_.Arrived(item, false);
    } else if (file->rendered) {
      Render(item, *file, std::move(records[i].blocks), memories.at(item.file));
    } else {
      const Arrival arrival = planner_.Arrived(item, true);
      const bool copy = arrival.hold && arrival.copy && records.size() > 1;
      // What is kept is copied out of the chunk anyway.
      if (copy) CopyToOwnMemory(records[i], means_.memory, means_.cache);
      Take(*file, std::move(records[i].blocks), arrival);
    }
  }
  records.clear();
}

void ReadPipeline::RenderWithoutRecords(const ReadPlan& plan, const Memories& memories) {
  planner_.NotRead(plan);
  for (const ReadPlan::Item& item : plan.items) {
    staged_.Begun(item.file);
    const Result<ViewFile> file = files_.FileOf(item.file);
    if (file.ok()) {
      Render(item, *file, {}, memories.at(item.file));
    } else {
      staged_.Unjoined(item.file);
      (void)planner_.Arrived(item, false);
    }
  }
}

void ReadPipeline::Render(const ReadPlan::Item& item, const ViewFile& file, std::vector<BlockRef> record,
                          const std::shared_ptr<SealableBuffer>& memory) {
  ++renderings_;
  means_.views->RenderAhead(file, std::move(record), memory, [this, item, file, memory](const Status& status) {
    means_.events.Post([this, item, file, memory, ok = status.ok()] {
      --renderings_;
      const Arrival arrival = planner_.Arrived(item, ok);
      if (!ok) return staged_.Unjoined(item.file);
      std::vector<BlockRef> blocks;
      for (uint64_t block = 0; block < file.block_count(); ++block) {
        blocks.push_back(std::make_shared<CachedBlock>(memory, block * kBlockBytes, file.BlockBytes(block)));
      }
      Take(file, std::move(blocks), arrival);
    });
  });
}

// The bytes of a file are there.
void ReadPipeline::Take(const ViewFile& file, std::vector<BlockRef> blocks, const Arrival& arrival) {
  const auto number = static_cast<EntryNumber>(file.entry.number);
  staged_.Fetched(number);
  retained_.Retain(file, blocks, arrival.retain);
  if (arrival.hold) {
    staged_.Hold(number, std::move(blocks));
  } else if (!arrival.retain.retain) {
    staged_.LetGo(number);
  }
}

}  // namespace augur
