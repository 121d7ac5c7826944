// SPDX-License-Identifier: Apache-2.0
#include "prefetch/flight.h"

#include <spdlog/spdlog.h>

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace augur {

Flight::Flight(const Store& store, ReadEngine& engine, Statistics& statistics, ReadPlan plan, Buffer chunk)
    : store_(store),
      engine_(engine),
      statistics_(statistics),
      plan_(std::move(plan)),
      chunk_(std::make_shared<Buffer>(std::move(chunk))),
      memory_(chunk_->data()) {}

void Flight::Begin(RecordCache& cache, Landed landed) {
  landed_ = std::move(landed);
  Status status;
  for (const ReadPlan::Item& item : plan_.items) {
    Result<Entry> entry = store_.Get(item.file);
    if (!entry.ok()) {
      status = entry.status();
      break;
    }
    passengers_.push_back({.item = item, .entry = *entry, .claims = {}, .blocks = {}, .ok = false});
  }
  if (status.ok()) {
    Result<Extent> extent = store_.Locate(passengers_.front().entry, 0);
    if (extent.ok()) {
      shard_ = std::move(extent->file);
    } else {
      status = extent.status();
    }
  }
  for (Passenger& passenger : passengers_) {
    const uint64_t blocks = Store::BlockCount(passenger.entry);
    passenger.blocks.resize(blocks);
    for (uint64_t block = 0; block < blocks; ++block) {
      const RecordKey key{.hash = passenger.entry.hash, .size = passenger.entry.size, .block = block};
      passenger.claims.push_back(cache.Claim(key, [&passenger, block](Result<BlockRef> loaded) {
        if (loaded.ok()) passenger.blocks[block] = std::move(loaded).value();
      }));
    }
  }
  if (!status.ok()) {
    for (Passenger& passenger : passengers_) FailOne(passenger, status);
    landed_(shared_from_this());
    return;
  }
  chunk_begin_ = plan_.offset / shard_->align * shard_->align;
  Submit(plan_.offset, plan_.bytes, [this](bool whole) {
    if (!whole && passengers_.size() > 1) return RetryFrom(0);
    for (Passenger& passenger : passengers_) {
      if (whole) {
        CheckOne(passenger);
      } else {
        FailOne(passenger, Status(Code::kIo, shard_->path + ": cannot be read there"));
      }
    }
    landed_(shared_from_this());
  });
}

// Reads [offset, offset + bytes) of the shard to its place in the chunk. `done` is told whether all of it came.
void Flight::Submit(uint64_t offset, uint64_t bytes, std::function<void(bool whole)> done) {
  const uint64_t align = shard_->align;
  const uint64_t begin = offset / align * align;
  const uint64_t end = (offset + bytes + align - 1) / align * align;
  AUGUR_CHECK(begin >= chunk_begin_ && end - chunk_begin_ <= chunk_->bytes());
  ReadRequest request{
      .fd = shard_->fd, .offset = begin, .data = memory_ + (begin - chunk_begin_), .bytes = end - begin, .done = {}};
  request.done = [self = shared_from_this(), needed = offset + bytes - begin, done = std::move(done)](int64_t result) {
    self->statistics_.Add(Stat::kDiskReads, 1);
    if (result > 0) self->statistics_.Add(Stat::kDiskBytes, static_cast<uint64_t>(result));
    done(result >= 0 && static_cast<uint64_t>(result) >= needed);
  };
  engine_.Submit(std::move(request));
}

// One after the other: their sectors overlap.
void Flight::RetryFrom(size_t passenger) {
  if (passenger == passengers_.size()) return landed_(shared_from_this());
  const FilePlace& place = passengers_[passenger].item.place;
  Submit(place.offset, place.record_bytes, [this, passenger](bool whole) {
    if (whole) {
      CheckOne(passengers_[passenger]);
    } else {
      FailOne(passengers_[passenger],
              Status(Code::kIo, shard_->path + ": record " + std::to_string(passengers_[passenger].item.file) +
                                    ": cannot be read there"));
    }
    RetryFrom(passenger + 1);
  });
}

// Checks each block that lies in the chunk, and hands it to those who wait for it.
void Flight::CheckOne(Passenger& passenger) {
  passenger.ok = true;
  for (uint64_t block = 0; block < passenger.blocks.size(); ++block) {
    CachedBlock cached{.buffer = {},
                       .begin = passenger.item.place.offset - chunk_begin_ + block * kBlockBytes,
                       .bytes = Store::BlockBytes(passenger.entry, block),
                       .chunk = chunk_};
    const Status status = store_.Check(passenger.entry, block, cached.span());
    if (!status.ok()) {
      passenger.ok = false;
      statistics_.Add(Stat::kCorruptBlocks, 1);
      spdlog::error("{}: {}", Printable(store_.path()), status.text());
      if (passenger.claims[block]) std::exchange(passenger.claims[block], nullptr)(status);
    } else if (passenger.claims[block]) {
      std::exchange(passenger.claims[block], nullptr)(std::move(cached));
    } else {
      passenger.blocks[block] = std::make_shared<CachedBlock>(std::move(cached));
    }
  }
  if (!passenger.ok) passenger.blocks.clear();
}

void Flight::FailOne(Passenger& passenger, const Status& status) {
  spdlog::error("{}: {}", Printable(store_.path()), status.text());
  for (RecordCache::Loaded& claim : passenger.claims) {
    if (claim) std::exchange(claim, nullptr)(status);
  }
  passenger.ok = false;
  passenger.blocks.clear();
}

void GiveOwnMemory(Passenger& passenger, BufferPool& pool, RecordCache& cache) {
  for (uint64_t block = 0; block < passenger.blocks.size(); ++block) {
    BlockRef& from = passenger.blocks[block];
    Buffer buffer = pool.Allocate(from->bytes);
    if (!buffer) return;
    std::memcpy(buffer.data(), from->span().data(), from->bytes);
    CachedBlock copy{
        .buffer = {}, .begin = 0, .bytes = from->bytes, .chunk = std::make_shared<const Buffer>(std::move(buffer))};
    from.reset();  // out of the cache, so that the copy can take its place
    const RecordKey key{.hash = passenger.entry.hash, .size = passenger.entry.size, .block = block};
    const RecordCache::Loaded claim = cache.Claim(key, [&from](Result<BlockRef> loaded) {
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
