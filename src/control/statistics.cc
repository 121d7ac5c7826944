// SPDX-License-Identifier: Apache-2.0
#include "control/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace augur {

const std::array<StatDefinition, kStatCount> kStatDefinitions = {{
    {Stat::kReads, "reads", "requests", "READ requests of the kernel",
     "reads that the kernel's page cache serves, which make no request; reads of files in .augur"},
    {Stat::kReadBytes, "read_bytes", "bytes", "bytes given to the kernel in answer to READ requests",
     "failed reads; bytes that the kernel's page cache serves; pushed bytes; files in .augur"},
    {Stat::kReadFailures, "read_failures", "requests", "READ requests answered with an error",
     "requests for nodes that are not files"},
    {Stat::kArchiveSamples, "archive_samples", "images", "images in archives of views that READ requests asked for",
     "images that the kernel reads ahead of its readers; images of which several begin in one page"},
    {Stat::kRecordCacheHits, "record_cache_hits", "blocks", "blocks that READ requests found in the record cache",
     "blocks that the kernel's page cache serves"},
    {Stat::kRecordCacheJoins, "record_cache_joins", "blocks",
     "blocks that READ requests waited for because a fetch of them was under way already",
     "reads ahead that joined a fetch"},
    {Stat::kRetainedCacheHits, "retained_cache_hits", "blocks", "blocks that READ requests found in the retained cache",
     "blocks that were copied out of it to be pushed"},
    {Stat::kMisses, "misses", "blocks", "blocks that READ requests fetched from the disk",
     "blocks that were read ahead; requests that joined a fetch"},
    {Stat::kStalls, "stalls", "requests", "READ requests of a predicted file that was not in memory yet",
     "files that are in no order; sentinels"},
    {Stat::kStallsUnderWay, "stalls_under_way", "requests",
     "those of the stalls whose file was just being read ahead: the reader was a little faster", ""},
    {Stat::kStallsTooLong, "stalls_too_long", "requests",
     "those of the stalls whose file is never read ahead, because it is longer than an eighth of the memory for that",
     ""},
    {Stat::kReadsNotPushed, "reads_not_pushed", "requests",
     "READ requests of a predicted file that was in memory, but not in the page cache yet", "sentinels"},
    {Stat::kReadsReclaimed, "reads_reclaimed", "requests",
     "READ requests of a predicted file that the page cache should have had: the kernel has taken its pages back",
     "further requests of the same file for the same use"},
    {Stat::kSentinels, "sentinels", "files",
     "files that were not pushed on purpose, and whose READ has told how far the reader is",
     "sentinels that are not read yet, or that the page cache still had"},
    {Stat::kOpens, "opens", "opens", "opens of files that inotify reported, or that came as requests (-o observe=open)",
     "opens in folders that are not watched; further opens of one file at the same time, which inotify reports as one"},
    {Stat::kDiskReads, "disk_reads", "reads",
     "reads from the shards; a read of several neighbouring files counts as one", "the index"},
    {Stat::kDiskBytes, "disk_bytes", "bytes",
     "bytes that these reads brought, with the bytes that alignment added and those of gaps (gap_bytes)", "the index"},
    {Stat::kDiskBusyUs, "disk_busy_us", "microseconds",
     "time in which at least one read of a shard was under way, for requests or ahead of them",
     "reads that have not ended yet, until one of them ends; the index"},
    {Stat::kGapBytes, "gap_bytes", "bytes",
     "bytes that were read only because they lie between two wanted files of one read", "bytes that alignment added"},
    {Stat::kWastedBytes, "wasted_bytes", "bytes", "bytes that were read ahead and dropped before they were used",
     "pushed bytes that the kernel dropped, which it does not report; gap_bytes"},
    {Stat::kCorruptBlocks, "corrupt_blocks", "blocks", "blocks from the disk that did not match their checksum",
     "defects of the index"},
    {Stat::kDiskErrors, "disk_errors", "failures",
     "reads of a shard that failed or ended early, and those whose shard cannot be opened",
     "wrong bytes (corrupt_blocks)"},
    {Stat::kIndexErrors, "index_errors", "failures",
     "requests and reads ahead that failed because the index is damaged or cannot be read", "names that do not exist"},
    {Stat::kImagesDecoded, "images_decoded", "images", "images that were decoded for a view",
     "images that could not be decoded"},
    {Stat::kDecodeErrors, "decode_errors", "images", "images that could not be decoded, once for each attempt",
     "images whose bytes could not be read; images that are too large for memory="},
    {Stat::kRenderedBytes, "rendered_bytes", "bytes", "bytes of the files that views made of decoded images",
     "files that a view shows unchanged"},
    {Stat::kRenderedHits, "rendered_hits", "requests", "READ requests of files of views that were in memory already",
     "requests that waited for a rendering under way; reads that the kernel's page cache serves"},
    {Stat::kDecodedHits, "decoded_hits", "files", "files of views read from the decoded cache instead of being decoded",
     "files that were found in memory"},
    {Stat::kDecodedKept, "decoded_kept", "files", "files of views that were written to the decoded cache",
     "files that were there already, or for which there was no room"},
    {Stat::kDiskCacheHits, "disk_cache_hits", "blocks",
     "blocks read from the copy on the local disk instead of from the server",
     "blocks that were asked of the server with their neighbours all the same"},
    {Stat::kDiskCacheKept, "disk_cache_kept", "blocks", "blocks that were put into that copy",
     "those that were there already, or had no room; those that the disk did not keep up with"},
    {Stat::kFleetHits, "fleet_hits", "blocks", "blocks read from the fleet's cache instead of from the store's server",
     "blocks that were asked of the store's server with their neighbours all the same"},
    {Stat::kFleetMisses, "fleet_misses", "blocks",
     "blocks that the fleet did not have, did not give in time, or gave with wrong bytes", ""},
    {Stat::kFleetKept, "fleet_kept", "blocks", "blocks that this mount put into the fleet's cache",
     "those of other mounts"},
    {Stat::kFleetRefused, "fleet_refused", "blocks",
     "blocks that the fleet's cache did not take, because the server is full (memcached -m) or away",
     "blocks that were not offered for that reason, or because the network did not keep up"},
    {Stat::kFleetWrong, "fleet_wrong", "blocks", "blocks that the fleet gave with other bytes than the record has", ""},
    {Stat::kFleetSweptBytes, "fleet_swept_bytes", "bytes",
     "bytes that this mount asked of the store's server to give them to the fleet, in large requests",
     "bytes that a reader or the prefetch of this mount asked for"},
    {Stat::kPushes, "pushes", "files", "files that were pushed into the kernel's page cache before they were read",
     "pushes that the kernel refused"},
    {Stat::kPushedBytes, "pushed_bytes", "bytes", "bytes of the pushed files", ""},
    {Stat::kPushesUnknown, "pushes_unknown", "files",
     "pushes that the kernel refused because it did not know the file's inode", ""},
    {Stat::kDroppedFiles, "dropped_files", "files", "files whose pages the daemon dropped from the page cache",
     "files that the kernel dropped by itself"},
    {Stat::kOrdersAccepted, "orders_accepted", "orders", "orders given by 'augurctl hint' and accepted",
     "orders that were found without a hint; refused ones"},
    {Stat::kOrdersFound, "orders_found", "orders", "epochs whose order was found without 'augurctl hint'",
     "epochs that were computed from the epoch before; passes in path order, which the prefetch recognises by itself"},
    {Stat::kOrdersLost, "orders_lost", "orders",
     "orders, found or given, that the reads no longer agreed with, or that ended early",
     "orders of jobs that have ended"},
    {Stat::kPrefetchAccessesDropped, "prefetch_accesses_dropped", "accesses",
     "reads and opens that the prefetch did not see because its queue was full", "those of accesses_dropped"},
    {Stat::kAccessesDropped, "accesses_dropped", "accesses",
     "reads and opens that the prediction did not see because its queue was full",
     "those of prefetch_accesses_dropped"},
    {Stat::kRestarts, "restarts", "daemons", "daemons that were started because the one before had died",
     "the first daemon of the mount"},
}};

