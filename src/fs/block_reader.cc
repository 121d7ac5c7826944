// SPDX-License-Identifier: Apache-2.0
#include "fs/block_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace augur {

BlockReader::BlockReader(std::shared_ptr<const Store> store, ReadEngine& engine, RecordCache& cache,
                         Statistics& statistics, DemandHooks* hooks)
    : store_(std::move(store)),
      engine_(engine),
      cache_(cache),
      statistics_(statistics),
      failures_(*store_, statistics),
      hooks_(hooks),
      opener_(store_) {}

void BlockReader::Get(const Entry& file, uint64_t block, Use use, RecordCache::Done done) {
  const size_t buffer_bytes = Store::BlockBytes(file, block) + 2 * size_t{kAlignMax};
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
  return hooks_ != nullptr ? hooks_->Find(file, block) : std::nullopt;
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
  opener_.Locate(file, block, [this, file, block, use, shared, loaded = std::move(loaded)](Result<Extent> extent) {
    if (extent.ok()) return Submit(file, block, use, std::move(extent).value(), shared, loaded);
    loaded(failures_.Shard(file, extent.status()));
  });
}

void BlockReader::Submit(const Entry& file, uint64_t block, Use use, Extent extent, std::shared_ptr<Buffer> buffer,
                         RecordCache::Loaded loaded) {
  const uint64_t align = extent.file->align;
  AUGUR_CHECK(align > 0 && align <= kAlignMax);
  const uint64_t begin = extent.offset / align * align;
  const uint64_t end = (extent.offset + extent.bytes + align - 1) / align * align;
  AUGUR_CHECK(end - begin <= buffer->bytes());
  ReadRequest request{.fd = extent.file->fd, .offset = begin, .data = buffer->data(), .bytes = end - begin, .done = {}};
  request.done = [this, file, block, use, extent = std::move(extent), begin, buffer = std::move(buffer),
                  loaded = std::move(loaded)](int64_t result) {
    statistics_.Lower(Gauge::kReadsInFlight, 1);
    loaded(Finish(file, block, use, extent, extent.offset - begin, result, std::move(*buffer)));
  };
  statistics_.Raise(Gauge::kReadsInFlight, 1);
  engine_.Submit(std::move(request));
}

Result<CachedBlock> BlockReader::Finish(const Entry& file, uint64_t block, Use use, const Extent& extent, size_t skip,
                                        int64_t result, Buffer buffer) {
  statistics_.Add(Stat::kDiskReads, 1);
  if (result > 0) statistics_.Add(Stat::kDiskBytes, static_cast<uint64_t>(result));
  if (result < static_cast<int64_t>(skip + extent.bytes)) return failures_.Read(file, *extent.file, result);
  CachedBlock cached(std::move(buffer), skip, extent.bytes);
  if (const Status status = store_->Check(file, block, cached.span()); !status.ok()) {
    return failures_.Check(file, block, status);
  }
  if (hooks_ != nullptr && use == Use::kRead) hooks_->OnLoaded(ViewFile::Original(file), block, cached.span());
  return cached;
}

}  // namespace augur
