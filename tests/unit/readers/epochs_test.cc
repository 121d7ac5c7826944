// SPDX-License-Identifier: Apache-2.0
#include "readers/epochs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "unit/readers/trace_simulation.h"

namespace augur {
namespace {

// Plays a trace to an EpochWatch and keeps what it says.
class Player {
 public:
  struct Begun {
    JobId job;
    uint32_t pass;
    uint64_t time_us;
  };

  explicit Player(TraceSimulation* trace, EpochOptions options = {})
      : trace_(*trace), table_(&trace->processes()), watch_(&table_, std::move(options)) {}

  void Play() {
    uint64_t count = 0;
    for (const Access& access : trace_.Accesses()) {
      trace_.processes().SetNow(access.time_us);
      if (const auto seen = watch_.See(access)) jobs_.insert(seen->job);
      if (access.time_us > kept_us_ + 100'000) {  // before a job may have ended
        Keep();
        kept_us_ = access.time_us;
      }
      watch_.Tick(access.time_us);
      for (const EpochWatch::Event& event : watch_.TakeEvents()) {
        if (event.what == EpochWatch::What::kBegun) {
          begun_.push_back({event.job, event.pass, access.time_us});
          Keep();
        } else if (event.what == EpochWatch::What::kEnded) {
          ended_.insert(event.job);
        }
      }
      if (++count % 97 == 0) Keep();
    }
    Keep();
    trace_.processes().SetNow(~uint64_t{0} - 1);
    watch_.Tick(~uint64_t{0} - 1);
    for (const EpochWatch::Event& event : watch_.TakeEvents()) {
      if (event.what == EpochWatch::What::kEnded) ended_.insert(event.job);
    }
  }

  // What was said last of each pass of the job.
  const std::map<uint32_t, EpochStart>& Passes(JobId job) { return passes_[job]; }
  const std::vector<Begun>& begun() const { return begun_; }
  const std::set<JobId>& jobs() const { return jobs_; }
  const std::set<JobId>& ended() const { return ended_; }
  ProcessTable& table() { return table_; }
  EpochWatch& watch() { return watch_; }

 private:
  void Keep() {
    for (const JobId job : watch_.Jobs()) {
      const auto running = watch_.Running(job);
      if (!running) continue;
      // What is told of it without a copy.
      size_t reads = 0;
      for (const EpochStream& stream : running->streams) reads += stream.reads.size();
      const auto kept = watch_.KeptReads(job);
      if (!kept) FAIL() << "job " << job;
      EXPECT_EQ(kept->pass, running->pass);
      EXPECT_EQ(kept->reads, reads);
      for (uint32_t pass = running->pass < 4 ? 0 : running->pass - 3; pass <= running->pass; pass++) {
        if (const auto epoch = watch_.Pass(job, pass)) passes_[job].insert_or_assign(pass, *epoch);
      }
    }
  }

