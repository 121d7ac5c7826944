// SPDX-License-Identifier: Apache-2.0
// stream_probe: what EpochWatch says of real processes. Standard input has a line for each read, "THREAD FILE TIME_US",
// and "sync PATH", which is answered by a line "ok" to that file when all before it was seen. At the end, for each pass
// of each job, as it was known when the next one began or at the end, a line "JOB PASS SET EPOCH NEW_PROCESSES", and
// for each of its streams a line " PID SCRIPT_PID RANK WORLD_SIZE FILE FILE ...".

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "order/epochs.h"
#include "order/proc_source.h"
#include "order/process_table.h"

int main() {
  augur::ProcSource source;
  augur::ProcessTable table(&source);
  augur::EpochWatch watch(&table);
  std::map<std::pair<augur::JobId, uint32_t>, augur::EpochStart> passes;
  const auto keep = [&] {
    for (const augur::JobId job : watch.Jobs()) {
      const auto running = watch.Running(job);
      for (uint32_t pass = running->pass < 4 ? 0 : running->pass - 3; pass <= running->pass; pass++) {
        if (const auto epoch = watch.Pass(job, pass)) passes.insert_or_assign({job, pass}, *epoch);
      }
    }
  };
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.starts_with("sync ")) {
      keep();
      std::ofstream(line.substr(5)) << "ok\n";
      continue;
    }
    augur::Sighting sighting{.read = true};
    if (std::istringstream(line) >> sighting.reader >> sighting.file >> sighting.time_us) watch.See(sighting);
    watch.TakeEvents();
  }
  for (const auto& [key, epoch] : passes) {
    std::cout << epoch.job << ' ' << epoch.pass << ' ' << epoch.set << ' ' << epoch.epoch << ' ' << epoch.new_processes
              << '\n';
    for (const augur::EpochStream& stream : epoch.streams) {
      std::cout << ' ' << stream.pid << ' ' << stream.script_pid << ' ' << stream.launch.rank << ' '
                << stream.launch.world_size;
      for (const augur::FirstRead& read : stream.reads) std::cout << ' ' << read.file;
      std::cout << '\n';
    }
  }
  return 0;
}
