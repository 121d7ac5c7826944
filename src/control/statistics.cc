// SPDX-License-Identifier: Apache-2.0
#include "control/statistics.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace augur {

const std::array<StatDefinition, kStatCount> kStatDefinitions = {{
    {Stat::kReads, "reads", "requests", "READ requests of the kernel",
     "what the kernel's page cache served: such reads make no request; the virtual files"},
    {Stat::kReadBytes, "read_bytes", "bytes", "bytes given to the kernel in answer to READ requests",
     "failed reads; what the kernel's page cache served; pushed bytes; the virtual files"},
    {Stat::kReadFailures, "read_failures", "requests", "READ requests answered with an error",
     "requests for something that is not a file"},
    {Stat::kRecordCacheHits, "record_cache_hits", "blocks", "blocks that READ requests found in the record cache",
     "what the kernel's page cache served"},
    {Stat::kRecordCacheJoins, "record_cache_joins", "blocks",
     "blocks that READ requests wanted while a fetch of them was under way, and waited for",
     "fetches ahead that joined"},
    {Stat::kRetainedCacheHits, "retained_cache_hits", "blocks", "blocks that READ requests found in the retained cache",
     "blocks that were taken out of it ahead of their use"},
    {Stat::kMisses, "misses", "blocks", "blocks that READ requests made be fetched from the disk",
     "fetches ahead; requests that joined a fetch under way"},
    {Stat::kStalls, "stalls", "requests", "READ requests of a predicted file that was not ready yet",
     "files that were in no order; sentinels"},
    {Stat::kSentinels, "sentinels", "files",
     "files left out of the push on purpose whose READ has told how far the "
     "reader is",
     "sentinels that nobody read yet, or that the page cache still had"},
    {Stat::kOpens, "opens", "opens", "opens of files that were seen from outside (inotify) or as requests",
     "opens in folders that are not watched; opens of one file at once, which the kernel tells as one"},
    {Stat::kDiskReads, "disk_reads", "reads", "reads from the shards, a chunk of joined blocks counting as one",
     "the index"},
    {Stat::kDiskBytes, "disk_bytes", "bytes", "bytes that those reads delivered, with what alignment and joining added",
     "the index"},
    {Stat::kGapBytes, "gap_bytes", "bytes",
     "bytes read in a chunk only because they lie between two blocks that were wanted", "what alignment added"},
    {Stat::kWastedBytes, "wasted_bytes", "bytes", "bytes fetched ahead and dropped before anybody read them",
     "pushed bytes that the kernel dropped: it does not tell; joined bytes"},
    {Stat::kCorruptBlocks, "corrupt_blocks", "blocks", "blocks from the disk that did not match their checksum",
     "defects of the index"},
    {Stat::kDiskErrors, "disk_errors", "failures",
     "reads of a shard that failed or ended early, and blocks or joined fetches whose shard cannot be opened",
     "wrong bytes (corrupt_blocks)"},
    {Stat::kIndexErrors, "index_errors", "failures",
     "requests and fetches that failed because the index is damaged or cannot be read", "names that are not there"},
    {Stat::kImagesDecoded, "images_decoded", "images", "images that were decoded for a view",
     "images that could not be decoded"},
    {Stat::kDecodeErrors, "decode_errors", "images", "images that could not be decoded, once for each attempt",
     "images whose bytes could not be read; images too large for memory="},
    {Stat::kRenderedBytes, "rendered_bytes", "bytes", "bytes of the files that were made of decoded images",
     "files that pass through a view"},
    {Stat::kRenderedHits, "rendered_hits", "requests", "READ requests that found the file of a view made already",
     "requests that joined the making; what the kernel's page cache served"},
    {Stat::kDecodedHits, "decoded_hits", "files", "files of views read from the decoded cache instead of being decoded",
     "files that were found in memory"},
    {Stat::kDecodedKept, "decoded_kept", "files", "files of views that were put into the decoded cache",
     "those that were there already, or had no room"},
    {Stat::kPushes, "pushes", "files", "files put into the kernel's page cache before they were read",
     "pushes that the kernel refused"},
    {Stat::kPushedBytes, "pushed_bytes", "bytes", "bytes of those files", "pages that the kernel has dropped since"},
    {Stat::kPushesUnknown, "pushes_unknown", "files",
     "pushes that the kernel refused because it did not know the file's inode", "the same file once it was known"},
    {Stat::kDroppedFiles, "dropped_files", "files", "files whose pages were dropped from the page cache by us",
     "files that the kernel dropped by itself"},
    {Stat::kOrdersAccepted, "orders_accepted", "orders", "orders given by 'augurctl hint' and accepted",
     "orders that were found without a hint; refused ones"},
    {Stat::kOrdersFound, "orders_found", "orders", "epochs whose order was found without 'augurctl hint'",
     "epochs that followed from one before them; passes in path order that the prefetch recognises by itself"},
    {Stat::kOrdersLost, "orders_lost", "orders",
     "orders, found or given, that ended early, or that the reads did not agree with any more",
     "orders of jobs that have ended"},
    {Stat::kPrefetchAccessesDropped, "prefetch_accesses_dropped", "accesses",
     "reads and opens that the prefetch did not see because its queue was full", "those of accesses_dropped"},
    {Stat::kAccessesDropped, "accesses_dropped", "accesses",
     "reads and opens that the prediction did not see because its queue was full",
     "those of prefetch_accesses_dropped"},
}};

