// SPDX-License-Identifier: Apache-2.0
#include "tools/control_commands/run_sampler.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/steady_time.h"
#include "base/units.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/stop_signals.h"

namespace augur {

Result<RunSample> SampleRun(const std::string& mountpoint) {
  AUGUR_TRY_ASSIGN(numbers, AskMount(mountpoint, {{"command", "status"}, {"format", "json"}}));
  Result<StatisticsReading> reading = ParseStatistics(numbers.body);
  if (!reading.ok()) return reading.status().In(Printable(mountpoint));
  RunSample sample;
  sample.reading = std::move(reading).value();
  sample.time_us = SteadyNowUs();
  if (const Result<ControlAnswer> jobs = AskMount(mountpoint, {{"command", "jobs"}}); jobs.ok()) {
    sample.jobs = ParseOrders(jobs->body);
    sample.predicts = jobs->header.value("predicts", nlohmann::json(true)) == true;
  }
  std::vector<uint32_t> scripts;
  for (const OrderReport& job : sample.jobs) {
    if (job.script != 0) scripts.push_back(job.script);
  }
  const Result<uint64_t> daemon = ParseCount(sample.reading.Fact("process"));
  sample.processors = ReadProcessorUse(daemon.ok() ? static_cast<uint32_t>(*daemon) : 0, scripts);
  return sample;
}

bool WaitUnlessStopped(std::chrono::seconds time) {
  constexpr std::chrono::milliseconds kLookEvery(50);
  const auto end = std::chrono::steady_clock::now() + time;
  while (!StopSignals::Caught() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_until(std::min(end, std::chrono::steady_clock::now() + kLookEvery));
  }
  return !StopSignals::Caught();
}

}  // namespace augur
