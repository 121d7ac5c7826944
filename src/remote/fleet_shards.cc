// SPDX-License-Identifier: Apache-2.0
#include "remote/fleet_shards.h"

#include <algorithm>
#include <utility>

namespace augur {

void FleetShards::Read(ShardRead read) {
  under_way_.Begin();
  const auto job = std::make_shared<Job>();
  job->read = std::move(read);
  const ShardRead& asked = job->read;
  job->found.resize(asked.blocks.size());
  if (asked.blocks.empty() || asked.again) return ReadServer(job);
  std::vector<FleetCopy::Place> places;
  places.reserve(asked.blocks.size());
  for (const WantedBlock& wanted : asked.blocks) {
    places.push_back({.block = wanted, .into = asked.memory + (OffsetOf(wanted) - asked.offset)});
  }
  copy_.Find(places, urgent_, [this, job](const std::vector<bool>& found) {
    job->found = found;
    const auto hits = static_cast<uint64_t>(std::ranges::count(found, true));
    copy_.statistics().Add(Stat::kFleetHits, hits);
    copy_.statistics().Add(Stat::kFleetMisses, found.size() - hits);
    ReadServer(job);
  });
}

void FleetShards::ReadServer(const JobRef& job) {
  const ShardRead& read = job->read;
  job->ranges = WantedRange::MissingApart(read, read.bytes, [&](size_t block) { return job->found[block]; });
  if (job->ranges.empty()) return End(job, {.status = Status::Ok()});
  {
    const MutexLock lock(job->mu);
    job->under_way = job->ranges.size();
  }
  for (const WantedRange& range : job->ranges) {
    server_->Read({.shard = read.shard,
                   .offset = range.begin,
                   .bytes = range.end - range.begin,
                   .blocks = range.blocks,
                   .memory = read.memory + (range.begin - read.offset),
                   .again = read.again,
                   .tag = read.tag,
                   .done = [this, job, &range](const ShardReadResult& result) { RangeRead(job, range, result); }});
  }
}

void FleetShards::RangeRead(const JobRef& job, const WantedRange& range, const ShardReadResult& result) {
  if (result.status.ok()) Keep(job->read, range);
  ShardReadResult all;
  {
    const MutexLock lock(job->mu);
    if (job->result.status.ok()) {
      job->result.status = result.status;
      job->result.retryable = result.retryable;
    }
    job->result.reads += result.reads;
    job->result.read_bytes += result.read_bytes;
    if (--job->under_way > 0) return;
    all = job->result;
  }
  End(job, all);
}

// Before the reader is told, who may let the memory go.
void FleetShards::Keep(const ShardRead& read, const WantedRange& range) const {
  for (const WantedBlock& wanted : range.blocks) {
    copy_.Keep(wanted, {read.memory + (OffsetOf(wanted) - read.offset), BytesOf(wanted)});
  }
}

void FleetShards::End(const JobRef& job, const ShardReadResult& result) {
  job->read.done(result);
  job->read.done = nullptr;
  under_way_.End();
}

void FleetShards::Drain() {
  under_way_.WaitForAll();
  server_->Drain();
}

}  // namespace augur
