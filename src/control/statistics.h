// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/mutex.h"

namespace augur {

// Every number that the daemon tells about itself, declared once here and described in the tables below. The kernel's
// page cache is the first level that can answer a reader, and what it answers makes no request: no number here can
// count it.

// Counters: they only grow, from the start of the mount, or of a daemon without a holder.
enum class Stat : size_t {
  // READ requests and what answered them, level by level.
  kReads,
  kReadBytes,
  kReadFailures,
  kArchiveSamples,
  kRecordCacheHits,
  kRecordCacheJoins,
  kRetainedCacheHits,
  kMisses,
  kStalls,
  kStallsUnderWay,
  kStallsTooLong,
  kReadsNotPushed,
  kReadsReclaimed,
  kSentinels,
  kOpens,
  // The disk.
  kDiskReads,
  kDiskBytes,
  kDiskBusyUs,
  kGapBytes,
  kWastedBytes,
  kCorruptBlocks,
  kDiskErrors,
  kIndexErrors,
  // Views.
  kImagesDecoded,
  kDecodeErrors,
  kRenderedBytes,
  kRenderedHits,
  kDecodedHits,
  kDecodedKept,
  // The copy of records of a server on the local disk.
  kDiskCacheHits,
  kDiskCacheKept,
  // The fleet's cache of records of a server.
  kFleetHits,
  kFleetMisses,
  kFleetKept,
  kFleetRefused,
  kFleetWrong,
  kFleetSweptBytes,
  // The page cache: what the daemon pushes and drops.
  kPushes,
  kPushedBytes,
  kPushesUnknown,
  kDroppedFiles,
  // Orders: given, found and lost.
  kOrdersAccepted,
  kOrdersFound,
  kOrdersLost,
  // Accesses of readers that a full queue did not take.
  kPrefetchAccessesDropped,
  kAccessesDropped,
  // The mount itself.
  kRestarts,
  kStatCount,  // not a counter
};

// Gauges: how things are now.
enum class Gauge : size_t {
  kReadsInFlight,
  kPushesWaiting,
  kOrdersQueued,
  kOrderPosition,
  kOrderFiles,
  kPushWindowBytes,
  kPageCacheLeftBytes,
  kOrderBytes,
  kStagingBytes,
  kRenderedHeldBytes,
  kDecodedCacheFiles,
  kDecodedCacheBytes,
  kDecodedCacheBytesMax,
  kDiskCacheBlocks,
  kDiskCacheBytes,
  kDiskCacheBytesMax,
  kRetainedCacheBytes,
  kRetainedCacheBytesMax,
  kRetainedCacheBlocks,
  kRetainedCacheTakenBytes,
  kBufferBytes,
  kBufferBytesMax,
  kMemoryBytes,
  kMemoryBytesMax,
  kIndexBytes,
  kIndexBytesMax,
  // What the prefetch has learned that the disk, or the way to the server, can do.
  kDiskReadCostUs,
  kDiskBytesPerSecond,
  // The store that is shown.
  kStoreFiles,
  kStoreImages,
  kStoreBytes,
  // Of a store on a server.
  kIndexMissingBytes,
  kServerRequests,
  kServerBytes,
  kServerRetries,
  kServerHedges,
  kServerSlowDowns,
  kServerRequestsMax,
  kServerDown,
  kFleetMembers,
  kFleetMembersOut,
  kFleetSweepPercent,
  // Beside it: the kernel's memory on our account, which it takes back when it needs to.
  kKernelInodes,
  kGaugeCount,  // not a gauge
};

// Distributions.
enum class Histogram : size_t {
  kReadWaitUs,
  kDiskReadUs,
  kLeadTimeUs,
  kDecodeTimeUs,
  kHistogramCount,  // not a histogram
};

// One row of a table: what a number is called everywhere (table, JSON, Prometheus), and what it means.
template <typename Id>
struct Definition {
  Id id;
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  std::string_view excludes;  // cases that are not counted
};
using StatDefinition = Definition<Stat>;
using GaugeDefinition = Definition<Gauge>;
using HistogramDefinition = Definition<Histogram>;

inline constexpr size_t kStatCount = static_cast<size_t>(Stat::kStatCount);
inline constexpr size_t kGaugeCount = static_cast<size_t>(Gauge::kGaugeCount);
inline constexpr size_t kHistogramCount = static_cast<size_t>(Histogram::kHistogramCount);
// In the order of the enums.
extern const std::array<StatDefinition, kStatCount> kStatDefinitions;
extern const std::array<GaugeDefinition, kGaugeCount> kGaugeDefinitions;
extern const std::array<HistogramDefinition, kHistogramCount> kHistogramDefinitions;

// Buckets of a histogram: bucket i has the values up to 2^i that no bucket before it has, the last one all others. 2^31
// microseconds are 36 minutes, longer than any file is predicted.
struct HistogramCounts {
  static constexpr size_t kFiniteBuckets = 32;
  static constexpr size_t kBuckets = kFiniteBuckets + 1;
  static constexpr uint64_t UpTo(size_t bucket) { return uint64_t{1} << bucket; }  // REQUIRES: a finite bucket
  static constexpr size_t BucketOf(uint64_t value) {
    const size_t bucket = value <= 1 ? 0 : static_cast<size_t>(std::bit_width(value - 1));
    return bucket < kFiniteBuckets ? bucket : kFiniteBuckets;
  }

