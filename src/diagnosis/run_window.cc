// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_window.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace augur {
namespace {

constexpr double kSecondUs = 1e6;

uint64_t Grown(uint64_t before, uint64_t after) { return after >= before ? after - before : after; }

// What the processes that are in both have used.
uint64_t Used(const std::map<uint32_t, uint64_t>& before, const std::map<uint32_t, uint64_t>& after) {
  uint64_t us = 0;
  for (const auto& [pid, used_us] : after) {
    const auto was = before.find(pid);
    // One that began meanwhile has used all of it since.
    us += was != before.end() ? Grown(was->second, used_us) : used_us;
  }
  return us;
}

}  // namespace

double RunWindow::seconds() const {
  const uint64_t us = after_.time_us > before_.time_us ? after_.time_us - before_.time_us : 1;
  return static_cast<double>(us) / kSecondUs;
}

uint64_t RunWindow::Delta(Stat stat) const {
  return Grown(before_.reading.numbers[stat], after_.reading.numbers[stat]);
}

uint64_t RunWindow::Delta(Gauge gauge) const {
  return Grown(before_.reading.numbers[gauge], after_.reading.numbers[gauge]);
}

HistogramCounts RunWindow::Delta(Histogram histogram) const {
  const HistogramCounts& was = before_.reading.numbers[histogram];
  HistogramCounts grown = after_.reading.numbers[histogram];
  if (grown.total() < was.total()) return grown;
  for (size_t i = 0; i < grown.counts.size(); ++i) grown.counts[i] = Grown(was.counts[i], grown.counts[i]);
  grown.sum = Grown(was.sum, grown.sum);
  return grown;
}

uint64_t RunWindow::FilesOf(const OrderReport& job) const {
  const auto was = std::ranges::find(before_.jobs, job.job, &OrderReport::job);
  return was != before_.jobs.end() ? Grown(was->files, job.files) : job.files;
}

uint64_t RunWindow::files() const {
  uint64_t of_jobs = 0;
  for (const OrderReport& job : after_.jobs) of_jobs += FilesOf(job);
  return std::max({of_jobs, Delta(Stat::kOpens), of_jobs == 0 ? Delta(Stat::kReads) : 0});
}

unsigned RunWindow::readers() const {
  const ProcessorUse& use = after_.processors;
  return static_cast<unsigned>(!use.workers.empty() ? use.workers.size() : use.scripts.size());
}

double RunWindow::readers_processors() const {
  const ProcessorUse& was = before_.processors;
  const ProcessorUse& use = after_.processors;
  const uint64_t us = !use.workers.empty() ? Used(was.workers, use.workers) : Used(was.scripts, use.scripts);
  return static_cast<double>(us) / kSecondUs / seconds();
}

double RunWindow::daemon_processors() const {
  return static_cast<double>(Grown(before_.processors.daemon_us, after_.processors.daemon_us)) / kSecondUs / seconds();
}

double RunWindow::other_processors() const {
  const uint64_t busy_us = Grown(before_.processors.machine_busy_us, after_.processors.machine_busy_us);
  const double busy = static_cast<double>(busy_us) / kSecondUs / seconds();
  return std::max(busy - readers_processors() - daemon_processors(), 0.0);
}

double RunWindow::machine_busy() const {
  const uint64_t all_us = Grown(before_.processors.machine_all_us, after_.processors.machine_all_us);
  if (all_us == 0) return -1;
  const uint64_t busy_us = Grown(before_.processors.machine_busy_us, after_.processors.machine_busy_us);
  return std::min(static_cast<double>(busy_us) / static_cast<double>(all_us), 1.0);
}

double RunWindow::wait_seconds() const { return static_cast<double>(Delta(Histogram::kReadWaitUs).sum) / kSecondUs; }

double RunWindow::wait_share() const { return std::min(wait_seconds() / seconds() / std::max(readers(), 1U), 1.0); }

double RunWindow::disk_busy() const {
  return std::min(static_cast<double>(Delta(Stat::kDiskBusyUs)) / kSecondUs / seconds(), 1.0);
}

double RunWindow::reads_in_flight() const {
  const uint64_t busy_us = Delta(Stat::kDiskBusyUs);
  if (busy_us == 0) return 0;
  return static_cast<double>(Delta(Histogram::kDiskReadUs).sum) / static_cast<double>(busy_us);
}

}  // namespace augur