  TraceSimulation& trace_;
  ProcessTable table_;
  EpochWatch watch_;
  std::map<JobId, std::map<uint32_t, EpochStart>> passes_;
  std::vector<Begun> begun_;
  uint64_t kept_us_ = 0;
  std::set<JobId> jobs_;
  std::set<JobId> ended_;
};

// The files that each process read in an epoch, in its order.
std::map<uint32_t, Order> StreamsOf(const std::vector<TrueRead>& reads, uint32_t job, uint64_t epoch,
                                    bool validation = false) {
  std::map<uint32_t, Order> streams;
  for (const TrueRead& read : reads) {
    if (read.job == job && read.epoch == epoch && read.validation == validation) streams[read.pid].push_back(read.file);
  }
  return streams;
}

Order FilesOf(const EpochStream& stream) {
  Order files;
  for (const FirstRead& read : stream.reads) files.push_back(read.file);
  return files;
}

std::string Differ(const Order& files, const Order& truth) {
  const auto at = std::mismatch(files.begin(), files.end(), truth.begin(), truth.end()).first - files.begin();
  std::string text =
      std::to_string(files.size()) + " of " + std::to_string(truth.size()) + " from " + std::to_string(at) + ":";
  for (size_t i = static_cast<size_t>(at); i < std::min<size_t>(files.size(), static_cast<size_t>(at) + 4); i++) {
    text += " " + std::to_string(files[i]);
  }
  text += ", not";
  for (size_t i = static_cast<size_t>(at); i < std::min<size_t>(truth.size(), static_cast<size_t>(at) + 4); i++) {
    text += " " + std::to_string(truth[i]);
  }
  return text;
}

// The streams of a pass are those of an epoch, read for read.
void ExpectEpoch(const EpochStart& pass, const std::map<uint32_t, Order>& truth) {
  std::map<uint32_t, Order> streams;
  for (const EpochStream& stream : pass.streams) {
    streams[stream.pid] = FilesOf(stream);
    EXPECT_EQ(stream.read_count, stream.reads.size());
  }
  if (streams == truth) return;
  for (const auto& [pid, files] : truth) {
    if (streams[pid] == files) continue;
    ADD_FAILURE() << "process " << pid << ": " << Differ(streams[pid], files);
  }
  EXPECT_EQ(streams.size(), truth.size());
}

JobPlan ShuffledPlan(uint32_t files, uint64_t seed) {
  JobPlan plan;
  plan.order = [files, seed](uint64_t epoch) { return ShuffledFiles(100, files, seed * 1000 + epoch); };
  return plan;
}

// Reads are not told for a while: what comes after that is of a new job, in its first pass.
TEST(EpochWatchTest, WhoReadsOnAfterAllWasForgottenIsANewJob) {
  TraceSimulation trace(9, false);
  JobPlan plan = ShuffledPlan(400, 9);
  plan.persistent = true;
  trace.AddJob(plan);
  const std::vector<Access> accesses = trace.Accesses();
  ProcessTable table(&trace.processes());
  EpochWatch watch(&table);
  const auto see = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      trace.processes().SetNow(accesses[i].time_us);
      (void)watch.See(accesses[i]);
    }
  };
  see(0, 600);
  ASSERT_EQ(watch.Jobs().size(), 1U);
  const JobId before = watch.Jobs()[0];
  watch.ForgetAll();
  EXPECT_TRUE(watch.Jobs().empty());
  EXPECT_TRUE(watch.TakeEvents().empty());
  see(700, 800);
  ASSERT_EQ(watch.Jobs().size(), 1U);
  const JobId after = watch.Jobs()[0];
  EXPECT_GT(after, before);
  const auto epoch = watch.Running(after);
  ASSERT_TRUE(epoch);
  EXPECT_EQ(epoch->pass, 0U);
  EXPECT_EQ(epoch->files, 100U);
}

TEST(EpochWatchTest, NewWorkersBeginAnEpoch) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const uint32_t workers : {1U, 2U, 4U}) {
      for (const bool opens : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
        TraceSimulation trace(seed, opens);
        JobPlan plan = ShuffledPlan(700, seed);
        plan.workers = workers;
        plan.in_order = seed % 2 == 0;
        plan.epochs = 6;
        trace.AddJob(plan);
        Player player(&trace);
        player.Play();
        ASSERT_EQ(player.jobs().size(), 1U);
        const JobId job = *player.jobs().begin();
        const auto& passes = player.Passes(job);
        ASSERT_EQ(passes.size(), 6U);
        for (const auto& [number, pass] : passes) {
          EXPECT_EQ(pass.epoch, number);
          EXPECT_EQ(pass.set, 0U);
          EXPECT_TRUE(pass.new_processes);
          ExpectEpoch(pass, StreamsOf(trace.Reads(), 0, number));
          for (const EpochStream& stream : pass.streams) EXPECT_EQ(stream.sure, opens);
          EXPECT_TRUE(std::is_sorted(pass.streams.begin(), pass.streams.end(),
                                     [](const auto& a, const auto& b) { return a.pid < b.pid; }));
        }
        EXPECT_EQ(player.ended(), std::set<JobId>{job});
      }
    }
  }
}

TEST(EpochWatchTest, AnEpochBeginsWithItsFirstReadWhenItsProcessesAreNew) {
  TraceSimulation trace(5, true);
  trace.AddJob(ShuffledPlan(2000, 5));
  Player player(&trace);
  player.Play();
  ASSERT_EQ(player.begun().size(), 3U);
  for (const auto& begun : player.begun()) {
    const auto first = std::find_if(trace.Reads().begin(), trace.Reads().end(),
                                    [&](const TrueRead& read) { return read.epoch == begun.pass; });
    EXPECT_EQ(begun.time_us, first->time_us);
  }
}

