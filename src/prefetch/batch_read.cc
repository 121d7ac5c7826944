// SPDX-License-Identifier: Apache-2.0
#include "prefetch/batch_read.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace augur {

BatchRead::BatchRead(const Means& means, ReadPlan plan, Buffer chunk)
    : means_(means),
      failures_(means.store, means.statistics),
      plan_(std::move(plan)),
      chunk_(std::make_shared<SealableBuffer>(std::move(chunk))) {}

void BatchRead::Begin(RecordCache& cache, Landed landed) {
  done_ = std::move(landed);
  for (const ReadPlan::Item& item : plan_.items) {
    RecordRead& record = records_.emplace_back(RecordRead{.item = item, .entry = {}, .claims = {}, .blocks = {}});
    const Result<Entry> entry = means_.store.Get(item.file);
    if (entry.ok()) {
      record.entry = *entry;
      record.blocks.resize(Store::BlockCount(*entry));
    } else {
      (void)failures_.Index(entry.status());
    }
  }
  for (RecordRead& record : records_) {
    for (uint64_t block = 0; block < record.blocks.size(); ++block) {
      record.claims.push_back(cache.Claim(BlockKey::Of(record.entry, block), [&record, block](Result<BlockRef> loaded) {
        if (loaded.ok()) record.blocks[block] = std::move(loaded).value();
      }));
    }
  }
  const auto known = std::ranges::find_if(records_, [](const RecordRead& one) { return !one.blocks.empty(); });
  if (known == records_.end()) return done_(shared_from_this());
  means_.opener.Locate(known->entry, 0, [self = shared_from_this(), file = known->entry](Result<Extent> located) {
    if (located.ok()) return self->ReadWhole(std::move(located));
    self->FailAll(self->failures_.Shard(file, located.status()));
    self->done_(self);
  });
}

void BatchRead::ReadWhole(Result<Extent> located) {
  shard_ = std::move(located->file);
  const uint64_t align = shard_->align;
  chunk_begin_ = plan_.offset / align * align;
  const uint64_t end = plan_.offset + plan_.bytes;
  const Step all{
      .begin = chunk_begin_, .end = (end + align - 1) / align * align, .wanted_begin = plan_.offset, .wanted_end = end};
  Submit(all, [this, needed = static_cast<int64_t>(end - chunk_begin_)](int64_t result) {
    if (result < needed && records_.size() > 1) return RetryFrom(0);
    for (RecordRead& record : records_) {
      if (record.blocks.empty()) continue;
      if (result < needed) {
        FailOne(record, failures_.Read(record.entry, *shard_, result));
      } else {
        CheckOne(record);
      }
    }
    done_(shared_from_this());
  });
}

// Reads the sectors of the step. `done` is told how that ended, when nothing writes to the chunk any more.
void BatchRead::Submit(const Step& step, std::function<void(int64_t result)> done) {
  ReadRequest request{
      .fd = shard_->fd, .offset = step.begin, .data = nullptr, .bytes = step.end - step.begin, .done = {}};
  if (step.aside) {
    if (inactive_pages_ == nullptr)
      inactive_pages_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignMax, kAlignMax)));
    AUGUR_CHECK(inactive_pages_ != nullptr && request.bytes <= kAlignMax);
    request.data = inactive_pages_.get();
  } else {
    writing_.emplace(chunk_->Write(step.begin - chunk_begin_, request.bytes));
    request.data = writing_->data();
  }
  request.done = [self = shared_from_this(), done = std::move(done)](int64_t result) {
    self->writing_.reset();
    self->means_.statistics.Add(Stat::kDiskReads, 1);
    if (result > 0) self->means_.statistics.Add(Stat::kDiskBytes, static_cast<uint64_t>(result));
    done(result);
  };
  means_.engine.Submit(std::move(request));
}

// One after the other: their sectors overlap. A file whose record others have brought needs no read.
void BatchRead::RetryFrom(size_t record) {
  for (; record < records_.size(); ++record) {
    if (records_[record].blocks.empty()) continue;
    steps_ = StepsOf(records_[record].item.place);
    if (!steps_.empty()) return RetryNext(record);
    CheckOne(records_[record]);
  }
  done_(shared_from_this());
}