const std::array<GaugeDefinition, kGaugeCount> kGaugeDefinitions = {{
    {Gauge::kReadsInFlight, "reads_in_flight", "reads",
     "reads from the shards that are under way, for requests and ahead of them", ""},
    {Gauge::kPushesWaiting, "pushes_waiting", "files",
     "files that are in memory and wait to be pushed into the page cache", ""},
    {Gauge::kOrdersQueued, "orders_queued", "orders",
     "orders that have not ended: the one that is followed, and those after it; a pass in path order counts in pieces",
     "orders for which there is no memory yet"},
    {Gauge::kOrderPosition, "order_position", "files",
     "the number of files from the first order of this view to the place where the reader is", "empty files"},
    {Gauge::kOrderFiles, "order_files", "files",
     "the number of files from the first order of this view to the end of the last; equal to order_position when no "
     "further file is predicted",
     "empty files"},
    {Gauge::kPushWindowBytes, "push_window_bytes", "bytes",
     "bytes in the page cache that count towards memory=: of pushed files, and of files that a READ brought while an "
     "order is known, until their reader is done with them; also pages that the kernel has dropped by itself",
     ""},
    {Gauge::kPageCacheLeftBytes, "page_cache_left_bytes", "bytes",
     "bytes in the page cache of files that were read, and left there for their next use; also pages that the kernel "
     "has dropped meanwhile, until a READ shows it",
     ""},
    {Gauge::kOrderBytes, "order_bytes", "bytes",
     "bytes of memory for the orders that are followed: a part for each file, and for each queued read",
     "orders that were found and are not followed yet"},
    {Gauge::kStagingBytes, "staging_bytes", "bytes",
     "bytes of memory for files that are being read ahead, or were read and are not pushed or kept yet", ""},
    {Gauge::kRenderedHeldBytes, "rendered_held_bytes", "bytes",
     "bytes of memory for files of views that readers have asked for: rendered, or being rendered",
     "files of views that were rendered ahead (staging_bytes)"},
    {Gauge::kDecodedCacheFiles, "decoded_cache_files", "files", "files of views in the decoded cache",
     "files that other daemons have written in the last seconds"},
    {Gauge::kDecodedCacheBytes, "decoded_cache_bytes", "bytes", "bytes that the decoded cache takes on its disk", ""},
    {Gauge::kDecodedCacheBytesMax, "decoded_cache_bytes_max", "bytes", "bytes that the decoded cache may take", ""},
    {Gauge::kDiskCacheBlocks, "disk_cache_blocks", "blocks",
     "blocks of records in the copy on the local disk, of any stores; with files of views in the same folder, these "
     "too",
     "what other daemons have put there in the last seconds"},
    {Gauge::kDiskCacheBytes, "disk_cache_bytes", "bytes", "bytes that the copy takes on its disk", ""},
    {Gauge::kDiskCacheBytesMax, "disk_cache_bytes_max", "bytes", "bytes that the copy may take (-o disk-cache-size=)",
     ""},
    {Gauge::kRetainedCacheBytes, "retained_cache_bytes", "bytes", "bytes of memory that the retained cache uses", ""},
    {Gauge::kRetainedCacheBytesMax, "retained_cache_bytes_max", "bytes", "bytes that the retained cache may use", ""},
    {Gauge::kRetainedCacheBlocks, "retained_cache_blocks", "blocks", "blocks that the retained cache keeps", ""},
    {Gauge::kRetainedCacheTakenBytes, "retained_cache_taken_bytes", "bytes",
     "bytes of memory that the retained cache has taken, free parts included; with cache=shm those of the shared file, "
     "for all its mounts together",
     ""},
    {Gauge::kBufferBytes, "buffer_bytes", "bytes", "bytes of memory for records that requests read",
     "buffers that are free"},
    {Gauge::kBufferBytesMax, "buffer_bytes_max", "bytes", "bytes that buffer_bytes may reach", ""},
    {Gauge::kMemoryBytes, "memory_bytes", "bytes", "memory of the daemon: anonymous and shared pages",
     "the kernel's page cache"},
    {Gauge::kMemoryBytesMax, "memory_bytes_max", "bytes",
     "bytes that memory_bytes and push_window_bytes may reach together (-o memory=)", ""},
    {Gauge::kIndexBytes, "index_bytes", "bytes", "bytes of the index in the daemon's memory", ""},
    {Gauge::kIndexBytesMax, "index_bytes_max", "bytes", "bytes of the index that may be in the daemon's memory",
     "names that were used, which stay even beyond that"},
    {Gauge::kDiskReadCostUs, "disk_read_cost_us", "microseconds",
     "time that one more read costs, as the prefetch has measured it; 0: not known yet", "the bytes of the read"},
    {Gauge::kDiskBytesPerSecond, "disk_bytes_per_second", "bytes",
     "bytes a second that the disk, or the way to the server, gives in large reads, as the prefetch has measured it; "
     "0: not known yet",
     ""},
    {Gauge::kStoreFiles, "store_files", "files", "files of the generation that is shown", "folders and links"},
    {Gauge::kStoreImages, "store_images", "files", "of them, images that a view can decode", ""},
    {Gauge::kStoreBytes, "store_bytes", "bytes", "the sizes of all these files together", ""},
    {Gauge::kIndexMissingBytes, "index_missing_bytes", "bytes",
     "bytes of the index that are still on the server; what is asked for comes first", "stores in a folder"},
    {Gauge::kServerRequests, "server_requests", "requests", "requests sent to the server of the store, since the start",
     "those for credentials; stores in a folder"},
    {Gauge::kServerBytes, "server_bytes", "bytes", "bytes of all its answers", "their heads"},
    {Gauge::kServerRetries, "server_retries", "requests", "of the requests, those after a failure", "server_hedges"},
    {Gauge::kServerHedges, "server_hedges", "requests",
     "of the requests, those sent a second time because the answer began or ended late", ""},
    {Gauge::kServerSlowDowns, "server_slow_downs", "answers", "answers that asked to slow down (503, 429)", ""},
    {Gauge::kServerRequestsMax, "server_requests_max", "requests",
     "requests in flight at most, of those that no reader waits for: as many as make it faster, up to -o max-requests=",
     ""},
    {Gauge::kServerDown, "server_down", "0 or 1", "1: the server cannot be reached, and reads wait for it", ""},
    {Gauge::kFleetMembers, "fleet_members", "servers", "servers of the fleet's cache (-o fleet-cache=)", ""},
    {Gauge::kFleetMembersOut, "fleet_members_out", "servers",
     "of them, those that are not asked now, because they did not answer three times in a row", ""},
    {Gauge::kFleetSweepPercent, "fleet_sweep_percent", "percent",
     "how much of its share of the store this mount has looked at, to give the fleet what is missing", ""},
    {Gauge::kKernelInodes, "kernel_inodes", "inodes",
     "inodes of the mount that the kernel knows, about 1 KiB of its memory each; one that it looked up twice counts "
     "twice",
     "the root"},
}};