TEST(EpochWatchTest, FilesThatComeAgainBeginAnEpochOfTheSameProcesses) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const uint32_t workers : {0U, 1U, 2U, 4U}) {
      for (const bool overlapping : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
        TraceSimulation trace(seed, seed % 2 == 0);
        JobPlan plan = ShuffledPlan(1500, seed);
        plan.workers = workers;
        plan.persistent = true;
        plan.overlapping = overlapping && workers > 0;
        plan.in_order = seed % 3 != 0;
        plan.epochs = 5;
        trace.AddJob(plan);
        Player player(&trace);
        player.Play();
        ASSERT_EQ(player.jobs().size(), 1U);
        const auto& passes = player.Passes(*player.jobs().begin());
        ASSERT_EQ(passes.size(), 5U);
        for (const auto& [number, pass] : passes) {
          EXPECT_EQ(pass.epoch, number);
          EXPECT_EQ(pass.set, 0U);
          const std::map<uint32_t, Order> truth = StreamsOf(trace.Reads(), 0, number);
          if (!plan.overlapping) {
            ExpectEpoch(pass, truth);
            continue;
          }
          // A file that one worker has still to read in the last epoch may be another's first of the next one: which is
          // which cannot be told. So up to three reads may be missing, or too many, at either end.
          for (const EpochStream& stream : pass.streams) {
            const Order seen = FilesOf(stream);
            const Order& files = truth.at(stream.pid);
            ASSERT_GT(std::min(seen.size(), files.size()), 10U);
            const auto begin = std::search(seen.begin(), seen.end(), files.begin() + 3, files.end() - 3);
            EXPECT_NE(begin, seen.end()) << Differ(seen, files);
            EXPECT_LE(begin - seen.begin(), 6);
            EXPECT_LE(seen.size(), files.size() + 6);
          }
        }
        // Six repetitions of a worker, and what others read just now is not counted; later one repetition.
        for (const auto& begun : player.begun()) {
          std::map<uint32_t, int> reads;
          for (const TrueRead& read : trace.Reads()) {
            if (read.epoch == begun.pass && read.time_us <= begun.time_us) reads[read.pid]++;
          }
          int most = 0;
          for (const auto& [pid, count] : reads) most = std::max(most, count);
          EXPECT_LE(most, 20) << "pass " << begun.pass;
        }
      }
    }
  }
}

TEST(EpochWatchTest, RanksAreOneJobAndOneEpoch) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const uint32_t workers : {0U, 2U}) {
      for (const bool persistent : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
        TraceSimulation trace(seed, true);
        JobPlan plan = ShuffledPlan(1600, seed);  // divides by the ranks: no padding
        plan.ranks = seed % 2 == 0 ? 2 : 4;
        plan.workers = workers;
        plan.persistent = persistent;
        trace.AddJob(plan);
        Player player(&trace);
        player.Play();
        ASSERT_EQ(player.jobs().size(), 1U);
        const auto& passes = player.Passes(*player.jobs().begin());
        ASSERT_EQ(passes.size(), 3U);
        for (const auto& [number, pass] : passes) {
          EXPECT_EQ(pass.epoch, number);
          ExpectEpoch(pass, StreamsOf(trace.Reads(), 0, number));
          EXPECT_EQ(pass.streams.size(), plan.ranks * std::max(workers, 1U));
          for (size_t i = 0; i < pass.streams.size(); i++) {
            EXPECT_EQ(pass.streams[i].launch.rank, i / std::max(workers, 1U));
            EXPECT_EQ(pass.streams[i].launch.world_size, plan.ranks);
          }
        }
      }
    }
  }
}

TEST(EpochWatchTest, PaddingDoesNotMakeAnEpoch) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, true);
    JobPlan plan = ShuffledPlan(1601, seed);
    plan.ranks = 4;
    plan.workers = seed % 2 == 0 ? 0 : 2;
    plan.epochs = 6;
    trace.AddJob(plan);
    Player player(&trace);
    player.Play();
    const auto& passes = player.Passes(*player.jobs().begin());
    EXPECT_EQ(passes.size(), 6U);
    for (const auto& [number, pass] : passes) {
      for (const EpochStream& stream : pass.streams) {
        if (!stream.sure) continue;
        EXPECT_EQ(stream.reads[0].file, StreamsOf(trace.Reads(), 0, number)[stream.pid][0]) << "pass " << number;
      }
    }
  }
}

TEST(EpochWatchTest, ThreadsOfOneProcessAreOneStream) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, seed % 2 == 0);
    JobPlan plan = ShuffledPlan(1500, seed);
    plan.workers = 0;
    plan.threads = 16;
    trace.AddJob(plan);
    Player player(&trace);
    player.Play();
    ASSERT_EQ(player.jobs().size(), 1U);
    const auto& passes = player.Passes(*player.jobs().begin());
    ASSERT_EQ(passes.size(), 3U);
    for (const auto& [number, pass] : passes) {
      ASSERT_EQ(pass.streams.size(), 1U);
      ExpectEpoch(pass, StreamsOf(trace.Reads(), 0, number));
    }
  }
}

