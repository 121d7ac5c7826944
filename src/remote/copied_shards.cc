// SPDX-License-Identifier: Apache-2.0
#include "remote/copied_shards.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "augur/store.h"
#include "remote/wanted_range.h"

namespace augur {

void CopiedShards::Read(ShardRead read) {
  under_way_.Begin();
  const auto job = std::make_shared<Job>();
  job->read = std::move(read);
  job->places.resize(job->read.blocks.size());
  // Wrong bytes that were not wrong for the copy: it must not bring them again.
  if (!job->read.again) {
    for (size_t i = 0; i < job->places.size(); ++i) job->places[i] = copy_.Find(job->read.blocks[i]);
  }
  ReadCopy(job);
}

// Reads the blocks that the copy has, one after the other; then the others.
void CopiedShards::ReadCopy(const JobRef& job) {
  for (; job->next < job->places.size(); ++job->next) {
    if (const std::optional<DiskCache::Place>& place = job->places[job->next]) return ReadPlace(job, *place);
  }
  ReadServer(job);
}

void CopiedShards::ReadPlace(const JobRef& job, const DiskCache::Place& place) {
  const ShardRead& read = job->read;
  std::byte* into = read.memory;
  if (read.blocks.size() > 1 || OffsetOf(read.blocks[0]) != read.offset) {
    if (job->memory == nullptr) {
      job->memory = AllocateAligned(kDiskCachePageBytes, DiskCopy::RoomFor(kBlockBytes));
      if (job->memory == nullptr) {
        std::fill(job->places.begin(), job->places.end(), std::nullopt);
        return ReadServer(job);
      }
    }
    into = job->memory.get();
  }
  engine_.Submit({.fd = place.file->fd.get(),
                  .offset = place.offset,
                  .data = into,
                  .bytes = DiskCopy::RoomFor(place.key.size),
                  .done = [this, job, into, size = place.key.size](int64_t result) {
                    CopyRead(job, {into, result < 0 ? 0 : std::min(static_cast<uint64_t>(result), size)});
                  }});
}

void CopiedShards::CopyRead(const JobRef& job, std::span<const std::byte> bytes) {
  std::optional<DiskCache::Place>& place = job->places[job->next];
  if (!place || !copy_.Check(*place, bytes)) {
    place.reset();
  } else if (job->memory != nullptr) {
    const uint64_t at = OffsetOf(job->read.blocks[job->next]) - job->read.offset;
    std::memcpy(job->read.memory + at, bytes.data(), bytes.size());
  }
  ++job->next;
  ReadCopy(job);
}

void CopiedShards::ReadServer(const JobRef& job) {
  job->memory.reset();
  const ShardRead& read = job->read;
  copy_.statistics().Add(Stat::kDiskCacheHits, static_cast<uint64_t>(std::ranges::count_if(
                                                   job->places, [](const auto& place) { return place.has_value(); })));
  const auto range = std::make_shared<const WantedRange>(
      WantedRange::Missing(read, [&](size_t block) { return job->places[block].has_value(); }));
  if (range->begin >= range->end) return End(job, {.status = Status::Ok()});
  server_->Read({.shard = read.shard,
                 .offset = range->begin,
                 .bytes = range->end - range->begin,
                 .blocks = range->blocks,
                 .memory = read.memory + (range->begin - read.offset),
                 .again = read.again,
                 .tag = read.tag,
                 .done = [this, job, range](const ShardReadResult& result) {
                   if (result.status.ok() && use_ == Use::kKeep) Keep(*job);
                   End(job, result);
                 }});
}

void CopiedShards::Keep(const Job& job) const {
  for (size_t i = 0; i < job.places.size(); ++i) {
    if (job.places[i]) continue;
    const WantedBlock& wanted = job.read.blocks[i];
    copy_.Keep(wanted, {job.read.memory + (OffsetOf(wanted) - job.read.offset), BytesOf(wanted)});
  }
}

void CopiedShards::End(const JobRef& job, const ShardReadResult& result) {
  job->read.done(result);
  job->read.done = nullptr;
  under_way_.End();
}

void CopiedShards::Drain() {
  under_way_.WaitForAll();
  server_->Drain();
}

}  // namespace augur