const std::array<HistogramDefinition, kHistogramCount> kHistogramDefinitions = {{
    {Histogram::kReadWaitUs, "read_wait_us", "microseconds",
     "how long READ requests waited for a disk, a server, or a decoder", "READ requests that memory answered at once"},
    {Histogram::kDiskReadUs, "disk_read_us", "microseconds",
     "how long reads of the shards took, for requests and ahead of them", "the index"},
    {Histogram::kLeadTimeUs, "lead_time_us", "microseconds",
     "how long a file was ready in the page cache before it was opened", "files whose open was not seen"},
    {Histogram::kDecodeTimeUs, "decode_time_us", "microseconds",
     "how long it took to decode an image and to render the file of a view", "reading the image; waiting for a thread"},
}};

namespace {

// The row of this name: one that is there, else the first that is free. nullptr: none is.
template <typename Row, size_t kRows>
Row* Take(std::array<Row, kRows>& rows, std::string_view name) {
  AUGUR_CHECK(name.size() < rows[0].name.size());
  for (Row& row : rows) {
    std::atomic_ref first(row.name[0]);
    if (first.load(std::memory_order_acquire) == '\0') {
      row.name.fill('\0');
      name.substr(1).copy(&row.name[1], row.name.size() - 2);
      first.store(name[0], std::memory_order_release);
      return &row;
    }
    if (name == row.name.data()) return &row;
  }
  return nullptr;
}

// ... or one of the daemon's own.
template <typename Row, size_t kRows>
Row* Take(std::array<Row, kRows>& lasting, std::array<Row, kRows>& own, std::string_view name) {
  Row* const row = Take(lasting, name);
  return row != nullptr ? row : Take(own, name);
}

}  // namespace