TEST(EpochWatchTest, ValidationIsASetOfItsOwn) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const bool persistent : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (persistent ? ", persistent" : ""));
      TraceSimulation trace(seed, true);
      JobPlan plan = ShuffledPlan(1500, seed);
      plan.persistent = persistent;
      plan.epochs = 5;
      for (EntryNumber file = 50'000; file < 50'300; file++) plan.validation.push_back(file);
      plan.validation_workers = seed % 2 == 0 ? 2 : 0;
      trace.AddJob(plan);
      Player player(&trace);
      player.Play();
      ASSERT_EQ(player.jobs().size(), 1U);
      const auto& passes = player.Passes(*player.jobs().begin());
      ASSERT_EQ(passes.size(), 10U);
      for (const auto& [number, pass] : passes) {
        const bool validation = number % 2 == 1;
        EXPECT_EQ(pass.set, validation ? 1U : 0U);
        EXPECT_EQ(pass.epoch, number / 2);
        ExpectEpoch(pass, StreamsOf(trace.Reads(), 0, number / 2, validation));
      }
    }
  }
}

TEST(EpochWatchTest, ValidationByTheScriptItselfIsSeenByItsFolder) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (const uint32_t threads : {0U, 8U}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      TraceSimulation trace(seed, true);
      JobPlan plan = ShuffledPlan(5000, seed);  // more than the first reads that are kept
      plan.workers = 0;
      plan.threads = threads;
      for (EntryNumber file = 50'000; file < 50'300; file++) plan.validation.push_back(file);
      trace.AddJob(plan);
      EpochOptions options;
      options.folder_of = [](EntryNumber file) { return EntryNumber{file < 50'000 ? 1U : 2U}; };
      Player player(&trace, options);
      player.Play();
      const auto& passes = player.Passes(*player.jobs().begin());
      ASSERT_EQ(passes.size(), 6U);
      for (const auto& [number, pass] : passes) {
        const bool validation = number % 2 == 1;
        EXPECT_EQ(pass.set, validation ? 1U : 0U);
        EXPECT_EQ(pass.epoch, number / 2);
        ASSERT_EQ(pass.streams.size(), 1U);
        Order truth = StreamsOf(trace.Reads(), 0, number / 2, validation).begin()->second;
        EXPECT_EQ(pass.streams[0].read_count, truth.size());
        truth.resize(std::min<size_t>(truth.size(), 4096));
        EXPECT_EQ(FilesOf(pass.streams[0]), truth);
      }
    }
  }
}

TEST(EpochWatchTest, HalfOfTheFilesInThePageCache) {
  uint64_t sure = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    for (const bool opens : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (opens ? ", opens told" : ""));
      TraceSimulation trace(seed, opens);
      JobPlan plan = ShuffledPlan(1500, seed);
      plan.hits = 0.5;
      plan.opened_twice = 0.1;
      plan.epochs = 4;
      trace.AddJob(plan);
      Player player(&trace);
      player.Play();
      JobId job = 0;
      for (const JobId id : player.jobs()) job = std::max(job, id);
      const auto& passes = player.Passes(job);
      ASSERT_EQ(passes.size(), 4U);
      for (const auto& [number, pass] : passes) {
        EXPECT_EQ(pass.epoch, number);
        std::map<uint32_t, Order> truth;
        Order cached;
        for (const TrueRead& read : trace.Reads()) {
          if (read.epoch != number) continue;
          (read.cached ? cached : truth[read.pid]).push_back(read.file);
        }
        const std::map<uint32_t, Order> all = StreamsOf(trace.Reads(), 0, number);
        for (const EpochStream& stream : pass.streams) {
          if (stream.id == 0) {
            EXPECT_EQ(FilesOf(stream), cached);
            EXPECT_TRUE(opens);
            continue;
          }
          EXPECT_EQ(FilesOf(stream), truth[stream.pid]);
          if (stream.sure) {
            EXPECT_EQ(stream.reads[0].file, all.at(stream.pid)[0]);
          }
          sure += stream.sure ? 1 : 0;
          EXPECT_FALSE(stream.sure && !opens);
          // What is said to have been overlooked before a read is what was.
          for (size_t i = 0; opens && i < std::min<size_t>(stream.reads.size(), 20); i++) {
            const EntryNumber file = stream.reads[i].file;
            uint32_t before = 0;
            for (const TrueRead& read : trace.Reads()) {
              if (read.epoch != number) continue;
              if (read.file == file) break;
              before += read.cached ? 1 : 0;
            }
            EXPECT_EQ(stream.reads[i].unattributed_before, before);
          }
        }
      }
    }
  }
  EXPECT_GT(sure, 10U);
}

