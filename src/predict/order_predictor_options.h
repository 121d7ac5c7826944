// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/lasting_orders.h"
#include "datasets/sample_lists.h"
#include "readers/proc_source.h"
#include "samplers/known_samplers.h"

namespace augur {

// Memory that lists of `files` files take at most. Measured with a million files: 200 bytes a file. Of it 8 are the
// list, 12 each of three epochs' orders, 64 the recorded orders, and the rest is in use only while an order is made.
// Epochs that are twice as long as the list, which samplers with weights may draw, take 40 more. Beside it there are
// the generators of known samplers.
constexpr uint64_t kPredictionBytesAFile = 240;
constexpr uint64_t PredictionBytes(uint64_t files) { return (uint64_t{6} << 20) + kPredictionBytesAFile * files; }
// The other way round.
constexpr uint64_t PredictionFiles(uint64_t bytes) {
  return (bytes - std::min(bytes, PredictionBytes(0))) / kPredictionBytesAFile;
}

// Core-seconds of idle cores that the searches of one run may take without success. When one of them has found a seed,
// the run may take as many again: the next epoch of an unseeded script has another seed. A search of all 2^32 seeds
// takes 30 to 90 core-seconds, and the cheaper stages beside it up to 30 in the first epoch. So 3 * 90 + 30 are three
// of the slowest searches, or nine of the fastest; a processor with vectors of 128 bits only (220 to 270) has one. Two
// idle cores spend them in two and a half minutes.
constexpr double kSearchCoreSecondsMax = 300;

struct OrderPredictorOptions {
  uint64_t memory_bytes = uint64_t{4} << 30;  // for all of it; longer lists than it has room for are not worked with
  unsigned search_threads = 0;                // of the idle class; 0: one a core
  double search_core_seconds_max = kSearchCoreSecondsMax;  // of one run
  SampleLists::OtherLists archive_lists = {};              // as of SampleLists; empty: there are none
  LastingOrders* lasting = nullptr;                        // as of OrderHandover; outlives the prediction
  std::string replay_folder;                               // where orders that were seen are kept; empty: nowhere
  // Accesses that wait for the OrderPredictor's thread: half a second of 65,000 a second. They take 0.8 MB, and those
  // that are taken in meanwhile as much again.
  size_t accesses_max = 32'768;

  // Made-up ones in tests. Processes are asked about on the OrderPredictor's thread, the clock on any.
  std::function<double()> fetched_files = {};                        // for DataHeat; empty: by the statistics
  bool search_idle_class = true;                                     // false: where no core is ever idle
  ProcessSource* processes = nullptr;                                // nullptr: /proc
  std::function<uint64_t()> clock_us = {};                           // empty: CLOCK_BOOTTIME
  std::function<double()> thread_seconds = {};                       // empty: processor time of the calling thread
  std::shared_ptr<const std::vector<KnownSampler>> known = nullptr;  // nullptr: all that are known
};

}  // namespace augur