Statistics::Statistics(LastingStatistics* lasting) : lasting_(lasting != nullptr ? *lasting : own_) {
  for (size_t i = 0; i < kStatCount; ++i) {
    counters_[i] = Take(lasting_.counters, own_.counters, kStatDefinitions[i].name);
  }
  for (size_t i = 0; i < kHistogramCount; ++i) {
    histograms_[i] = Take(lasting_.histograms, own_.histograms, kHistogramDefinitions[i].name);
  }
}

uint64_t HistogramCounts::total() const { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

uint64_t HistogramCounts::Quantile(double share) const {
  const uint64_t all = total();
  if (all == 0) return 0;
  const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(all)));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kFiniteBuckets; ++bucket) {
    seen += counts[bucket];
    if (seen >= wanted) return UpTo(bucket);
  }
  return UINT64_MAX;
}

void Statistics::ReadFrom(Gauge gauge, std::function<uint64_t()> read) {
  const MutexLock lock(mu_);
  readers_[static_cast<size_t>(gauge)] = std::move(read);
}

void Statistics::Record(Histogram histogram, uint64_t value) {
  LastingStatistics::Buckets& buckets = *histograms_[static_cast<size_t>(histogram)];
  buckets.counts[HistogramCounts::BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  buckets.sum.fetch_add(value, std::memory_order_relaxed);
}

StatisticsSnapshot Statistics::Snapshot() const {
  StatisticsSnapshot snapshot;
  for (size_t i = 0; i < kStatCount; ++i) snapshot.counters[i] = counters_[i]->value.load(std::memory_order_relaxed);
  for (size_t i = 0; i < kHistogramCount; ++i) {
    HistogramCounts& out = snapshot.histograms[i];
    for (size_t bucket = 0; bucket < HistogramCounts::kBuckets; ++bucket) {
      out.counts[bucket] = histograms_[i]->counts[bucket].load(std::memory_order_relaxed);
    }
    out.sum = histograms_[i]->sum.load(std::memory_order_relaxed);
  }
  // Under the lock, so that a reader that has been taken away is not running any more.
  const MutexLock lock(mu_);
  for (size_t i = 0; i < kGaugeCount; ++i) {
    snapshot.gauges[i] = readers_[i] ? readers_[i]() : gauges_[i].load(std::memory_order_relaxed);
  }
  // A daemon that was killed may have counted what it never told the kernel, or the reverse.
  const auto inodes = static_cast<int64_t>(lasting_.kernel_inodes.load(std::memory_order_relaxed));
  snapshot.gauges[static_cast<size_t>(Gauge::kKernelInodes)] = static_cast<uint64_t>(std::max<int64_t>(inodes, 0));
  return snapshot;
}

}  // namespace augur