  std::array<uint64_t, kBuckets> counts{};
  uint64_t sum = 0;

  uint64_t total() const;
  // The least bound of a bucket at or below which at least this share of the values lies, 0 < share <= 1. UINT64_MAX
  // when that is in the last bucket. 0 when there are no values.
  uint64_t Quantile(double share) const;
};

// All numbers, taken one after the other and not at one moment.
struct StatisticsSnapshot {
  std::array<uint64_t, kStatCount> counters{};
  std::array<uint64_t, kGaugeCount> gauges{};
  std::array<HistogramCounts, kHistogramCount> histograms{};

  uint64_t operator[](Stat stat) const { return counters[static_cast<size_t>(stat)]; }
  uint64_t operator[](Gauge gauge) const { return gauges[static_cast<size_t>(gauge)]; }
  const HistogramCounts& operator[](Histogram histogram) const { return histograms[static_cast<size_t>(histogram)]; }
};

// What goes on when another daemon takes over a mount: in memory that outlives the process. Each row has the name of
// its number, so that a daemon of another version finds those that it knows. Rows are taken from the first on, and
// never given back: the numbers that only another version has stay as they are. Safe from any thread and process, but
// that one process at a time takes rows. One that is killed in the middle of that has taken the row or not.
struct LastingStatistics {
  static constexpr size_t kCountersMax = 128;
  static constexpr size_t kHistogramsMax = 16;
  using Name = std::array<char, 40>;  // with a zero byte; its first byte is written last

  struct Counter {
    Name name{};
    std::atomic<uint64_t> value = 0;
  };
  struct Buckets {
    Name name{};
    std::array<std::atomic<uint64_t>, HistogramCounts::kBuckets> counts{};
    std::atomic<uint64_t> sum = 0;
  };
  std::array<Counter, kCountersMax> counters;
  std::array<Buckets, kHistogramsMax> histograms;
  std::atomic<uint64_t> kernel_inodes = 0;
};

// Statistics holds the numbers. Safe from any thread; all but Snapshot and ReadFrom are one or two atomic additions.
class Statistics {
 public:
  // `lasting`: where counters and histograms are, and go on; it outlives this. nullptr: here, from zero. So is one for
  // which no row is left there.
  explicit Statistics(LastingStatistics* lasting = nullptr);
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  void Add(Stat stat, uint64_t amount) {
    counters_[static_cast<size_t>(stat)]->value.fetch_add(amount, std::memory_order_relaxed);
  }
  uint64_t Get(Stat stat) const { return counters_[static_cast<size_t>(stat)]->value.load(std::memory_order_relaxed); }

  void Set(Gauge gauge, uint64_t value) { Cell(gauge).store(value, std::memory_order_relaxed); }
  // For gauges that several threads move; they must not be Set as well.
  void Raise(Gauge gauge, uint64_t amount) { Cell(gauge).fetch_add(amount, std::memory_order_relaxed); }
  void Lower(Gauge gauge, uint64_t amount) { Cell(gauge).fetch_sub(amount, std::memory_order_relaxed); }
  // Makes the gauge what `read` gives at each snapshot. `read` is called by threads that answer requests: it must not
  // wait. REQUIRES: all it uses lives until no snapshot is taken any more, or until ReadFrom(gauge, nullptr), after
  // which the gauge has the value of Set.
  void ReadFrom(Gauge gauge, std::function<uint64_t()> read);

  // Puts a value into the histogram.
  void Record(Histogram histogram, uint64_t value);

  StatisticsSnapshot Snapshot() const;

 private:
  // The inodes of the kernel outlive a daemon. All else that gauges tell of ends with it.
  std::atomic<uint64_t>& Cell(Gauge gauge) {
    return gauge == Gauge::kKernelInodes ? lasting_.kernel_inodes : gauges_[static_cast<size_t>(gauge)];
  }

  // Own synchronization.
  LastingStatistics own_;  // lasting_, unless that outlives this
  LastingStatistics& lasting_;
  // The row of each, in lasting_ or own_. Constant after construction.
  std::array<LastingStatistics::Counter*, kStatCount> counters_{};
  std::array<LastingStatistics::Buckets*, kHistogramCount> histograms_{};
  std::array<std::atomic<uint64_t>, kGaugeCount> gauges_{};

  mutable Mutex mu_{LockRank::kOuter};
  std::array<std::function<uint64_t()>, kGaugeCount> readers_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
