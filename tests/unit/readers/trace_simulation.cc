// SPDX-License-Identifier: Apache-2.0
#include "unit/readers/trace_simulation.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace augur {

Order ShuffledFiles(EntryNumber first, uint32_t count, uint64_t seed) {
  Order files(count);
  std::iota(files.begin(), files.end(), first);
  std::mt19937_64 random(seed);
  std::shuffle(files.begin(), files.end(), random);
  return files;
}

double TraceSimulation::Some(double mean) {
  return mean <= 0 ? 0 : std::exponential_distribution<double>(1 / mean)(random_);
}

void TraceSimulation::AddRead(const JobPlan& plan, const Loader& loader, uint32_t pid, uint32_t thread,
                              const Item& item, uint64_t now_us) {
  reads_.push_back({.time_us = now_us,
                    .file = item.file,
                    .job = loader.job,
                    .rank = loader.rank,
                    .validation = loader.validation,
                    .epoch = item.epoch,
                    .place = item.place,
                    .pid = pid,
                    .thread = thread,
                    .cached = std::bernoulli_distribution(plan.hits)(random_)});
}

uint64_t TraceSimulation::ReadBatch(const JobPlan& plan, const Loader& loader, uint32_t pid, const Batch& batch,
                                    uint64_t now_us) {
  for (const Item& item : batch) {
    AddRead(plan, loader, pid, pid, item, now_us);
    now_us += 1 + static_cast<uint64_t>(Some(plan.file_us));
  }
  return now_us;
}

uint64_t TraceSimulation::LoadByThreads(const JobPlan& plan, const Loader& loader, const std::vector<Batch>& batches,
                                        uint64_t now_us) {
  // A pool that takes the next file when one of its threads is free.
  const uint32_t pid = loader.readers.front();
  std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>, std::greater<>> free;
  for (uint32_t i = 0; i < loader.threads; i++) free.emplace(now_us, processes_.AddThread(pid));
  uint64_t end_us = now_us;
  for (const Batch& batch : batches) {
    for (const Item& item : batch) {
      auto [time_us, thread] = free.top();
      free.pop();
      AddRead(plan, loader, pid, thread, item, time_us);
      time_us += 1 + static_cast<uint64_t>(Some(plan.file_us));
      end_us = std::max(end_us, time_us);
      free.emplace(time_us, thread);
    }
  }
  return end_us;
}

uint64_t TraceSimulation::Load(const JobPlan& plan, const Loader& loader, const std::vector<Batch>& batches,
                               uint64_t now_us) {
  if (loader.threads > 0) return LoadByThreads(plan, loader, batches, now_us);
  const size_t workers = loader.readers.size();
  struct Sent {
    uint64_t done_us;
    size_t number;
    size_t worker;
    bool operator>(const Sent& other) const {
      return std::pair(done_us, number) > std::pair(other.done_us, other.number);
    }
  };
  std::vector<Sent> sent;  // not consumed
  std::vector<uint64_t> free_us(workers, now_us);
  std::vector<size_t> tasks(workers, 0);
  size_t next = 0;
  size_t turn = 0;
  const auto send = [&](uint64_t time_us) {
    while (tasks[turn] >= plan.prefetch) turn = (turn + 1) % workers;
    free_us[turn] = ReadBatch(plan, loader, loader.readers[turn], batches[next], std::max(time_us, free_us[turn]));
    sent.push_back({.done_us = free_us[turn], .number = next, .worker = turn});
    tasks[turn]++;
    turn = (turn + 1) % workers;
    next++;
  };
  while (next < batches.size() && sent.size() < workers * plan.prefetch) send(now_us);
  while (!sent.empty()) {
    const auto first = std::min_element(sent.begin(), sent.end(), [&](const Sent& a, const Sent& b) {
      return plan.in_order ? a.number < b.number : b > a;
    });
    now_us = std::max(now_us + static_cast<uint64_t>(Some(plan.step_us)), first->done_us);
    tasks[first->worker]--;
    sent.erase(first);
    if (next < batches.size()) send(now_us);
  }
  return now_us;
}

std::vector<uint32_t> TraceSimulation::ForkWorkers(uint32_t script, uint32_t count, uint64_t* now_us) {
  std::vector<uint32_t> workers;
  for (uint32_t i = 0; i < count; i++) {
    *now_us += 3000 + static_cast<uint64_t>(Some(5000));
    workers.push_back(processes_.Fork(script, *now_us));
  }
  *now_us += 1000;
  return workers;
}

