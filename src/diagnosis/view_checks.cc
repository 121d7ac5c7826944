// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/view_checks.h"

#include <algorithm>
#include <string>

#include "base/excerpt.h"
#include "base/units.h"
#include "diagnosis/finding_text.h"
#include "diagnosis/run_checks.h"

namespace augur {
namespace {

using Weight = Finding::Weight;

// Some images are decoded twice before they are kept.
constexpr double kAnew = 1.2;
constexpr double kFull = 0.95;
constexpr double kMostProcessors = 0.5;

}  // namespace

std::vector<Finding> CheckView(const RunWindow& window, const MachineFacts& machine) {
  std::vector<Finding> findings;
  const uint64_t decoded_now = window.Delta(Stat::kImagesDecoded);
  if (decoded_now == 0) return findings;
  const bool waits = window.wait_share() >= kWaitShareMin;
  const uint64_t images = std::max<uint64_t>(window.Now(Gauge::kStoreImages), 1);
  const uint64_t decoded = window.Total(Stat::kImagesDecoded);
  const double times = static_cast<double>(decoded) / static_cast<double>(images);
  const double processors = static_cast<double>(window.Delta(Histogram::kDecodeTimeUs).sum) / 1e6 / window.seconds();
  const double bytes = static_cast<double>(window.Total(Stat::kRenderedBytes)) /
                       static_cast<double>(std::max<uint64_t>(decoded, 1)) * static_cast<double>(images);
  const uint64_t room = window.Now(Gauge::kDecodedCacheBytesMax);
  if (times > kAnew && room == 0) {
    findings.push_back({.weight = waits ? Weight::kProblem : Weight::kAdvice,
                        .name = "decoded-anew",
                        .text = "Images are decoded again in each epoch: " + FormatCount(decoded) +
                                " times so far, and the store has " + FormatCount(images) + ". This takes " +
                                FixedText(processors) + " of " + FormatCount(machine.cores) + " processors.",
                        .cure = "-o decoded-cache=DIR keeps the decoded images on a local disk. They take about " +
                                FormatSize(static_cast<uint64_t>(bytes)) + " there."});
  }
  if (room > 0 && static_cast<double>(window.Now(Gauge::kDecodedCacheBytes)) > kFull * static_cast<double>(room)) {
    findings.push_back({.weight = Weight::kAdvice,
                        .name = "decoded-cache-full",
                        .text = "The decoded cache is full (" + FormatSize(room) + "), and images are still decoded.",
                        .cure = "Raise -o decoded-cache-size= to about " + SizeOption(static_cast<uint64_t>(bytes)) +
                                ", or use a smaller size= in the view."});
  }
  if (waits && processors > kMostProcessors * machine.cores) {
    findings.push_back({.weight = Weight::kProblem,
                        .name = "decoding",
                        .text = "Readers wait for the decoders, which use " + FixedText(processors) + " of " +
                                FormatCount(machine.cores) + " processors for " +
                                RateText(static_cast<double>(decoded_now) / window.seconds()) + " images/s.",
                        .cure = "Keep decoded images (-o decoded-cache=DIR), or decode once and for all: augurpack "
                                "create --decode npy+size=256+crop=224."});
  }
  return findings;
}

}  // namespace augur
