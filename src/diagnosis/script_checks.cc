// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/script_checks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/excerpt.h"
#include "diagnosis/finding_text.h"
#include "diagnosis/run_checks.h"

namespace augur {
namespace {

using Weight = Finding::Weight;

// A reader that uses this much of a processor has little time for anything else.
constexpr double kBusyReader = 0.7;
constexpr double kBusyMachine = 0.9;
// Of one processor: with less no further worker can do much. Not a whole one, which a machine of two never has while
// the script uses one and the daemon some of the other.
constexpr double kIdleMin = 0.5;
// Decoding and resizing a photograph of 110 KB by Pillow takes 4.6 ms of a processor (the quickstart's 270
// photographs/s against 724 arrays/s, on two processors): 42 ns a byte.
constexpr double kDecodeSecondsAByte = 42e-9;
constexpr uint64_t kImagesToMeasure = 8;
// Of a file's processor time, decoding is at most this part: in the same figures, 67 % was gone with ready arrays. A
// script has to take even decoded pixels apart.
constexpr double kDecodePartMax = 0.65;

double ReaderShare(const RunWindow& window) {
  return window.readers() > 0 ? window.readers_processors() / window.readers() : 0;
}

// Of one image, and where the number comes from.
struct DecodeCost {
  double seconds = 0;
  std::string source;
};

DecodeCost CostOfDecoding(const RunWindow& window) {
  const HistogramCounts& decoded = window.after().reading.numbers[Histogram::kDecodeTimeUs];
  if (decoded.total() >= kImagesToMeasure) {
    return {.seconds = static_cast<double>(decoded.sum) / 1e6 / static_cast<double>(decoded.total()),
            .source = "measured at " + FormatCount(decoded.total()) + " images that this mount has decoded"};
  }
  const double bytes = static_cast<double>(window.Now(Gauge::kStoreBytes)) /
                       static_cast<double>(std::max<uint64_t>(window.Now(Gauge::kStoreFiles), 1));
  return {.seconds = bytes * kDecodeSecondsAByte, .source = "estimated from the mean size of a file"};
}

bool ReadsImages(const RunWindow& window) {
  return window.Now(Gauge::kStoreImages) * 2 > window.Now(Gauge::kStoreFiles) && window.Fact("view").empty() &&
         window.Delta(Stat::kImagesDecoded) + window.Delta(Stat::kRenderedHits) + window.Delta(Stat::kDecodedHits) == 0;
}

void CheckDecodingInScript(const RunWindow& window, std::vector<Finding>& findings) {
  if (window.files() == 0 || window.readers() == 0 || !ReadsImages(window)) return;
  const double per_file = window.readers_processors() * window.seconds() / static_cast<double>(window.files());
  const DecodeCost cost = CostOfDecoding(window);
  // A script that takes less than half of that for a file does not decode it.
  if (cost.seconds <= 0 || per_file < cost.seconds / 2) return;
  const double decoding = std::min(cost.seconds, kDecodePartMax * per_file);
  findings.push_back(
      {.weight = Weight::kProblem,
       .name = "decodes-in-script",
       .text = "The script decodes the images itself. It uses " + TimeText(per_file) +
               " of a processor for each file; decoding is about " + TimeText(decoding) + " of that (" + cost.source +
               ").",
       .cure = "Mount with -o view=pixels+size=256,decoded-cache=DIR: the script reads the same names, and images come "
               "decoded. From the second epoch on, the same processors would read up to " +
               FixedText(per_file / (per_file - decoding)) +
               " times as many files. Choose the size for your crop: VIEWS.md."});
}

void CheckWorkers(const RunWindow& window, const MachineFacts& machine, std::vector<Finding>& findings) {
  const double idle = (1 - window.machine_busy()) * machine.cores;
  if (window.readers() == 0 || window.machine_busy() < 0 || ReaderShare(window) < kBusyReader || idle < kIdleMin) {
    return;
  }
  const double usable = std::min<double>(machine.cores, window.readers() + idle);
  const bool itself = window.after().processors.workers.empty();
  const uint64_t workers = std::max<uint64_t>(window.readers() + 1, static_cast<uint64_t>(std::lround(usable)));
  const bool one = window.readers() == 1;
  findings.push_back(
      {.weight = Weight::kProblem,
       .name = "few-workers",
       .text = (itself ? std::string("The script loads its data in its own process")
                       : "The script has " + FormatCount(window.readers()) + (one ? " worker" : " workers")) +
               (one ? ". It uses " : ". They use ") + FixedText(window.readers_processors()) + " processors, and " +
               FixedText(idle) + " of " + FormatCount(machine.cores) + " are idle.",
       .cure = "Give the loader num_workers=" + FormatCount(workers) + ": it could read up to " +
               FixedText(usable / window.readers()) + " times as many files."});
}

void CheckProcessors(const RunWindow& window, const MachineFacts& machine, std::vector<Finding>& findings) {
  if (window.machine_busy() < kBusyMachine) return;
  const double others = window.other_processors();
  const std::string text = "All " + FormatCount(machine.cores) + " processors are busy (" +
                           PercentText(window.machine_busy()) + "): the readers use " +
                           FixedText(window.readers_processors()) + ", AugurFS " +
                           FixedText(window.daemon_processors()) + ", other programs " + FixedText(others) + ".";
  if (others > window.readers_processors() + window.daemon_processors()) {
    findings.push_back({.weight = Weight::kProblem,
                        .name = "other-programs",
                        .text = text,
                        .cure = "'top' shows these programs. End them, or give the run processors of its own: a batch "
                                "system, a control group, taskset."});
    return;
  }
  findings.push_back({.weight = Weight::kProblem,
                      .name = "processors",
                      .text = text,
                      .cure = "More workers gain nothing. Have less to compute for each file: decoded images (-o "
                              "view=pixels+size=256,decoded-cache=DIR), cheaper augmentations, or more processors."});
}

}  // namespace

std::vector<Finding> CheckScript(const RunWindow& window, const MachineFacts& machine) {
  std::vector<Finding> findings;
  if (window.wait_share() >= kWaitShareMin) return findings;
  CheckDecodingInScript(window, findings);
  CheckWorkers(window, machine, findings);
  CheckProcessors(window, machine, findings);
  if (!findings.empty() || window.readers() == 0) return findings;
  findings.push_back({.weight = Weight::kProblem,
                      .name = "script-waits",
                      .text = "The readers use " + PercentText(ReaderShare(window)) +
                              " of a processor each, and hardly wait for the mount: the script waits for something "
                              "else, mostly for the GPU or for its own training step.",
                      .cure = "Faster data would gain nothing here. Look at the training step."});
  return findings;
}

}  // namespace augur