const std::array<GaugeDefinition, kGaugeCount> kGaugeDefinitions = {{
    {Gauge::kReadsInFlight, "reads_in_flight", "reads",
     "reads from the shards that are under way: those that readers wait for, and those ahead of them", ""},
    {Gauge::kPushesWaiting, "pushes_waiting", "files", "files that are ready and wait to be put into the page cache",
     ""},
    {Gauge::kOrdersQueued, "orders_queued", "orders",
     "orders that have not ended: the one that is followed and those behind it, a pass in path order in pieces",
     "orders for which there is no room yet"},
    {Gauge::kOrderPosition, "order_position", "files",
     "where the reader is in the orders of this view, which are counted through, one after the other", "empty files"},
    {Gauge::kOrderFiles, "order_files", "files",
     "where the last order ends, counted as order_position is: the two are equal when nothing more is predicted",
     "empty files"},
    {Gauge::kPushWindowBytes, "push_window_bytes", "bytes",
     "bytes in the page cache that count within memory=: of files that were pushed there, or brought by a READ while "
     "an "
     "order or a pass is known, until their reader is done with them",
     "pages that the kernel has dropped by itself, which are still counted"},
    {Gauge::kPageCacheLeftBytes, "page_cache_left_bytes", "bytes",
     "bytes in the page cache of files that were read, and left there for their next use",
     "what the kernel has taken back meanwhile"},
    {Gauge::kOrderBytes, "order_bytes", "bytes", "bytes of memory for the files and reads of orders that are followed",
     "orders that were found and are not followed yet"},
    {Gauge::kStagingBytes, "staging_bytes", "bytes",
     "bytes of memory for what is read ahead and not pushed or kept yet", ""},
    {Gauge::kRenderedHeldBytes, "rendered_held_bytes", "bytes",
     "bytes of memory for files of views that were asked for, made or being made",
     "files of views that were made ahead"},
    {Gauge::kDecodedCacheFiles, "decoded_cache_files", "files", "files of views in the decoded cache",
     "what other daemons have put there in the last seconds"},
    {Gauge::kDecodedCacheBytes, "decoded_cache_bytes", "bytes", "bytes that the decoded cache takes on its disk", ""},
    {Gauge::kDecodedCacheBytesMax, "decoded_cache_bytes_max", "bytes", "bytes that it may take", ""},
    {Gauge::kRetainedCacheBytes, "retained_cache_bytes", "bytes", "bytes of memory that the retained cache uses", ""},
    {Gauge::kRetainedCacheBytesMax, "retained_cache_bytes_max", "bytes", "bytes that it may use", ""},
    {Gauge::kRetainedCacheBlocks, "retained_cache_blocks", "blocks", "blocks that it keeps", ""},
    {Gauge::kRetainedCacheTakenBytes, "retained_cache_taken_bytes", "bytes",
     "memory that the machine has given for it; with cache=shm that of the shared file, for all its mounts together",
     ""},
    {Gauge::kBufferBytes, "buffer_bytes", "bytes", "bytes of record buffers in use", "buffers that wait to be used"},
    {Gauge::kBufferBytesMax, "buffer_bytes_max", "bytes", "bytes of record buffers that there may be", ""},
    {Gauge::kMemoryBytes, "memory_bytes", "bytes", "memory of the daemon: anonymous and shared pages",
     "the kernel's page cache"},
    {Gauge::kMemoryBytesMax, "memory_bytes_max", "bytes", "memory that it may use (-o memory=)", ""},
    {Gauge::kIndexBytes, "index_bytes", "bytes", "bytes of the index in the daemon's memory", ""},
    {Gauge::kIndexBytesMax, "index_bytes_max", "bytes", "bytes of the index that may be in the daemon's memory",
     "names beyond that, which stay"},
    {Gauge::kIndexMissingBytes, "index_missing_bytes", "bytes",
     "bytes of the index that are still on the server; what is asked for comes first", "stores in a folder"},
    {Gauge::kServerRequests, "server_requests", "requests", "requests sent to the server of the store, since the start",
     "those for credentials; stores in a folder"},
    {Gauge::kServerBytes, "server_bytes", "bytes", "bytes of all its answers", "their heads"},
    {Gauge::kServerRetries, "server_retries", "requests", "of the requests, those after a failure", "server_hedges"},
    {Gauge::kServerHedges, "server_hedges", "requests",
     "of the requests, those sent a second time because the first byte of the answer was late", ""},
    {Gauge::kServerSlowDowns, "server_slow_downs", "answers", "answers that asked to slow down (503, 429)", ""},
    {Gauge::kServerRequestsMax, "server_requests_max", "requests",
     "requests in flight at most, of those that no reader waits for: as many as make it faster, up to -o max-requests=",
     ""},
    {Gauge::kServerDown, "server_down", "0 or 1", "1: the server cannot be reached, and reads wait for it", ""},
    {Gauge::kKernelInodes, "kernel_inodes", "inodes",
     "inodes of the mount that the kernel knows, about 1 KiB of its memory each: names that it was given less those it "
     "has given back, so one that it was given twice counts twice",
     "the root; inodes that are dropped with the whole mount"},
}};

