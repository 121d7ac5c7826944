// SPDX-License-Identifier: Apache-2.0
#include "fs/block_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "prefetch/shard_read_count.h"

namespace augur {

BlockReader::BlockReader(std::shared_ptr<const Store> store, ShardSource& source, RecordCache& cache,
                         Statistics& statistics, RetainedBlocks* retained, ReadObserver* observer)
    : store_(std::move(store)),
      source_(source),
      cache_(cache),
      statistics_(statistics),
      failures_(*store_, statistics),
      retained_(retained),
      observer_(observer) {}

void BlockReader::Get(const Entry& file, uint64_t block, Use use, RecordCache::Done done) {
  const auto own = std::make_shared<bool>(false);
  RecordCache::Done answer = std::move(done);
  if (source_.may_differ()) {
    // The prefetch, which tries nothing again, may have got wrong bytes: then this reader reads for himself.
    answer = [this, file, block, use, own, done = std::move(answer)](Result<BlockRef> loaded) {
      if (*own || loaded.ok() || loaded.status().code() != Code::kCorrupt) return done(std::move(loaded));
      Ask(file, block, use, own, done);
    };
  }
  const RecordCache::Found found = Ask(file, block, use, own, std::move(answer));
  if (found == RecordCache::Found::kPresent) statistics_.Add(Stat::kRecordCacheHits, 1);
  if (found == RecordCache::Found::kLoading) statistics_.Add(Stat::kRecordCacheJoins, 1);
}

// Sets `*own` where this is who loads.
RecordCache::Found BlockReader::Ask(const Entry& file, uint64_t block, Use use, const std::shared_ptr<bool>& own,
                                    RecordCache::Done done) {
  const size_t buffer_bytes = ShardSource::RoomFor(Store::BlockBytes(file, block));
  return cache_.Get(
      BlockKey::Of(file, block), buffer_bytes,
      [this, file, block, use, own](Buffer buffer, RecordCache::Loaded loaded) {
        *own = true;
        Load(std::make_shared<Loading>(Loading{.wanted = {.file = file, .block = block},
                                               .use = use,
                                               .buffer = std::move(buffer),
                                               .loaded = std::move(loaded)}));
      },
      std::move(done));
}

std::optional<RetainedCache::Pin> BlockReader::FindRetained(const ViewFile& file, uint64_t block) const {
  return retained_ != nullptr ? retained_->Find(file, block) : std::nullopt;
}

void BlockReader::Load(std::shared_ptr<Loading> loading) {
  const auto& [file, block] = loading->wanted;
  const uint64_t block_bytes = Store::BlockBytes(file, block);
  if (const std::optional<RetainedCache::Pin> pin = FindRetained(ViewFile::Original(file), block)) {
    statistics_.Add(Stat::kRetainedCacheHits, 1);
    AUGUR_CHECK(pin->bytes() == block_bytes);
    std::byte* to = loading->buffer.data();
    for (const std::span<const std::byte> piece : pin->pieces()) to = std::ranges::copy(piece, to).out;
    loading->loaded(CachedBlock(std::move(loading->buffer), 0, block_bytes));
    return;
  }
  statistics_.Add(Stat::kMisses, 1);
  statistics_.Raise(Gauge::kReadsInFlight, 1);
  Read(std::move(loading), /*again=*/false);
}

void BlockReader::Read(std::shared_ptr<Loading> loading, bool again) {
  const auto& [file, block] = loading->wanted;
  ShardRead read{.shard = file.shard,
                 .offset = file.offset + block * kBlockBytes,
                 .bytes = Store::BlockBytes(file, block),
                 .blocks = {&loading->wanted, 1},
                 .memory = loading->buffer.data(),
                 .again = again,
                 .done = {}};
  read.done = [this, loading = std::move(loading), again](const ShardReadResult& result) {
    Finish(loading, result, again);
  };
  source_.Read(std::move(read));
}

void BlockReader::Finish(const std::shared_ptr<Loading>& loading, const ShardReadResult& read, bool again) {
  const auto& [file, block] = loading->wanted;
  CountShardRead(read, statistics_);
  const uint64_t block_bytes = Store::BlockBytes(file, block);
  Status status = read.status;
  if (status.ok()) {
    status = store_->Check(file, block, {loading->buffer.data() + read.skip, block_bytes});
    if (!status.ok() && !again && source_.may_differ()) return Read(loading, /*again=*/true);
    if (!status.ok()) status = failures_.Check(file, block, status);
  } else {
    status = failures_.Shard(file, status);
  }
  statistics_.Lower(Gauge::kReadsInFlight, 1);
  if (!status.ok()) return loading->loaded(status);
  CachedBlock cached(std::move(loading->buffer), read.skip, block_bytes);
  if (observer_ != nullptr && loading->use == Use::kRead) {
    observer_->OnLoaded(ViewFile::Original(file), block, cached.span());
  }
  loading->loaded(std::move(cached));
}

}  // namespace augur
