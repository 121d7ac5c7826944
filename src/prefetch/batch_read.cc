// SPDX-License-Identifier: Apache-2.0
#include "prefetch/batch_read.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "prefetch/shard_read_count.h"

namespace augur {

BatchRead::BatchRead(const Means& means, ReadPlan plan, Buffer chunk)
    : means_(means),
      failures_(means.store, means.statistics),
      plan_(std::move(plan)),
      chunk_(std::make_shared<SealableBuffer>(std::move(chunk))) {}

void BatchRead::Begin(RecordCache& cache, Done done) {
  done_ = std::move(done);
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
      if (!record.claims.back()) record.claimed = false;
    }
  }
  const auto known = std::ranges::find_if(records_, [](const RecordRead& one) { return !one.blocks.empty(); });
  if (known == records_.end()) return done_(shared_from_this());
  for (const RecordRead& record : records_) {
    for (uint64_t block = 0; block < record.blocks.size(); ++block) {
      wanted_.push_back({.file = record.entry, .block = block});
    }
  }
  ReadWhole(plan_.shard);
}

void BatchRead::ReadWhole(uint32_t shard) {
  writing_.emplace(chunk_->Write(0, ShardSource::RoomFor(plan_.bytes)));
  means_.source.Read({.shard = shard,
                      .offset = plan_.offset,
                      .bytes = plan_.bytes,
                      .blocks = wanted_,
                      .memory = writing_->data(),
                      .tag = this,
                      .done = [self = shared_from_this()](const ShardReadResult& read) { self->WholeRead(read); }});
}

void BatchRead::WholeRead(const ShardReadResult& read) {
  writing_.reset();
  Count(read);
  if (!read.status.ok() && read.retryable && records_.size() > 1) return ReadAlone(0, 0);
  skip_ = read.skip;
  for (RecordRead& record : records_) {
    if (record.blocks.empty()) continue;
    if (read.status.ok()) {
      CheckOne(record);
    } else {
      FailOne(record, failures_.Shard(record.entry, read.status));
    }
  }
  done_(shared_from_this());
}

void BatchRead::Count(const ShardReadResult& read) {
  CountShardRead(read, means_.statistics);
  asked_ = asked_ || read.reads > 0;
}

// Reads what is not there yet, block by block, one after the other, from this block of this record on. A block that
// others have brought, whose record it shares, needs no read.
void BatchRead::ReadAlone(size_t record, uint64_t block) {
  for (; record < records_.size(); ++record, block = 0) {
    const RecordRead& one = records_[record];
    for (; block < one.blocks.size(); ++block) {
      const uint64_t bytes = Store::BlockBytes(one.entry, block);
      if (chunk_->Unsealed(PlaceOf(one, block), bytes).empty()) continue;
      if (alone_ == nullptr) {
        alone_ = AllocateAligned(ShardSource::kMargin, ShardSource::RoomFor(kBlockBytes));
        AUGUR_CHECK(alone_ != nullptr);
      }
      return means_.source.Read({.shard = one.item.place.shard,
                                 .offset = one.item.place.offset + block * kBlockBytes,
                                 .bytes = bytes,
                                 .memory = alone_.get(),
                                 .done = [self = shared_from_this(), record, block](const ShardReadResult& read) {
                                   self->BlockRead(record, block, read);
                                 }});
    }
    if (!one.blocks.empty()) CheckOne(records_[record]);
  }
  done_(shared_from_this());
}

// Bytes that were handed out with a neighbour stay as they are.
void BatchRead::BlockRead(size_t record, uint64_t block, const ShardReadResult& read) {
  Count(read);
  RecordRead& one = records_[record];
  if (!read.status.ok()) {
    FailOne(one, failures_.Shard(one.entry, read.status));
    return ReadAlone(record + 1, 0);
  }
  const size_t place = PlaceOf(one, block);
  for (const auto& [begin, end] : chunk_->Unsealed(place, Store::BlockBytes(one.entry, block))) {
    std::memcpy(chunk_->Write(begin, end - begin).data(), alone_.get() + read.skip + (begin - place), end - begin);
  }
  ReadAlone(record, block + 1);
}

size_t BatchRead::PlaceOf(const RecordRead& record, uint64_t block) const {
  return skip_ + (record.item.place.offset - plan_.offset) + block * kBlockBytes;
}

// Checks each block that lies in the chunk, and hands it to those who wait for it.
void BatchRead::CheckOne(RecordRead& record) {
  record.ok = true;
  for (uint64_t block = 0; block < record.blocks.size(); ++block) {
    const size_t begin = PlaceOf(record, block);
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

void CopyToOwnMemory(RecordRead& record, BufferPool& pool, RecordCache& cache) {
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