const std::array<HistogramDefinition, kHistogramCount> kHistogramDefinitions = {{
    {Histogram::kLeadTimeUs, "lead_time_us", "microseconds",
     "how long a file was ready in the page cache before it was opened", "files whose open was not seen"},
    {Histogram::kDecodeTimeUs, "decode_time_us", "microseconds",
     "how long it took to decode an image and to make the file of a view of it", "reading it; waiting for a thread"},
}};

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
  Buckets& buckets = histograms_[static_cast<size_t>(histogram)];
  buckets.counts[HistogramCounts::BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  buckets.sum.fetch_add(value, std::memory_order_relaxed);
}

StatisticsSnapshot Statistics::Snapshot() const {
  StatisticsSnapshot snapshot;
  for (size_t i = 0; i < kStatCount; ++i) snapshot.counters[i] = counters_[i].load(std::memory_order_relaxed);
  for (size_t i = 0; i < kHistogramCount; ++i) {
    HistogramCounts& out = snapshot.histograms[i];
    for (size_t bucket = 0; bucket < HistogramCounts::kBuckets; ++bucket) {
      out.counts[bucket] = histograms_[i].counts[bucket].load(std::memory_order_relaxed);
    }
    out.sum = histograms_[i].sum.load(std::memory_order_relaxed);
  }
  // Under the lock, so that a reader that has been taken away is not running any more.
  const MutexLock lock(mu_);
  for (size_t i = 0; i < kGaugeCount; ++i) {
    snapshot.gauges[i] = readers_[i] ? readers_[i]() : gauges_[i].load(std::memory_order_relaxed);
  }
  return snapshot;
}

}  // namespace augur