uint32_t TraceSimulation::AddJob(const JobPlan& plan) {
  const uint32_t job = jobs_++;
  visible_.push_back(plan.visible);
  opened_twice_.push_back(plan.opened_twice);
  if (shell_ == 0) shell_ = processes_.Spawn(0, "bash", 0);
  uint32_t parent = shell_;
  const std::string name = "job " + std::to_string(job);
  if (plan.ranks > 1) parent = processes_.Spawn(shell_, "torchrun " + name, plan.start_us, true);
  struct Rank {
    uint32_t script = 0;
    std::vector<uint32_t> workers;
  };
  std::vector<uint32_t> local = plan.local_ranks;
  if (local.empty()) {
    local.resize(plan.ranks);
    std::iota(local.begin(), local.end(), 0U);
  }
  std::vector<Rank> ranks(plan.ranks);
  for (const uint32_t r : local) {
    ranks[r].script = processes_.Spawn(parent, "python " + name, plan.start_us + uint64_t{1000} * r);
    if (plan.ranks > 1 && plan.launch_told) {
      processes_.SetLaunch(ranks[r].script, {.launch = 77, .rank = r, .world_size = plan.ranks});
    }
  }

  uint64_t now_us = plan.start_us + 500'000;
  for (uint64_t epoch = 0; epoch < plan.epochs; epoch++) {
    const uint64_t last = plan.overlapping ? plan.epochs : epoch + 1;
    uint64_t end_us = now_us;
    for (const uint32_t r : local) {
      std::vector<Batch> batches;
      for (uint64_t e = epoch; e < last; e++) {
        const Order order = plan.order(e);
        const uint64_t share = (order.size() + plan.ranks - 1) / plan.ranks;
        for (uint64_t i = e == 0 ? plan.resume_batch * uint64_t{plan.batch} : 0; i < share; i++) {
          const bool begins = i % plan.batch == 0 || batches.empty();
          if (begins) batches.emplace_back();
          batches.back().push_back({order[(r + i * plan.ranks) % order.size()], e, i});
        }
      }
      uint64_t begin_us = now_us + static_cast<uint64_t>(plan.ranks > 1 ? Some(20'000) : 0);
      Rank& rank = ranks[r];
      if (plan.workers > 0 && (rank.workers.empty() || !plan.persistent)) {
        rank.workers = ForkWorkers(rank.script, plan.workers, &begin_us);
      }
      Loader loader{.job = job, .rank = r, .readers = rank.workers, .threads = plan.threads};
      if (plan.workers == 0) loader.readers = {rank.script};
      JobPlan reading = plan;
      if (plan.workers == 0) reading.prefetch = 1;
      const uint64_t done_us = Load(reading, loader, batches, begin_us);
      if (!plan.persistent) {
        for (const uint32_t worker : rank.workers) processes_.End(worker, done_us + 5000);
      }
      end_us = std::max(end_us, done_us);
    }
    now_us = end_us + 20'000 + static_cast<uint64_t>(Some(plan.gap_us));
    if (!plan.validation.empty()) {
      std::vector<Batch> batches;
      for (uint64_t i = 0; i < plan.validation.size(); i++) {
        if (i % plan.batch == 0) batches.emplace_back();
        batches.back().push_back({plan.validation[i], epoch, i});
      }
      Loader loader{.job = job, .validation = true, .readers = {ranks[local[0]].script}, .threads = plan.threads};
      if (plan.validation_workers > 0)
        loader.readers = ForkWorkers(ranks[local[0]].script, plan.validation_workers, &now_us);
      JobPlan reading = plan;
      if (plan.validation_workers == 0) reading.prefetch = 1;
      now_us = Load(reading, loader, batches, now_us);
      for (const uint32_t pid : loader.readers) {
        if (plan.validation_workers > 0) processes_.End(pid, now_us + 5000);
      }
      now_us += 20'000 + static_cast<uint64_t>(Some(plan.gap_us));
    }
    if (plan.overlapping) break;
  }
  for (const uint32_t r : local) {
    for (const uint32_t worker : ranks[r].workers) {
      if (plan.persistent) processes_.End(worker, now_us + 10'000);
    }
    processes_.End(ranks[r].script, now_us + 20'000);
  }
  if (parent != shell_) processes_.End(parent, now_us + 30'000);
  return job;
}

uint32_t TraceSimulation::AddStranger(const Order& files, uint64_t start_us, double file_us) {
  JobPlan plan;
  plan.order = [files](uint64_t) { return files; };
  plan.epochs = 1;
  plan.workers = 0;
  plan.start_us = start_us;
  plan.file_us = file_us;
  plan.step_us = 0;
  return AddJob(plan);
}

const std::vector<TrueRead>& TraceSimulation::Reads() {
  std::stable_sort(reads_.begin(), reads_.end(),
                   [](const TrueRead& a, const TrueRead& b) { return a.time_us < b.time_us; });
  return reads_;
}

std::vector<Access> TraceSimulation::Accesses() {
  struct TimedAccess {
    uint64_t time_us;
    Access access;
  };
  std::vector<TimedAccess> told;
  for (const TrueRead& read : Reads()) {
    // The helper looks at its queue every 10 ms, or oftener.
    const uint64_t open_us = (read.time_us / 10000 + 1) * 10000;
    const int opens = opens_ ? 1 + static_cast<int>(std::bernoulli_distribution(opened_twice_[read.job])(random_)) : 0;
    for (int i = 0; i < opens; i++) {
      told.push_back({open_us, {.file = read.file, .reader = 0, .read = false, .time_us = open_us}});
    }
    if (read.cached) continue;
    told.push_back(
        {read.time_us,
         {.file = read.file, .reader = visible_[read.job] ? read.thread : 0, .read = true, .time_us = read.time_us}});
  }
  std::stable_sort(told.begin(), told.end(),
                   [](const TimedAccess& a, const TimedAccess& b) { return a.time_us < b.time_us; });
  std::vector<Access> accesses;
  accesses.reserve(told.size());
  for (const TimedAccess& one : told) accesses.push_back(one.access);
  return accesses;
}

JobPlan ShuffledPlan(uint32_t files, uint64_t seed) {
  JobPlan plan;
  plan.order = [files, seed](uint64_t epoch) { return ShuffledFiles(100, files, seed * 1000 + epoch); };
  return plan;
}

std::map<uint32_t, Order> StreamsOf(const std::vector<TrueRead>& reads, uint32_t job, uint64_t epoch, bool validation) {
  std::map<uint32_t, Order> streams;
  for (const TrueRead& read : reads) {
    if (read.job == job && read.epoch == epoch && read.validation == validation) streams[read.pid].push_back(read.file);
  }
  return streams;
}

}  // namespace augur