TEST(EpochWatchTest, PersistentWorkersWithHalfOfTheFilesInThePageCache) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    for (const bool opens : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (opens ? ", opens told" : ""));
      TraceSimulation trace(seed, opens);
      JobPlan plan = ShuffledPlan(3000, seed);
      plan.hits = 0.5;
      plan.persistent = true;
      plan.workers = seed % 2 == 0 ? 4 : 0;
      plan.epochs = 4;
      trace.AddJob(plan);
      Player player(&trace);
      player.Play();
      JobId job = 0;
      for (const JobId id : player.jobs()) job = std::max(job, id);
      const auto& passes = player.Passes(job);
      ASSERT_EQ(passes.size(), 4U);
      for (const auto& [number, pass] : passes) {
        EXPECT_EQ(pass.epoch, number);
        uint64_t told = 0;
        for (const TrueRead& read : trace.Reads()) told += read.epoch == number && (opens || !read.cached) ? 1 : 0;
        uint64_t seen = 0;
        const std::map<uint32_t, Order> all = StreamsOf(trace.Reads(), 0, number);
        for (const EpochStream& stream : pass.streams) {
          seen += stream.read_count;
          if (stream.sure) {
            EXPECT_EQ(stream.reads[0].file, all.at(stream.pid)[0]);
          }
        }
        // The first reads of an epoch may be counted to the last one where it was not seen whole.
        EXPECT_NEAR(static_cast<double>(seen), static_cast<double>(told), 80);
      }
    }
  }
}

TEST(EpochWatchTest, OneReadIn64IsSeenOfProcessesThatGoOn) {
  // As when the files are pushed and only sentinels make a READ, with the opens told and without.
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, seed % 2 == 0);
    JobPlan plan = ShuffledPlan(20'000, seed);
    plan.hits = 63.0 / 64;
    plan.epochs = 4;
    trace.AddJob(plan);
    Player player(&trace);
    player.Play();
    JobId job = 0;
    for (const JobId id : player.jobs()) job = std::max(job, id);
    EXPECT_EQ(player.Passes(job).size(), 4U);
  }
}

TEST(EpochWatchTest, InvisibleReadersAreOneStreamWithEpochs) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, seed % 2 == 0);
    JobPlan plan = ShuffledPlan(2000, seed);
    plan.visible = false;
    plan.epochs = 4;
    trace.AddJob(plan);
    Player player(&trace);
    player.Play();
    EXPECT_EQ(player.jobs(), std::set<JobId>{0});
    const auto& passes = player.Passes(0);
    ASSERT_EQ(passes.size(), 4U);
    for (const auto& [number, pass] : passes) {
      ASSERT_EQ(pass.streams.size(), 1U);
      Order truth;
      for (const TrueRead& read : trace.Reads()) {
        if (read.epoch == number) truth.push_back(read.file);
      }
      EXPECT_EQ(FilesOf(pass.streams[0]), truth);
      EXPECT_EQ(pass.epoch, number);
      EXPECT_FALSE(pass.streams[0].sure);
    }
  }
}

TEST(EpochWatchTest, FourJobsAndAStrangerAreKeptApart) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, true);
    for (uint32_t i = 0; i < 4; i++) {
      JobPlan plan = ShuffledPlan(1000, seed * 10 + i);
      plan.workers = i;
      plan.persistent = i == 2;
      plan.hits = 0;
      plan.start_us = 1'000'000 + i * 300'000;
      trace.AddJob(plan);
    }
    trace.AddStranger(ShuffledFiles(0, 3000, 9), 1'200'000, 500);
    Player player(&trace);
    player.Play();
    // Which job is which is known by its script.
    std::map<uint32_t, uint32_t> truth;  // pid: job
    for (const TrueRead& read : trace.Reads()) truth[read.pid] = read.job;
    std::set<uint32_t> found;
    for (const JobId job : player.jobs()) {
      ASSERT_NE(job, 0U) << "all reads are misses";
      const auto& passes = player.Passes(job);
      const uint32_t number = truth[passes.at(0).streams[0].pid];
      found.insert(number);
      EXPECT_EQ(passes.size(), number == 4 ? 1U : 3U);
      for (const auto& [pass_number, pass] : passes) {
        ExpectEpoch(pass, StreamsOf(trace.Reads(), number, pass_number));
      }
    }
    EXPECT_EQ(found.size(), 5U);
    EXPECT_EQ(player.ended(), player.jobs());
  }
}

