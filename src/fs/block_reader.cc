// SPDX-License-Identifier: Apache-2.0
#include "fs/block_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "prefetch/shard_read_count.h"

namespace augur {

BlockReader::BlockReader(std::shared_ptr<const Store> store, ShardSource& source, RecordCache& cache,
                         Statistics& statistics, KeptBlocks* kept, ReadObserver* observer)
    : store_(std::move(store)),
      source_(source),
      cache_(cache),
      statistics_(statistics),
      failures_(*store_, statistics),
      kept_(kept),
      observer_(observer) {}

void BlockReader::Get(const Entry& file, uint64_t block, Use use, RecordCache::Done done) {
  const size_t buffer_bytes = ShardSource::RoomFor(Store::BlockBytes(file, block));
  const RecordCache::Found found = cache_.Get(
      BlockKey::Of(file, block), buffer_bytes,
      [this, file, block, use](Buffer buffer, RecordCache::Loaded loaded) {
        Load(file, block, use, std::move(buffer), std::move(loaded));
      },
      std::move(done));
  if (found == RecordCache::Found::kPresent) statistics_.Add(Stat::kRecordCacheHits, 1);
  if (found == RecordCache::Found::kLoading) statistics_.Add(Stat::kRecordCacheJoins, 1);
}

std::optional<RetainedCache::Pin> BlockReader::FindKept(const ViewFile& file, uint64_t block) const {
  return kept_ != nullptr ? kept_->Find(file, block) : std::nullopt;
}

void BlockReader::Load(const Entry& file, uint64_t block, Use use, Buffer buffer, RecordCache::Loaded loaded) {
  const uint64_t block_bytes = Store::BlockBytes(file, block);
  if (const std::optional<RetainedCache::Pin> pin = FindKept(ViewFile::Original(file), block)) {
    statistics_.Add(Stat::kRetainedCacheHits, 1);
    AUGUR_CHECK(pin->bytes() == block_bytes);
    std::byte* to = buffer.data();
    for (const std::span<const std::byte> piece : pin->pieces()) to = std::ranges::copy(piece, to).out;
    loaded(CachedBlock(std::move(buffer), 0, block_bytes));
    return;
  }
  statistics_.Add(Stat::kMisses, 1);
  // std::function must be copyable, so the buffer travels in a shared_ptr.
  auto shared = std::make_shared<Buffer>(std::move(buffer));
  std::byte* const memory = shared->data();
  statistics_.Raise(Gauge::kReadsInFlight, 1);
  source_.Read({.shard = file.shard,
                .offset = file.offset + block * kBlockBytes,
                .bytes = block_bytes,
                .memory = memory,
                .done = [this, file, block, use, shared = std::move(shared),
                         loaded = std::move(loaded)](const ShardReadResult& read) {
                  statistics_.Lower(Gauge::kReadsInFlight, 1);
                  loaded(Finish(file, block, use, read, std::move(*shared)));
                }});
}

Result<CachedBlock> BlockReader::Finish(const Entry& file, uint64_t block, Use use, const ShardReadResult& read,
                                        Buffer buffer) {
  CountShardRead(read, statistics_);
  if (!read.status.ok()) return failures_.Shard(file, read.status);
  CachedBlock cached(std::move(buffer), read.skip, Store::BlockBytes(file, block));
  if (const Status status = store_->Check(file, block, cached.span()); !status.ok()) {
    return failures_.Check(file, block, status);
  }
  if (observer_ != nullptr && use == Use::kRead) observer_->OnLoaded(ViewFile::Original(file), block, cached.span());
  return cached;
}

}  // namespace augur
