// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/data_checks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/excerpt.h"
#include "base/units.h"
#include "diagnosis/finding_text.h"
#include "diagnosis/run_checks.h"

namespace augur {
namespace {

using Weight = Finding::Weight;

// Where the prefetch has not measured the disk: reads below this cost mostly their number, not their bytes.
constexpr double kSmallReadBytes = 256 * 1024;
// An SSD answers a read of a photograph in less; a disk that takes longer does not lack reads in flight.
constexpr double kQuickReadSeconds = 0.003;
constexpr double kFewInFlight = 1.5;
constexpr double kLinkFull = 0.7;
// Beside the data set, the machine needs memory for the script.
constexpr double kMachinePart = 0.7;
// The store was read this many times over before its rereading is told.
constexpr double kRereads = 1.2;
constexpr double kGainMin = 0.05;

bool IsOnServer(const RunWindow& window) { return window.Now(Gauge::kServerRequests) > 0; }

bool OrderIsKnown(const RunWindow& window) { return window.Now(Gauge::kOrdersQueued) > 0; }

double MeanReadSeconds(const RunWindow& window) {
  const HistogramCounts reads = window.Delta(Histogram::kDiskReadUs);
  return reads.total() == 0 ? 0 : static_cast<double>(reads.sum) / 1e6 / static_cast<double>(reads.total());
}

// "The disk was busy for 97 % of the time: 152 reads/s and 16.6 MiB/s, 1.9 reads in flight, each 6.4 ms."
std::string Traffic(const RunWindow& window, const std::string& what) {
  return what + " was busy for " + PercentText(window.disk_busy()) +
         " of the time: " + RateText(window.PerSecond(Stat::kDiskReads)) + " reads/s and " +
         BytesRateText(window.PerSecond(Stat::kDiskBytes)) + ", " + FixedText(window.reads_in_flight()) +
         " reads in flight, each " + TimeText(MeanReadSeconds(window)) + ".";
}

// What the reads, and what their bytes, take of a second, by what the prefetch has measured of the disk.
bool NumberOfReadsBinds(const RunWindow& window) {
  const double reads = window.PerSecond(Stat::kDiskReads);
  const double bytes = window.PerSecond(Stat::kDiskBytes);
  const auto most = static_cast<double>(window.Now(Gauge::kDiskBytesPerSecond));
  if (most <= 0) return bytes < reads * kSmallReadBytes;
  return reads * static_cast<double>(window.Now(Gauge::kDiskReadCostUs)) / 1e6 > bytes / most;
}

Finding CheckDisk(const RunWindow& window) {
  const std::string traffic = Traffic(window, "The disk");
  if (!OrderIsKnown(window) && window.reads_in_flight() < kFewInFlight && MeanReadSeconds(window) < kQuickReadSeconds) {
    return {.weight = Weight::kProblem,
            .name = "few-reads-in-flight",
            .text = traffic + " It could answer many at a time, but the script asks for one file after the other.",
            .cure =
                "Give the loader more workers (num_workers=), or tell the order, so that the daemon reads ahead: "
                "augurctl hint."};
  }
  if (NumberOfReadsBinds(window)) {
    return {.weight = Weight::kProblem,
            .name = "disk-iops",
            .text = traffic + " The number of reads a second holds it back (IOPS), not their bytes.",
            .cure = OrderIsKnown(window)
                        ? "The daemon already reads neighbouring files together. More memory= makes it read fewer "
                          "pieces; a disk with more IOPS, as a local SSD, gains most."
                        : "Tell the order (augurctl hint): then the daemon reads neighbouring files together, in "
                          "fewer reads. Or put the store on a disk with more IOPS, as a local SSD."};
  }
  return {.weight = Weight::kProblem,
          .name = "disk-bandwidth",
          .text = traffic + " Its bandwidth holds it back.",
          .cure =
              "Only reading less helps: more memory=, smaller files (a store packed with --decode and a smaller "
              "size=), or a disk with more bandwidth, as a local SSD."};
}

Finding CheckServer(const RunWindow& window) {
  const std::string traffic = Traffic(window, "The way to the server");
  const uint64_t slow_downs = window.Delta(Gauge::kServerSlowDowns);
  if (slow_downs > 0) {
    return {.weight = Weight::kProblem,
            .name = "link-slow-down",
            .text = traffic + " The server has asked " + FormatCount(slow_downs) + " times to slow down.",
            .cure =
                "Spread the objects over more prefixes, or ask for a higher limit. -o disk-cache=DIR keeps the "
                "records on the local disk, so that later epochs ask for none."};
  }
  const auto most = static_cast<double>(window.Now(Gauge::kDiskBytesPerSecond));
  const double bytes = window.PerSecond(Stat::kDiskBytes);
  const std::string keep =
      "-o disk-cache=DIR keeps the records on the local disk for later epochs, and -o fleet-cache= "
      "shares them among machines.";
  if (most > 0 && bytes > kLinkFull * most) {
    return {.weight = Weight::kProblem,
            .name = "link-bandwidth",
            .text = traffic + " It has given " + BytesRateText(most) + " at most: the line is full.",
            .cure = keep};
  }
  return {.weight = Weight::kProblem,
          .name = "link-latency",
          .text = traffic + " The line is not full: each request waits for the distance.",
          .cure = (OrderIsKnown(window) ? std::string("Raise -o max-requests=. ")
                                        : std::string("Give the loader more workers, or tell the order (augurctl "
                                                      "hint), so that more requests are in flight. ")) +
                  keep};
}

}  // namespace

std::vector<Finding> CheckData(const RunWindow& window, const MachineFacts& machine) {
  std::vector<Finding> findings;
  const bool waits = window.wait_share() >= kWaitShareMin;
  const bool reads = window.Delta(Stat::kDiskReads) > 0;
  if (waits && reads && window.disk_busy() >= kWaitShareMin) {
    findings.push_back(IsOnServer(window) ? CheckServer(window) : CheckDisk(window));
  }
  const uint64_t store = window.Now(Gauge::kStoreBytes);
  const uint64_t kept_max = window.Now(Gauge::kRetainedCacheBytesMax);
  const uint64_t kept = kept_max + window.Now(Gauge::kPageCacheLeftBytes);
  const bool rereads = static_cast<double>(window.Total(Stat::kDiskBytes)) > kRereads * static_cast<double>(store);
  if (!reads || store == 0 || (!waits && !rereads)) return findings;
  const double hits = std::min(static_cast<double>(kept) / static_cast<double>(store), 1.0);
  if (hits > 1 - kGainMin || !window.Fact("view").empty()) return findings;
  // More memory= goes to the retained cache.
  const uint64_t memory = window.Now(Gauge::kMemoryBytesMax);
  const uint64_t all = memory + (store - std::min(store, kept_max));
  const auto room = static_cast<uint64_t>(kMachinePart * static_cast<double>(machine.memory_bytes));
  const auto hits_of = [&](uint64_t bytes) {
    const uint64_t more = bytes > memory ? bytes - memory : 0;
    return std::min(static_cast<double>(kept_max + more) / static_cast<double>(store), 1.0);
  };
  std::string cure;
  if (all <= room) {
    const uint64_t half = memory + (all - memory) / 2;
    cure = "-o memory=" + SizeOption(all) + " would keep all of it; memory=" + SizeOption(half) + " about " +
           PercentText(hits_of(half)) + ". 'augurctl restart MOUNT -o memory=SIZE' changes it in a running mount.";
  } else if (hits_of(room) > hits + kGainMin) {
    cure = "This machine has room for -o memory=" + SizeOption(room) + ", which would keep about " +
           PercentText(hits_of(room)) + ". 'augurctl restart MOUNT -o memory=SIZE' changes it in a running mount.";
  } else {
    cure =
        "This machine has no room for much more. A faster disk, or images packed smaller (augurpack create "
        "--decode), would help.";
  }
  if (kept_max == 0) cure = "Mount without -o cache=none, so that memory keeps records. " + cure;
  findings.push_back({.weight = waits ? Weight::kProblem : Weight::kAdvice,
                      .name = "memory-small",
                      .text = "Memory has room for " + FormatSize(kept) + " of the " + FormatSize(store) +
                              " of the store. So about " + PercentText(hits) +
                              " of the files of a later epoch need no read of the disk.",
                      .cure = std::move(cure)});
  return findings;
}

}  // namespace augur