void BatchRead::RetryNext(size_t record) {
  if (steps_.empty()) {
    CheckOne(records_[record]);
    return RetryFrom(record + 1);
  }
  const Step step = steps_.front();
  steps_.pop_front();
  Submit(step, [this, record, step](int64_t result) {
    if (result < static_cast<int64_t>(step.wanted_end - step.begin)) {
      FailOne(records_[record], failures_.Read(records_[record].entry, *shard_, result));
      return RetryFrom(record + 1);
    }
    if (step.aside) {
      const uint64_t bytes = step.wanted_end - step.wanted_begin;
      const auto wanted = chunk_->Write(step.wanted_begin - chunk_begin_, bytes);
      std::memcpy(wanted.data(), inactive_pages_.get() + (step.wanted_begin - step.begin), bytes);
    }
    RetryNext(record);
  });
}

// The reads that bring what is not sealed of a record. Its first and its last sector may have bytes of a neighbour that
// was handed out: they are read aside, so that nothing writes to those bytes.
std::deque<BatchRead::Step> BatchRead::StepsOf(const FilePlace& place) const {
  const uint64_t align = shard_->align;
  std::deque<Step> steps;
  const auto read = [&](uint64_t begin, uint64_t end, bool aside) {
    if (begin == end) return;
    steps.push_back({.begin = begin / align * align,
                     .end = (end + align - 1) / align * align,
                     .wanted_begin = begin,
                     .wanted_end = end,
                     .aside = aside});
  };
  for (const auto& [from, to] : chunk_->Unsealed(place.offset - chunk_begin_, place.record_bytes)) {
    uint64_t begin = chunk_begin_ + from;
    uint64_t end = chunk_begin_ + to;
    const uint64_t head = begin / align * align;
    if (HasSealed(head, head + align)) {
      const uint64_t head_end = std::min(end, head + align);
      read(begin, head_end, true);
      begin = head_end;
    }
    const uint64_t tail = std::max(begin, end / align * align);
    if (tail < end && HasSealed(end / align * align, end / align * align + align)) {
      read(tail, end, true);
      end = tail;
    }
    read(begin, end, false);
  }
  return steps;
}

// Whether a byte of [begin, end) of the shard is sealed in the chunk.
bool BatchRead::HasSealed(uint64_t begin, uint64_t end) const {
  const SealableBuffer::Range range{.begin = begin - chunk_begin_, .end = end - chunk_begin_};
  const std::vector<SealableBuffer::Range> open = chunk_->Unsealed(range.begin, range.end - range.begin);
  return open.empty() || open.front() != range;
}

// Checks each block that lies in the chunk, and hands it to those who wait for it.
void BatchRead::CheckOne(RecordRead& record) {
  record.ok = true;
  for (uint64_t block = 0; block < record.blocks.size(); ++block) {
    const size_t begin = record.item.place.offset - chunk_begin_ + block * kBlockBytes;
    const uint64_t bytes = Store::BlockBytes(record.entry, block);
    Status status = means_.store.Check(record.entry, block, chunk_->Seal(begin, bytes));
    CachedBlock cached(chunk_, begin, bytes);
    if (!status.ok()) {
      record.ok = false;
      status = failures_.Check(record.entry, block, status);
      if (record.claims[block]) std::exchange(record.claims[block], nullptr)(status);
    } else if (record.claims[block]) {
      std::exchange(record.claims[block], nullptr)(std::move(cached));
    } else {
      record.blocks[block] = std::make_shared<CachedBlock>(std::move(cached));
    }
  }
  if (!record.ok) record.blocks.clear();
}

void BatchRead::FailOne(RecordRead& record, const Status& status) {
  for (RecordCache::Loaded& claim : record.claims) {
    if (claim) std::exchange(claim, nullptr)(status);
  }
  record.ok = false;
  record.blocks.clear();
}

void BatchRead::FailAll(const Status& status) {
  for (RecordRead& record : records_) FailOne(record, status);
}

void GiveOwnMemory(RecordRead& record, BufferPool& pool, RecordCache& cache) {
  for (uint64_t block = 0; block < record.blocks.size(); ++block) {
    BlockRef& from = record.blocks[block];
    const size_t bytes = from->bytes();
    Buffer buffer = pool.Allocate(bytes);
    if (!buffer) return;
    const auto own = std::make_shared<SealableBuffer>(std::move(buffer));
    std::memcpy(own->Write(0, bytes).data(), from->span().data(), bytes);
    own->Seal(0, bytes);
    CachedBlock copy(own, 0, bytes);
    from.reset();  // out of the cache, so that the copy can take its place
    const RecordCache::Loaded claim = cache.Claim(BlockKey::Of(record.entry, block), [&from](Result<BlockRef> loaded) {
      if (loaded.ok()) from = std::move(loaded).value();
    });
    if (claim) {
      claim(std::move(copy));
    } else {
      from = std::make_shared<CachedBlock>(std::move(copy));  // a reader has it, or is reading it
    }
  }
}

}  // namespace augur