TEST(EpochWatchTest, ResumedInMidEpochTheNextEpochIsOneAllTheSame) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    TraceSimulation trace(seed, true);
    JobPlan plan = ShuffledPlan(2000, seed);
    plan.resume_batch = 40;
    plan.workers = seed % 2 == 0 ? 4 : 0;
    plan.persistent = true;
    trace.AddJob(plan);
    Player player(&trace);
    player.Play();
    const auto& passes = player.Passes(*player.jobs().begin());
    EXPECT_EQ(passes.size(), 3U);
    for (const auto& [number, pass] : passes) EXPECT_EQ(pass.epoch, number);
  }
}

TEST(EpochWatchTest, AScriptThatIsStartedAgainIsANewJob) {
  TraceSimulation trace(1, true);
  for (uint64_t run = 0; run < 3; run++) {
    JobPlan plan = ShuffledPlan(500, 1);
    plan.epochs = 1;
    plan.start_us = 1'000'000 + run * 10'000'000;
    trace.AddJob(plan);
  }
  Player player(&trace);
  player.Play();
  EXPECT_EQ(player.jobs().size(), 3U);
  for (const JobId job : player.jobs()) EXPECT_EQ(player.Passes(job).size(), 1U);
}

TEST(EpochWatchTest, RanksThatReadTheSameOrderDoNotMakeEpochs) {
  TraceSimulation trace(3, true);
  JobPlan plan = ShuffledPlan(2000, 3);
  const auto order = plan.order;
  plan.order = [order](uint64_t epoch) {
    Order twice;
    for (const EntryNumber file : order(epoch)) twice.insert(twice.end(), 2, file);
    return twice;
  };
  plan.ranks = 2;
  trace.AddJob(plan);
  Player player(&trace);
  player.Play();
  EXPECT_EQ(player.Passes(*player.jobs().begin()).size(), 3U);
}

TEST(EpochWatchTest, ASamplerWithReplacementDoesLittleHarm) {
  TraceSimulation trace(3, true);
  JobPlan plan;
  plan.order = [](uint64_t epoch) {
    std::mt19937_64 random(epoch);
    Order files(5000);
    for (EntryNumber& file : files) file = static_cast<EntryNumber>(random() % 5000);
    return files;
  };
  trace.AddJob(plan);
  Player player(&trace);
  player.Play();
  const auto& passes = player.Passes(*player.jobs().begin());
  EXPECT_LE(passes.size(), 40U);
}

TEST(EpochWatchTest, MemoryIsBounded) {
  TraceSimulation trace(3, true);
  JobPlan plan = ShuffledPlan(20'000, 1);
  plan.workers = 20;
  plan.epochs = 4;
  plan.batch = 4;
  trace.AddJob(plan);
  EpochOptions options;
  options.streams_max = 50;
  options.first_reads_max = 100;
  options.all_first_reads_max = 300;
  options.set_bytes_max = 4096;
  Player player(&trace, options);
  player.Play();
  for (const auto& [number, pass] : player.Passes(*player.jobs().begin())) {
    size_t reads = 0;
    for (const EpochStream& stream : pass.streams) {
      EXPECT_LE(stream.reads.size(), 100U);
      reads += stream.reads.size();
    }
    EXPECT_LE(reads, 300U);
    EXPECT_LE(pass.streams.size(), 51U);
  }
  EXPECT_EQ(player.Passes(*player.jobs().begin()).size(), 4U) << "epochs of new processes are seen all the same";
}

TEST(EpochWatchTest, OneQuestionForAThread) {
  TraceSimulation trace(3, true);
  JobPlan plan = ShuffledPlan(5000, 1);
  plan.epochs = 2;
  trace.AddJob(plan);
  Player player(&trace);
  player.Play();
  // 8 workers, each with its parent; the ancestors of the first; and a look at the script each half a second. Once more
  // for a thread that was silent.
  const uint64_t seconds = trace.Reads().back().time_us / 1'000'000;
  EXPECT_LE(player.table().lookups(), 8 * 2 + 2 + 3 * (seconds + 1));
}

}  // namespace
}  // namespace augur
