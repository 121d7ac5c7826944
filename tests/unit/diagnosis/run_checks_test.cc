// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/diagnosis/made_run.h"

namespace augur {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Matcher;
using ::testing::Not;
using State = OrderReport::State;
using Weight = Finding::Weight;

constexpr uint64_t kMB = 1'000'000;

// A thousand files of 100 KB, of which all are images.
MadeRun Photographs() {
  return MadeRun()
      .Is(Gauge::kStoreFiles, 1000)
      .Is(Gauge::kStoreImages, 1000)
      .Is(Gauge::kStoreBytes, 100 * kMB)
      .Is(Gauge::kRetainedCacheBytesMax, 200 * kMB)
      .Is(Gauge::kMemoryBytesMax, 300 * kMB);
}

// Two readers that wait for 8 of their 20 seconds, in 500 files.
MadeRun Waiting() {
  return Photographs()
      .Job(State::kKnown, 0, 500, "torch RandomSampler")
      .Workers(2, 0.3, 0.2)
      .Counted(Stat::kReads, 500)
      .Took(Histogram::kReadWaitUs, 400, 20'000)
      .Is(Gauge::kOrdersQueued, 1);
}

MadeRun WaitingForDisk() { return Waiting().Counted(Stat::kDiskBusyUs, 9'500'000); }

// The same files, and nobody waits.
MadeRun NotWaiting(unsigned workers, double part, double machine_busy) {
  return Photographs().Job(State::kKnown, 1000, 2000, "a sampler").Workers(workers, part, machine_busy);
}

std::vector<Finding> Check(const MadeRun& run, const MachineFacts& machine = GoodMachine()) {
  return CheckRun(run.Window(), machine);
}

Matcher<const Finding&> Named(const std::string& name, Weight weight) {
  return AllOf(::testing::Field(&Finding::name, name), ::testing::Field(&Finding::weight, weight));
}

Matcher<const Finding&> Problem(const std::string& name) { return Named(name, Weight::kProblem); }
Matcher<const Finding&> Advice(const std::string& name) { return Named(name, Weight::kAdvice); }

std::string TextOf(const std::vector<Finding>& findings, const std::string& name) {
  const auto found = std::ranges::find(findings, name, &Finding::name);
  return found != findings.end() ? found->text + " -> " + found->cure : "no " + name;
}

struct Row {
  std::string what;
  MadeRun run;
  std::string problem;  // that must be found
  std::string text;     // that it must have: a number
};

TEST(CheckRun, FindsWhatHoldsTheRunBack) {
  const std::vector<Row> rows = {
      {"reads of one file each: their number binds",
       WaitingForDisk()
           .Counted(Stat::kDiskReads, 1500)
           .Counted(Stat::kDiskBytes, 150 * kMB)
           .Took(Histogram::kDiskReadUs, 1500, 12'000)
           .Is(Gauge::kDiskReadCostUs, 6600)
           .Is(Gauge::kDiskBytesPerSecond, 200 * kMB),
       "disk-iops", "150 reads/s and 14.3 MiB/s, 1.9 reads in flight, each 12.0 ms"},
      {"the same of a disk that was not measured",
       WaitingForDisk()
           .Counted(Stat::kDiskReads, 1500)
           .Counted(Stat::kDiskBytes, 150 * kMB)
           .Took(Histogram::kDiskReadUs, 1500, 12'000),
       "disk-iops", "(IOPS)"},
      {"large reads: their bytes bind",
       WaitingForDisk()
           .Counted(Stat::kDiskReads, 1500)
           .Counted(Stat::kDiskBytes, 1500 * kMB)
           .Took(Histogram::kDiskReadUs, 1500, 12'000)
           .Is(Gauge::kDiskReadCostUs, 100)
           .Is(Gauge::kDiskBytesPerSecond, 160 * kMB),
       "disk-bandwidth", "143.1 MiB/s"},
      {"a quick disk that is asked for one file at a time",
       Photographs()
           .Job(State::kSought, 0, 500, "not understood after 64 reads")
           .Workers(1, 0.3, 0.2)
           .Took(Histogram::kReadWaitUs, 500, 4000)
           .Counted(Stat::kDiskBusyUs, 1'100'000)
           .Counted(Stat::kDiskReads, 500)
           .Took(Histogram::kDiskReadUs, 500, 2200),
       "few-reads-in-flight", "1.0 reads in flight, each 2.2 ms"},
      {"a server that cannot be reached",
       Photographs().Is(Gauge::kServerRequests, 5).Is(Gauge::kServerDown, 1).Is(Gauge::kReadsInFlight, 2), "link-down",
       "cannot be reached"},
      {"a disk that answers nothing", Photographs().Is(Gauge::kReadsInFlight, 2), "reads-stuck",
       "2 reads wait for the mount, which has answered none in 10.0 s"},
      {"a server that asks to slow down",
       WaitingForDisk().Counted(Stat::kDiskReads, 1).Is(Gauge::kServerRequests, 5).Grew(Gauge::kServerSlowDowns, 7),
       "link-slow-down", "7 times"},
      {"a line that is full",
       WaitingForDisk()
           .Counted(Stat::kDiskReads, 900)
           .Counted(Stat::kDiskBytes, 900 * kMB)
           .Is(Gauge::kServerRequests, 5)
           .Is(Gauge::kDiskBytesPerSecond, 100 * kMB),
       "link-bandwidth", "95.4 MiB/s at most"},
      {"a server that is far away",
       WaitingForDisk()
           .Counted(Stat::kDiskReads, 90)
           .Counted(Stat::kDiskBytes, 9 * kMB)
           .Is(Gauge::kServerRequests, 5)
           .Is(Gauge::kDiskBytesPerSecond, 100 * kMB),
       "link-latency", "waits for the distance"},
      {"memory for a fifth of the store",
       WaitingForDisk()
           .Counted(Stat::kDiskReads, 1500)
           .Counted(Stat::kDiskBytes, 150 * kMB)
           .Is(Gauge::kRetainedCacheBytesMax, 20 * kMB),
       // 300 MB of memory= of which the cache has 20, and 80 more of the store: 380 MB are 362.4 MiB.
       "memory-small", "-o memory=363M would keep all of it"},
      {"nothing is read ahead", WaitingForDisk().Fact("prefetch", "off"), "predict-off", "predict=off"},
      {"too little memory to work out an order", Waiting().Is(Gauge::kOrdersQueued, 0).PredictsNothing(), "predict-off",
       "-o memory=256M"},
      {"an order that is not known", WaitingForDisk().Job(State::kSought, 100, 900, "not understood after 64 reads"),
       "order-unknown", "after 900 files"},
      {"images that are decoded in each epoch",
       Waiting()
           .Fact("view", "pixels+size=256")
           .Counted(Stat::kImagesDecoded, 500, 2000)
           .Counted(Stat::kRenderedBytes, 500 * kMB / 5, 2000 * kMB / 5)
           .Took(Histogram::kDecodeTimeUs, 500, 4000),
       "decoded-anew",
       "2,500 times so far, and the store has 1,000. This takes 0.2 of 8 processors. -> -o decoded-cache=DIR "
       "keeps the decoded images on a local disk. They take about 190.7 MiB there"},
      {"decoders that have no processor left",
       Waiting().Counted(Stat::kImagesDecoded, 500).Took(Histogram::kDecodeTimeUs, 500, 120'000), "decoding",
       "6.0 of 8 processors for 50 images/s"},
      {"images that the script decodes itself", NotWaiting(4, 0.95, 0.95), "decodes-in-script",
       "38.0 ms of a processor for each file; decoding is about 4.2 ms of that (estimated from the mean size"},
      {"... of which this mount has decoded some", NotWaiting(4, 0.95, 0.95).Took(Histogram::kDecodeTimeUs, 10, 19'000),
       "decodes-in-script",
       // 38 ms of which 19 need not be.
       "about 19.0 ms of that (measured at 10 images that this mount has decoded)"},
      {"... and what that would gain at most", NotWaiting(4, 0.95, 0.95).Took(Histogram::kDecodeTimeUs, 10, 19'000),
       "decodes-in-script", "read up to 2.0 times as many files"},
      {"two busy workers beside idle cores", NotWaiting(2, 0.95, 0.25), "few-workers",
       "The script has 2 workers. They use 1.9 processors, and 6.0 of 8 are idle. -> Give the loader num_workers=8: it "
       "could "
       "read up to 4.0 times as many files"},
      {"no idle core", NotWaiting(8, 0.95, 0.97), "processors",
       "All 8 processors are busy (97 %): the readers use 7.6, AugurFS 0.0, other programs 0.2."},
      {"processors that others use", NotWaiting(1, 0.9, 0.99), "other-programs", "other programs 7.0."},
      {"a script that waits for its GPU", NotWaiting(4, 0.02, 0.1), "script-waits", "2 % of a processor each"},
      {"damaged records", Waiting().Counted(Stat::kCorruptBlocks, 3).Fact("log", "/l"), "errors",
       "3 damaged records. -> The log names the files (/l). 'augurpack verify STORE' checks the whole store."},
      {"broken images", Waiting().Counted(Stat::kDecodeErrors, 2).Fact("log", "/l"), "errors",
       "2 images that could not be decoded. -> The log names the files (/l). An image that cannot be decoded was "
       "broken "
       "when it was packed: mend it, and pack it anew."},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const std::vector<Finding> findings = Check(row.run);
    EXPECT_THAT(findings, Contains(Problem(row.problem)));
    EXPECT_THAT(TextOf(findings, row.problem), HasSubstr(row.text));
  }
}

TEST(CheckRun, BlamesNeitherTheMountNorTheScriptForTheOther) {
  const std::vector<Finding> waits = Check(WaitingForDisk().Counted(Stat::kDiskReads, 10));
  EXPECT_THAT(waits, Contains(Problem("waiting")));
  EXPECT_THAT(
      TextOf(waits, "waiting"),
      HasSubstr("The script has read 50 files/s with 2 readers. These waited for the mount for 40 % of their time "
                "(8.0 s of 10.0 s in all)."));
  for (const char* of_script : {"few-workers", "processors", "script-waits", "decodes-in-script", "not-waiting"}) {
    EXPECT_THAT(waits, Not(Contains(::testing::Field(&Finding::name, of_script))));
  }
  const std::vector<Finding> busy = Check(NotWaiting(2, 0.95, 0.25).Counted(Stat::kDiskReads, 10));
  EXPECT_THAT(busy, Contains(Named("not-waiting", Weight::kFine)));
  for (const char* of_mount : {"waiting", "disk-iops", "disk-bandwidth", "memory-small", "order-unknown"}) {
    EXPECT_THAT(busy, Not(Contains(::testing::Field(&Finding::name, of_mount))));
  }
}

TEST(CheckRun, SaysWhenNothingIsRead) {
  EXPECT_THAT(Check(Photographs()), ElementsAre(Advice("nothing-read")));
  EXPECT_THAT(Check(Photographs().Workers(2, 0.9, 0.3)),
              ElementsAre(Named("page-cache", Weight::kFine), Problem("few-workers")));
  EXPECT_THAT(Check(Photographs().Workers(8, 0.5, 0.5)),
              ElementsAre(Named("page-cache", Weight::kFine), Problem("script-waits")));
}

// The script fills one of two processors, and the daemon a part of the other one.
TEST(CheckRun, KnowsThatHalfAProcessorIsRoomForAWorker) {
  MachineFacts machine = GoodMachine();
  machine.cores = 2;
  EXPECT_THAT(TextOf(Check(NotWaiting(1, 0.95, 0.6), machine), "few-workers"),
              HasSubstr("The script has 1 worker. It uses 0.9 processors, and 0.8 of 2 are idle. -> Give the loader "
                        "num_workers=2: it could read up to 1.8 times as many files."));
  EXPECT_THAT(Check(NotWaiting(1, 0.95, 0.8), machine), Not(Contains(::testing::Field(&Finding::name, "few-workers"))));
}

TEST(CheckRun, IsContentWithARunThatIsInOrder) {
  const std::vector<Finding> findings = Check(Photographs().Job(State::kKnown, 0, 500, "a sampler"));
  EXPECT_THAT(findings, ElementsAre(Named("not-waiting", Weight::kFine), Named("order-known", Weight::kFine)));
  EXPECT_FALSE(HasProblem(findings));
}

TEST(CheckRun, RecommendsNoMemoryThatTheMachineDoesNotHave) {
  const MadeRun run = WaitingForDisk()
                          .Counted(Stat::kDiskReads, 1500)
                          .Is(Gauge::kStoreBytes, 900 * kMB)
                          .Is(Gauge::kRetainedCacheBytesMax, 100 * kMB);
  MachineFacts machine = GoodMachine();
  machine.memory_bytes = 1000 * kMB;
  // 70 % of the machine's, of which 400 MB are more than now, for the cache: 500 of 900 MB.
  EXPECT_THAT(TextOf(Check(run, machine), "memory-small"),
              HasSubstr("room for -o memory=668M, which would keep about 56 %"));
  machine.memory_bytes = 400 * kMB;
  EXPECT_THAT(TextOf(Check(run, machine), "memory-small"), HasSubstr("no room for much more"));
}

TEST(CheckRun, TellsOfMemoryThatWillBeMissedLater) {
  const auto read = [](uint64_t bytes) {
    return Photographs()
        .Job(State::kKnown, 0, 500, "a sampler")
        .Counted(Stat::kDiskReads, 10)
        .Counted(Stat::kDiskBytes, kMB, bytes)
        .Is(Gauge::kRetainedCacheBytesMax, 20 * kMB);
  };
  EXPECT_THAT(Check(read(200 * kMB)), Contains(Advice("memory-small"))) << "read over again";
  EXPECT_THAT(Check(read(50 * kMB)), Not(Contains(Advice("memory-small")))) << "the first epoch";
}

TEST(CheckRun, AdvisesBesideWhatHoldsTheRunBack) {
  const MadeRun quiet = Photographs().Job(State::kKnown, 0, 500, "a sampler");
  const auto with = [&](auto change) {
    MadeRun run = quiet;
    change(run);
    return Check(run);
  };
  EXPECT_THAT(with([](MadeRun& run) { run.Counted(Stat::kOrdersLost, 1); }), Contains(Advice("order-lost")));
  EXPECT_THAT(with([](MadeRun& run) { run.Counted(Stat::kAccessesDropped, 9); }), Contains(Advice("daemon-busy")));
  EXPECT_THAT(with([](MadeRun& run) { run.Counted(Stat::kDiskErrors, 0, 3); }), Contains(Advice("errors")));
  EXPECT_THAT(with([](MadeRun& run) { run.Fact("last_restart", "killed"); }), Contains(Advice("daemon-died")));
  EXPECT_THAT(with([](MadeRun& run) { run.Is(Gauge::kFleetMembersOut, 1); }), Contains(Advice("fleet-out")));
  EXPECT_THAT(
      with([](MadeRun& run) {
        run.Counted(Stat::kImagesDecoded, 1).Is(Gauge::kDecodedCacheBytesMax, 100).Is(Gauge::kDecodedCacheBytes, 99);
      }),
      Contains(Advice("decoded-cache-full")));
}

// What only matters before the first mount is not said of one that is there.
TEST(CheckRun, TakesWhatMattersOfTheMachine) {
  MachineFacts machine = GoodMachine();
  machine.fusermount.clear();
  machine.user_allow_other = false;
  machine.shm_bytes = 64 << 20;
  machine.mount_read_ahead_bytes = 16 << 10;
  const std::vector<Finding> findings = Check(Photographs(), machine);
  EXPECT_THAT(findings, Contains(Advice("dev-shm")));
  EXPECT_THAT(findings, Contains(Advice("read-ahead")));
  EXPECT_THAT(findings, Not(Contains(::testing::Field(&Finding::name, "fusermount"))));
  EXPECT_THAT(findings, Not(Contains(::testing::Field(&Finding::name, "user-allow-other"))));
}

}  // namespace
}  // namespace augur
