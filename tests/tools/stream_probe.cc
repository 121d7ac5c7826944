// SPDX-License-Identifier: Apache-2.0
// stream_probe: what EpochWatch says of real processes. Standard input has a line for each read, "THREAD FILE TIME_US",
// and "sync PATH", which is answered by a line "ok" to that file when all before it was seen. At the end, for each pass
// of each job, as it was known when the next one began or at the end, a line "JOB PASS SET EPOCH NEW_PROCESSES", and
// for each of its streams a line " PID SCRIPT_PID RANK WORLD_SIZE FILE FILE ...".

#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "readers/epochs.h"
#include "readers/proc_source.h"
#include "readers/process_table.h"

namespace augur {
namespace {

using Passes = std::map<std::pair<JobId, uint32_t>, EpochStart>;

// The running pass of the job and those before it that are still there, as they are now.
void Keep(const EpochWatch& watch, JobId job, Passes& passes) {
  const std::optional<EpochStart> running = watch.Running(job);
  if (!running) return;
  for (uint32_t pass = running->pass < 4 ? 0 : running->pass - 3; pass <= running->pass; pass++) {
    const std::optional<EpochStart> epoch = watch.Pass(job, pass);
    if (epoch) passes.insert_or_assign({job, pass}, *epoch);
  }
}

Passes WatchInput(std::istream& in) {
  ProcSource source;
  ProcessTable table(&source);
  EpochWatch watch(&table);
  Passes passes;
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with("sync ")) {
      for (const JobId job : watch.Jobs()) Keep(watch, job, passes);
      std::ofstream(line.substr(5)) << "ok\n";
      continue;
    }
    Access access{.read = true};
    if (std::istringstream(line) >> access.reader >> access.file >> access.time_us) watch.OnAccess(access);
    watch.TakeEvents();
  }
  return passes;
}

void Print(const EpochStart& epoch) {
  std::cout << epoch.job << ' ' << epoch.pass << ' ' << epoch.dataset << ' ' << epoch.epoch << ' '
            << epoch.new_processes << '\n';
  for (const EpochStream& stream : epoch.streams) {
    std::cout << ' ' << stream.pid << ' ' << stream.script_pid << ' ' << stream.launch.rank << ' '
              << stream.launch.world_size;
    for (const FirstRead& read : stream.reads) std::cout << ' ' << read.file;
    std::cout << '\n';
  }
}

}  // namespace
}  // namespace augur

int main() {
  for (const auto& [key, epoch] : augur::WatchInput(std::cin)) augur::Print(epoch);
  return 0;
}
